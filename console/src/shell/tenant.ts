import { useSearch } from "@tanstack/react-router";

/** The tenant to which an operator limited the pages; undefined: all. */
export function useTenant(): string | undefined {
  return useSearch({ strict: false, select: (search) => (search as { tenant?: string }).tenant });
}
