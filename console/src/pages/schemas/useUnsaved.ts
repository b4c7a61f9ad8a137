import { useBlocker } from "@tanstack/react-router";
import { useRef } from "react";

interface Document {
  schema?: string;
  method?: string;
}

/** Asks before another document or page replaces changes that are not stored. Returns a function that lets the next step pass. */
export function useUnsaved(isChanged: boolean): () => void {
  const isStored = useRef(false);
  useBlocker({
    enableBeforeUnload: isChanged,
    shouldBlockFn: ({ current, next }) => {
      const [before, after] = [current.search as Document, next.search as Document];
      const isSame = current.pathname === next.pathname && before.schema === after.schema && before.method === after.method;
      return isChanged && !isStored.current && !isSame && !window.confirm("Your changes are not stored. Leave them?");
    },
  });
  return () => {
    isStored.current = true;
  };
}
