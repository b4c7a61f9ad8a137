import type { ReactNode } from "react";

interface SearchFormProps {
  /** The places of the fields; default: in a line. */
  className?: string;
  onSearch: () => void;
  children: ReactNode;
}

/** Fields and a button that submits them: what a page shows follows from them. */
export function SearchForm({ className = "flex flex-wrap items-end gap-3", onSearch, children }: SearchFormProps) {
  return (
    <form
      role="search"
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch();
      }}
    >
      {children}
    </form>
  );
}
