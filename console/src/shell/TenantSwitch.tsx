import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { tenantsQuery } from "@/api/admin";
import { useTenant } from "@/shell/tenant";
import { SelectField, TextField } from "@/ui/Field";
import { useSettled } from "@/ui/useSettled";

const WIDTH = "w-34 sm:w-40 lg:w-56";

/** Limits an operator's pages to one tenant. The choice is in the address. */
export function TenantSwitch() {
  const tenants = useInfiniteQuery(tenantsQuery());
  const tenant = useTenant();
  const navigate = useNavigate();
  const choose = (chosen: string) => void navigate({ to: ".", search: (before: object) => ({ ...before, tenant: chosen || undefined }) });
  const first = tenants.data?.pages[0];
  // A list to choose from as long as the first page has all tenants.
  if (first?.next != null) return <TenantSearch tenant={tenant ?? ""} onChoose={choose} />;
  const ids = first?.tenants.map((each) => each.id) ?? [];
  const options = [...new Set(tenant ? [tenant, ...ids] : ids)].sort();
  return (
    <SelectField
      label="Tenant"
      hideLabel
      className={WIDTH}
      value={tenant ?? ""}
      options={[{ value: "", label: "All tenants" }, ...options.map((id) => ({ value: id, label: id }))]}
      onChange={(event) => choose(event.target.value)}
    />
  );
}

const SUGGESTIONS = "tenant-suggestions";

/** Suggests the tenants whose id contains the text. A suggestion and Enter choose one; the empty text stands for all. */
function TenantSearch({ tenant, onChoose }: { tenant: string; onChoose: (tenant: string) => void }) {
  const [text, setText] = useState(tenant);
  const [before, setBefore] = useState(tenant);
  if (before !== tenant) {
    setBefore(tenant);
    setText(tenant);
  }
  const found = useInfiniteQuery(tenantsQuery(useSettled(text.trim())));
  const ids = found.data?.pages[0]?.tenants.map((each) => each.id) ?? [];
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onChoose(text.trim());
      }}
    >
      <TextField
        label="Tenant"
        hideLabel
        type="search"
        className={WIDTH}
        placeholder="All tenants"
        autoComplete="off"
        list={SUGGESTIONS}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          // A chosen suggestion, and the cross that empties the field, are no typing.
          const kind = (event.nativeEvent as Partial<InputEvent>).inputType ?? "";
          if (kind === "" || kind === "insertReplacementText") onChoose(event.target.value);
        }}
      />
      <datalist id={SUGGESTIONS}>
        {ids.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </form>
  );
}
