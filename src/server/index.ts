/** The server as a library: `createHandler` for any place that speaks Request and Response, `listen` for a socket of Node.js. */
export { type Handler, type HandlerOptions, createHandler } from "./handler.ts";
export { type ListenOptions, type Listening, listen } from "./node.ts";
export type { ApiKey, ModelLimits, Role, ServedModel, ServerSettings } from "./server-settings.ts";
export { RuntimeEvents } from "./observation/runtime-events.ts";
export type { StoredNames } from "./model-names.ts";
export type { Answered, CallRecord, Caller, ModelCall, Reuse, Served, Service, ServiceOptions, StoredTime } from "./service.ts";
