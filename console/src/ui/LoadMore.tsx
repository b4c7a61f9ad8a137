import type { UseInfiniteQueryResult } from "@tanstack/react-query";

import { Button } from "./Button";

/** A button for the next page of a list, while there is one. */
export function LoadMore({ query, className = "border-t p-3" }: { query: UseInfiniteQueryResult; className?: string }) {
  if (!query.hasNextPage) return null;
  return (
    <div className={`${className} text-center`}>
      <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Load more
      </Button>
    </div>
  );
}
