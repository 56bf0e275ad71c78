/** The server as a library: `createHandler` for any place that speaks Request and Response, `listen` for a socket of Node.js. */
export { type Handler, type HandlerOptions, createHandler } from "./handler.ts";
export { type ListenOptions, type Listening, listen } from "./listen.ts";
export type { ApiKey, ModelLimits, Role, ServedModel, ServerSettings } from "./server-settings.ts";
export { RuntimeEvents } from "./observability/runtime-events.ts";
export type { StoredNames } from "./serving/model-names.ts";
export type {
  CallResult,
  CallRecord,
  Caller,
  ModelCall,
  Reuse,
  ModelCallResult,
  Service,
  ServiceOptions,
  StoredTime,
} from "./serving/service.ts";
