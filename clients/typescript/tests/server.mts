/** A real HTTP server whose answers a test chooses. */

import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the server received. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** An answer. Without a status: 200. A body that is no string is sent as JSON. "hang": no answer. "drop": the connection ends without one. */
export type Answer = { status?: number; headers?: Record<string, string>; body?: unknown } | "hang" | "drop";

/** Runs a test against a server, and returns the requests that it received. Port 0: a free one. */
export async function served(answer: (request: Received) => Answer, use: (url: string) => Promise<void>, port = 0): Promise<Received[]> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const parsed = text === "" ? undefined : (JSON.parse(text) as unknown);
      const each = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body: parsed };
      received.push(each);
      const given = answer(each);
      if (given === "hang") return;
      if (given === "drop") {
        request.socket.destroy();
        return;
      }
      response.writeHead(given.status ?? 200, { "Content-Type": "application/json", ...given.headers });
      response.end(typeof given.body === "string" ? given.body : JSON.stringify(given.body ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return received;
}
