/** The context of a request in the HTTP framework. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../contract/checked.ts";
import type { InferyardError } from "../../contract/errors.ts";
import type { ResponseReservation } from "../serving/response-memory.ts";
import type { Priority } from "../../runtime/scheduling/scheduling-key.ts";
import type { Role } from "../server-settings.ts";
import type { Identity } from "./access/identity.ts";
import type { RequestBody } from "./bodies/request-body.ts";
import type { IgnoredFields } from "./fields/ignored-fields.ts";
import type { CallRecord } from "../serving/call-record.ts";
import type { CallResult, Caller, ModelCallResult } from "../serving/calls.ts";

/** Variables that the middleware sets for the routes. */
export interface Env {
  readonly Bindings: {
    /** Address of the client's end of the socket; undefined where there is no socket. */
    readonly remoteAddress?: string;
    /** Address the server listens on; undefined where there is no socket. */
    readonly listenAddress?: string;
    /** "1.0" or "1.1"; undefined if unknown. */
    readonly httpVersion?: string;
    /** If set, the request is refused with this error. */
    readonly refusal?: InferyardError;
    /** Closes the connection when the response is written, without reading the rest of the request. Undefined where there is no socket. */
    readonly closeAfterResponse?: (() => void) | undefined;
    /** The client for which this program makes the request itself, as of a batch; its key and rate were checked when the batch was made. */
    readonly identity?: Identity;
  };
  readonly Variables: {
    readonly requestId: string;
    /** Identifies the client: the name of its key, else its address. */
    readonly client: string;
    readonly role: Role;
    /** Whether requests may name any reference as a model, and not only the models that have a name on this server. */
    readonly anyReference: boolean;
    /** Whether fields that the schema of a request does not know make it invalid; else they are left out and named. */
    readonly strictFields: boolean;
    /** Fields of the request that were taken without effect. */
    readonly ignoredFields: IgnoredFields;
    /** Body of the request, for methods that have one. */
    readonly body: RequestBody;
    /** Memory for the response, released when its body is complete. */
    readonly responseMemory?: ResponseReservation;
    /** Record of the last call that the service ran for this request. */
    readonly call?: CallRecord;
    /**
     * For a streaming response: settles when the response has ended, and rejects with the error that ended it early. Undefined for other responses.
     */
    readonly streaming?: Promise<unknown>;
  };
}

/** A router with the routes of one protocol. */
export type Routes = OpenAPIHono<Env>;

/** Who makes the request, for the service. */
export function getCaller(context: Context<Env>): Caller {
  const priority: Priority = context.req.header("x-inferyard-priority") === "high" ? "high" : "normal";
  return {
    client: context.get("client"),
    role: context.get("role"),
    anyReference: context.get("anyReference"),
    priority,
    signal: context.req.raw.signal,
    target: context.req.header("x-inferyard-target"),
    responseMemory: context.get("responseMemory"),
    onCall: (record) => context.set("call", record),
  };
}

/**
 * Headers of a response to a call: x-inferyard-target and x-inferyard-decision where a model ran, and server-timing with the waiting and running
 * time in milliseconds and where the result came from.
 */
export function resultHeaders({
  target,
  decision,
  queueMs,
  inferenceMs,
  reuse,
}: Omit<CallResult<unknown> & Partial<ModelCallResult<unknown>>, "result">): Record<string, string> {
  const times = `queue;dur=${queueMs.toFixed(1)}, inference;dur=${inferenceMs.toFixed(1)}`;
  return {
    ...placementHeaders({ target, decision }),
    "server-timing": reuse === undefined ? times : `${times}, ${reuse}`,
  };
}

/** The headers x-inferyard-target and x-inferyard-decision; an unknown value is left out. */
export function placementHeaders({
  target,
  decision,
}: {
  readonly target?: string | undefined;
  readonly decision?: string | undefined;
}): Record<string, string> {
  return {
    ...omitUndefined({ "x-inferyard-target": target, "x-inferyard-decision": decision }),
  };
}
