/** Errors as clients see them. */
import { HTTPException } from "hono/http-exception";
import { omitUndefined } from "../../contract/checked.ts";
import { type ErrorCode, InferyardError, errorKinds, invalidInput, spellOptions } from "../../contract/errors.ts";
import { settingNames } from "../../settings/settings.ts";
import type { LoadProgress } from "../serving/load-progress.ts";
import { abortedIfDisconnected } from "./client-disconnect.ts";
import { ellipsize } from "./ellipsize.ts";
import { loadProgressBody } from "./load-progress-body.ts";
import { refusedConstraintBody } from "./refused-constraint-body.ts";
import { requestLimits } from "./request-limits.ts";
import { scrub } from "./scrub.ts";
import { toSnakeCase } from "./snake-case.ts";

/**
 * An error as clients see it, for the body of any protocol. It contains nothing of the machine: no stack, and no path that the client did not
 * write.
 */
export interface PublicError {
  /** HTTP status. */
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy?: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** Progress of the load, for MODEL_LOADING. */
  readonly loading?: object;
  /** The refused part of a constraint. */
  readonly constraint?: object;
  /** Retry-After, WWW-Authenticate, Allow and Accept-Encoding, where they apply. */
  readonly headers: Record<string, string>;
}

/** The public form of a thrown value; a defect of the server becomes CONTRACT_VIOLATION without its message. */
export function publicError(thrown: unknown): PublicError {
  const { code, message, remedy, retryable, retryAfterMs, data } = toInferyardError(thrown);
  const progress = code === "MODEL_LOADING" ? (data["loading"] as LoadProgress | undefined) : undefined;
  const constraint = refusedConstraintBody(data);
  // What is said of a refused constraint quotes that alone: its JSON pointers are no paths of this machine.
  const isOwn = constraint !== undefined;
  const retryAfter = retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  return {
    status: errorKinds[code].httpStatus,
    code,
    message: limited(message, requestLimits.messageCharacters, isOwn),
    ...(remedy === undefined ? {} : { remedy: limited(spellOptions(remedy, spellField), requestLimits.remedyCharacters, isOwn) }),
    retryable,
    ...omitUndefined({ retryAfterMs }),
    ...(progress === undefined ? {} : { loading: loadProgressBody(progress) }),
    ...omitUndefined({ constraint }),
    headers: {
      ...retryAfter,
      ...(code === "UNAUTHORIZED" ? { "www-authenticate": "Bearer" } : {}),
      ...(typeof data["allow"] === "string" ? { allow: data["allow"] } : {}),
      ...(typeof data["acceptEncoding"] === "string" ? { "accept-encoding": data["acceptEncoding"] } : {}),
    },
  };
}

/** A quoted option as a member of a request, whose names are in snake case; a setting keeps its name. */
function spellField(name: string, value: unknown): string {
  const isSetting = settingNames.some((setting) => setting === name);
  const field = isSetting ? name : toSnakeCase(name);
  return value === undefined ? `"${field}"` : `"${field}": ${JSON.stringify(value)}`;
}

/** The message, with the remedy in parentheses, for protocols whose errors have no field for it. */
export function messageWithRemedy({ message, remedy }: PublicError): string {
  return remedy === undefined ? message : `${message} (${remedy})`;
}

/**
 * The fields that an error body has in every protocol in addition to the protocol's own: whether and when to retry, the progress of a load, and the refused
 * part of a constraint.
 */
export function retryFields({ retryable, retryAfterMs, loading, constraint }: PublicError): object {
  return { retryable, ...omitUndefined({ retry_after_ms: retryAfterMs, loading, constraint }) };
}

/** Shortens a text that may quote a long request; only its beginning is read. `isOwn`: whether nothing but the request is quoted. */
function limited(text: string, characters: number, isOwn: boolean): string {
  const beginning = text.slice(0, 16 * characters);
  return ellipsize(isOwn ? beginning : scrub(beginning), characters);
}

/** Converts a thrown value to an error with a code: faults of the request that the framework found are the client's, the others are the server's. */
export function toInferyardError(caught: unknown): InferyardError {
  const thrown = abortedIfDisconnected(caught);
  // An abort with an InferyardError as cause, such as a timeout, is reported as the cause.
  if (thrown instanceof InferyardError && thrown.code === "ABORTED" && thrown.cause instanceof InferyardError)
    return thrown.cause;
  if (thrown instanceof InferyardError) return thrown;
  if (thrown instanceof HTTPException && thrown.status === 415) {
    return new InferyardError("MEDIA_TYPE_UNSUPPORTED", "this route does not support the content-type of the request", {
      remedy: "send content-type: application/json",
    });
  }
  // Hono's own errors, such as a body that is not JSON.
  if (thrown instanceof HTTPException && thrown.status < 500) return invalidInput(thrown.message);
  // A defect of the server: its message goes to the log only.
  return new InferyardError("CONTRACT_VIOLATION", "internal error of the server; its log has the details");
}
