import { Button } from "@/ui/Button";
import { Code } from "@/ui/Code";
import { Dialog } from "@/ui/Dialog";

/** Shows a new key, once. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title="The new key" onClose={onClose}>
      <div className="space-y-4">
        <p className="text-sm">Copy it now: only its hash is stored, and it is not shown again.</p>
        <p className="rounded-md bg-raised p-3">
          <Code text={secret} />
        </p>
        <div className="flex justify-end">
          <Button tone="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
