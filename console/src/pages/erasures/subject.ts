/** Whether this page can compute digests: browsers offer it with HTTPS and on the machine itself only. */
export const canDigest = (): boolean => window.isSecureContext;

/** A part of a key as the service encodes it: everything but letters, digits and `-._~`. */
const encoded = (part: string) => encodeURIComponent(part).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** The digest that names a user in receipts. */
export async function subjectOf(tenant: string, user: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${encoded(tenant)}/${encoded(user)}`));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
