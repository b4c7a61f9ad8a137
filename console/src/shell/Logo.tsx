export function Logo() {
  return (
    <span className="flex items-center gap-2 text-sm font-semibold tracking-tight">
      <svg viewBox="0 0 24 24" aria-hidden className="size-5 text-accent" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round">
        <path d="M3 7c3.3-2.4 5.7 1.6 9 0s5.7-1.6 9 0M3 12.5c3.3-2.4 5.7 1.6 9 0s5.7-1.6 9 0M3 18c3.3-2.4 5.7 1.6 9 0s5.7-1.6 9 0" />
      </svg>
      Varve
    </span>
  );
}
