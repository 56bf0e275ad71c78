/** The server as a library: `createHandler` for any place that speaks Request and Response, `listen` for a socket of Node.js. */
export { type Handler, type HandlerOptions, createHandler } from "./handler.ts";
export { type ListenOptions, type Listening, listen } from "./node.ts";
export type { ApiKey, Role, ServerSettings } from "./server-settings.ts";
export type { StoredNames } from "./model-names.ts";
export type { CallRecord, Caller, ModelCall, Served, Service, ServiceOptions } from "./service.ts";
