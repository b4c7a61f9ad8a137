import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface Props {
  id: string;
  className?: string;
  /** Default: the id. */
  children?: ReactNode;
  onClick?: () => void;
}

/** Opens a memory over the page that is shown, so that the reader keeps the place. */
export function MemoryLink({ id, className = "hover:text-accent hover:underline", children, onClick }: Props) {
  return (
    <Link to="." search={(before: object) => ({ ...before, memory: id })} className={children === undefined ? ID : className} onClick={onClick}>
      {children ?? id}
    </Link>
  );
}

const ID = "font-mono text-xs break-all text-accent underline";
