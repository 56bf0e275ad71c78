/** The package entry `inferyard/server`: `createHandler` for any environment with Request and Response, `listen` for a socket of Node.js. */
export { type Handler, type HandlerOptions, createHandler } from "./handler.ts";
export { type RunningServer, type ServerContext, createServer } from "./create-server.ts";
export { type ListenOptions, type Listening, listen } from "./listen.ts";
export type { ApiKey, ModelLimits, Role, ServedModel, ServerSettings } from "./server-settings.ts";
export { RuntimeEvents } from "./observability/runtime-events.ts";
export type { StoredNames } from "./serving/model-names.ts";
export type { CallRecord } from "./serving/call-record.ts";
export type { CallResult, Caller, ModelCall, ModelCallResult } from "./serving/calls.ts";
export type { Reuse } from "./serving/call-record.ts";
export type { Service, ServiceOptions, StoredTime } from "./serving/service.ts";
