import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "varve-console-theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function stored(): Theme {
  const value = window.localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

/** Sets the theme attribute of the page from the stored choice, or from the system. */
export function applyTheme(): void {
  const choice = stored();
  const isDark = choice === "dark" || (choice === "system" && dark.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") window.localStorage.removeItem(KEY);
  else window.localStorage.setItem(KEY, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, stored);
}

dark.addEventListener("change", applyTheme);
