import { useEffect, useState } from "react";

const QUIET_MS = 400;

/** A value once it has stayed the same for a moment. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), QUIET_MS);
    return () => window.clearTimeout(timer);
  }, [value]);
  return settled;
}
