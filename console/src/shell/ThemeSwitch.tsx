import { Monitor, Moon, Sun } from "lucide-react";

import { setTheme, useTheme, type Theme } from "@/theme";
import { cx } from "@/ui/classes";

const CHOICES: { theme: Theme; label: string; icon: typeof Sun }[] = [
  { theme: "light", label: "Light", icon: Sun },
  { theme: "system", label: "As the system", icon: Monitor },
  { theme: "dark", label: "Dark", icon: Moon },
];

export function ThemeSwitch() {
  const current = useTheme();
  return (
    <div role="group" aria-label="Colours" className="inline-flex rounded-md border">
      {CHOICES.map(({ theme, label, icon: Icon }) => (
        <button
          key={theme}
          type="button"
          aria-label={label}
          aria-pressed={current === theme}
          title={label}
          onClick={() => setTheme(theme)}
          className={cx("p-1.5 first:rounded-l-md last:rounded-r-md", current === theme ? "bg-raised text-ink" : "text-muted hover:text-ink")}
        >
          <Icon aria-hidden className="size-4" />
        </button>
      ))}
    </div>
  );
}
