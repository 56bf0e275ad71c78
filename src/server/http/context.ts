/** What routes share: who asks, how an answer says where it ran, and how errors look in each protocol. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { HTTPException } from "hono/http-exception";
import { type ErrorCode, InferyardError, errorKinds } from "../../errors.ts";
import type { ResponseReservation } from "../serving/response-memory.ts";
import type { Priority } from "../../runtime/scheduling/scheduling-key.ts";
import { abortedIfDisconnected } from "./client-disconnect.ts";
import type { Role } from "../server-settings.ts";
import type { LoadProgress } from "../serving/load-progress.ts";
import type { RequestBody } from "./bodies/request-body.ts";
import { requestLimits } from "./request-limits.ts";
import { scrub } from "./scrub.ts";
import { ellipsize } from "./ellipsize.ts";
import { type LoadProgressBody, loadProgressBody } from "../protocols/load-progress-body.ts";
import type { CallResult, CallRecord, Caller, ModelCallResult } from "../serving/service.ts";

/** What the outermost layer finds out about each request, for the routes. */
export interface Env {
  readonly Bindings: {
    /** The other end of the socket; undefined where there is none. */
    readonly remoteAddress?: string;
    /** What the server listens on; undefined where there is no socket. */
    readonly listenAddress?: string;
    /** "1.1"; undefined where it is not known. */
    readonly httpVersion?: string;
    /** What the request is told in place of an answer. */
    readonly refusal?: InferyardError;
  };
  readonly Variables: {
    readonly requestId: string;
    readonly client: string;
    readonly role: Role;
    /** Whether any reference may be named. */
    readonly anyReference: boolean;
    /** Of a request whose method has one. */
    readonly body: RequestBody;
    /** Memory for the answer, returned when the answer is made. */
    readonly answerMemory?: ResponseReservation;
    /** What the service last did for this request. */
    readonly call?: CallRecord;
  };
}

/** The routes of one protocol. */
export type Routes = OpenAPIHono<Env>;

export function callerOf(context: Context<Env>): Caller {
  const priority: Priority = context.req.header("x-inferyard-priority") === "high" ? "high" : "normal";
  return {
    client: context.get("client"),
    role: context.get("role"),
    anyReference: context.get("anyReference"),
    priority,
    signal: context.req.raw.signal,
    target: context.req.header("x-inferyard-target"),
    responseMemory: context.get("answerMemory"),
    onCall: (record) => context.set("call", record),
  };
}

/** Headers of an answer: where it ran and why, where a model ran, how long what took, and whether another call's work gave it. */
export function servedHeaders({
  target,
  decision,
  queueMs,
  inferenceMs,
  reuse,
}: Omit<CallResult<unknown> & Partial<ModelCallResult<unknown>>, "result">): Record<string, string> {
  const times = `queue;dur=${queueMs.toFixed(1)}, inference;dur=${inferenceMs.toFixed(1)}`;
  return {
    ...(target === undefined ? {} : { "x-inferyard-target": target }),
    ...(decision === undefined ? {} : { "x-inferyard-decision": decision }),
    "server-timing": reuse === undefined ? times : `${times}, ${reuse}`,
  };
}

/** What an error is to a client: nothing of the machine is in it, neither a stack nor a path that the client did not write. */
export interface PublicError {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy?: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** Of MODEL_LOADING: how far the load is. */
  readonly loading?: LoadProgressBody;
  readonly headers: Record<string, string>;
}

export function publicError(thrown: unknown): PublicError {
  const { code, message, remedy, retryable, retryAfterMs, data } = toInferyardError(thrown);
  const progress = code === "MODEL_LOADING" ? (data["loading"] as LoadProgress | undefined) : undefined;
  const retryAfter = retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  return {
    status: errorKinds[code].httpStatus,
    code,
    message: bounded(message, requestLimits.messageCharacters),
    ...(remedy === undefined ? {} : { remedy: bounded(remedy, requestLimits.remedyCharacters) }),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(progress === undefined ? {} : { loading: loadProgressBody(progress) }),
    headers: { ...retryAfter, ...(code === "UNAUTHORIZED" ? { "www-authenticate": "Bearer" } : {}) },
  };
}

/** The answer of a failure, made by the framework, so that it carries what every answer does. */
export function errorResponse(
  context: Context<Env>,
  body: object,
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
): Response {
  return context.json(body, status as ContentfulStatusCode, headers);
}

/** Words may quote the request, which may be long; only their beginning is read. */
function bounded(words: string, characters: number): string {
  return ellipsize(scrub(words.slice(0, 16 * characters)), characters);
}

function toInferyardError(caught: unknown): InferyardError {
  const thrown = abortedIfDisconnected(caught);
  if (thrown instanceof InferyardError) return thrown;
  if (thrown instanceof HTTPException && thrown.status === 415) {
    return new InferyardError("MEDIA_TYPE_UNSUPPORTED", "the content-type is not one that this route reads", {
      remedy: "send content-type: application/json",
    });
  }
  // Hono's own refusals: a body that is no JSON.
  if (thrown instanceof HTTPException && thrown.status < 500) return new InferyardError("INPUT_INVALID", thrown.message);
  // A defect: its words are for the log alone.
  return new InferyardError("CONTRACT_VIOLATION", "the server failed; its log says how");
}
