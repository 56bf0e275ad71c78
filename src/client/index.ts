/**
 * The package entry `inferyard/client`: a client of `inferyard serve` for browsers and Node.js, with the types of the server's OpenAPI document.
 */
export { type ApiResponse, type Client, type ClientOptions, createClient } from "./client.ts";
export type { components, paths } from "./generated-openapi.ts";
export type { ResponseDataOf, CallOptions, DefaultMedia, MediaOf, PathOf } from "./operations.ts";
export { type ErrorBody, ServerError } from "./server-error.ts";
export { toVectors } from "./vectors.ts";
