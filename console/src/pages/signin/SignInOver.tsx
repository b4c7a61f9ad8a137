import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef } from "react";

import { checkSession } from "@/api/session";
import { addLayer, useTopLayer } from "@/ui/topLayer";

import { SignInPage } from "./SignInPage";

/** The sign-in page over a page whose session has ended. It covers the page and all of its dialogs, also those that open later. */
export function SignInOver() {
  const client = useQueryClient();
  const element = useRef<HTMLDialogElement>(null);
  const removeLayer = useRef<() => void>(() => undefined);
  const top = useTopLayer();

  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null || top === dialog) return;
    dialog.close();
    dialog.showModal();
    removeLayer.current();
    removeLayer.current = addLayer(dialog);
  }, [top]);

  useLayoutEffect(() => {
    const dialog = element.current;
    return () => {
      removeLayer.current();
      // Before it leaves the page, so that the focus goes back to the field.
      dialog?.close();
    };
  }, []);

  useEffect(() => {
    // Another tab may have signed in again with the same key.
    const look = () => void checkSession(client);
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  }, [client]);

  return (
    <dialog
      ref={element}
      aria-label="Sign in"
      onCancel={(event) => event.preventDefault()}
      onClose={() => {
        // Browsers let a second Escape close every dialog.
        if (element.current?.open === false) element.current.showModal();
      }}
      className="m-0 h-dvh max-h-none w-screen max-w-none overflow-y-auto border-0 bg-page p-0"
    >
      <SignInPage />
    </dialog>
  );
}
