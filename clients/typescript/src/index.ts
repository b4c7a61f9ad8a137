/** TypeScript client for the Varve memory service. */

export { VarveClient } from "./client.js";
export type { ClientOptions, RequestOptions, WriteOptions } from "./client.js";
export { MessagesRefusedError, ServiceProblemError, ServiceUnreachableError, VarveClientError } from "./errors.js";
export type { Refusal } from "./errors.js";
export type * from "./models.js";
