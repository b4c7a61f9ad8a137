import { useId, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes } from "react";

import { cx } from "./classes";

const CONTROL =
  "w-full min-w-0 rounded-md border border-line-strong bg-panel px-2.5 text-sm text-ink placeholder:text-muted disabled:bg-raised aria-invalid:border-bad";

interface Common {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  hideLabel?: boolean;
}

function Labelled({ id, label, hint, error, hideLabel, className, children }: Common & { id: string; className?: string; children: ReactNode }) {
  return (
    <div className={cx("min-w-0", className)}>
      <label htmlFor={id} className={hideLabel ? "sr-only" : "mb-1 block text-xs font-medium text-muted"}>
        {label}
      </label>
      {children}
      {error ? (
        <p id={`${id}-note`} className="mt-1 text-xs text-bad">
          {error}
        </p>
      ) : (
        hint && (
          <p id={`${id}-note`} className="mt-1 text-xs text-muted">
            {hint}
          </p>
        )
      )}
    </div>
  );
}

function described(id: string, { hint, error }: Common): { "aria-describedby"?: string; "aria-invalid"?: true } {
  return { "aria-describedby": hint || error ? `${id}-note` : undefined, "aria-invalid": error ? true : undefined };
}

/** Years have four digits: browsers also take six, which no time of the API has. */
const LAST_DAY = "9999-12-31";

export function TextField({ label, hint, error, hideLabel, className, ...rest }: Common & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const common = { label, hint, error, hideLabel };
  return (
    <Labelled id={id} className={className} {...common}>
      <input id={id} className={cx(CONTROL, "h-9")} max={rest.type === "date" ? LAST_DAY : undefined} {...described(id, common)} {...rest} />
    </Labelled>
  );
}

export function TextArea({ label, hint, error, hideLabel, className, mono, ...rest }: Common & TextareaHTMLAttributes<HTMLTextAreaElement> & { mono?: boolean }) {
  const id = useId();
  const common = { label, hint, error, hideLabel };
  return (
    <Labelled id={id} className={className} {...common}>
      <textarea id={id} className={cx(CONTROL, "py-2", mono && "font-mono text-xs")} {...described(id, common)} {...rest} />
    </Labelled>
  );
}

interface Option {
  value: string;
  label: string;
}

export function SelectField({ label, hint, error, hideLabel, className, options, ...rest }: Common & SelectHTMLAttributes<HTMLSelectElement> & { options: Option[] }) {
  const id = useId();
  const common = { label, hint, error, hideLabel };
  return (
    <Labelled id={id} className={className} {...common}>
      <select id={id} className={cx(CONTROL, "h-9 pr-7")} {...described(id, common)} {...rest}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

export function CheckField({ label, className, ...rest }: { label: string } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className={cx("inline-flex min-h-6 items-center gap-2 text-sm", className)}>
      <input type="checkbox" className="size-4" {...rest} />
      {label}
    </label>
  );
}
