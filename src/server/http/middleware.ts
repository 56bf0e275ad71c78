/** What every request passes before its route. */
import { randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { cors as corsHeaders } from "hono/cors";
import { InferyardError } from "../../contract/errors.ts";
import type { ClientTurns } from "../serving/client-turns.ts";
import { ResponseMemory } from "../serving/response-memory.ts";
import type { Env } from "./context.ts";
import { type Identity, identify, isPublicPath } from "./access/identity.ts";
import { KeyRing } from "./access/api-keys.ts";
import { refuseUnknownHost, refuseCrossOrigin } from "./access/origin.ts";
import { RateLimiter } from "./access/rate-limiter.ts";
import { requestBodies } from "./bodies/read-bodies.ts";
import { serverDefaults } from "../../settings/server-options.ts";
import { IgnoredFields, ignoredHeader } from "./fields/ignored-fields.ts";
import { requestLimits } from "./request-limits.ts";
import type { ServerSettings } from "../server-settings.ts";
import { memoryShare } from "./sockets/memory-share.ts";

/** Upper bound of the default of `maxResponseBytes`, on machines with much memory. */
const maxDefaultResponseBytes = 2 ** 30;
/** Response headers that a page of another origin may read. */
const exposedHeaders = [
  "x-request-id",
  "x-inferyard-target",
  "x-inferyard-decision",
  "x-inferyard-keep-alive",
  ignoredHeader,
  "server-timing",
  "retry-after",
];

/**
 * The middleware of the server, in the order in which requests pass it: request id, CORS, length of the head, access, body, memory for the
 * response.
 */
export function requestMiddleware(settings: ServerSettings, turns: ClientTurns): MiddlewareHandler<Env>[] {
  const { cors = [], strictFields = serverDefaults.strictFields } = settings;
  const pages =
    cors.length === 0
      ? []
      : [corsHeaders({ origin: cors.includes("*") ? "*" : [...cors], exposeHeaders: exposedHeaders, maxAge: 600 })];
  return [
    requestVariables(strictFields),
    ...pages,
    limitHead,
    checkAccess(settings),
    requestBodies(settings, turns),
    reserveResponseMemory(settings),
  ];
}

/** Keeps the client's x-request-id if it is safe to log, else makes one, and sets the defaults of the request's variables. */
const requestVariables =
  (strictFields: boolean): MiddlewareHandler<Env> =>
  async (context, next) => {
    const given = context.req.header("x-request-id");
    const id = given !== undefined && /^[\w.:+/=@-]{1,128}$/.test(given) ? given : randomUUID();
    context.set("requestId", id);
    context.set("client", "");
    context.set("role", "reader");
    context.set("anyReference", false);
    context.set("strictFields", strictFields);
    context.set("ignoredFields", new IgnoredFields());
    context.header("x-request-id", id); // before the response exists: setting it later would copy the response
    await next();
  };

/** Checks host, origin, key and rate, and identifies the client. Public paths are exempt. */
function checkAccess({
  keys = [],
  cors = [],
  allowedHosts,
  trustProxy = false,
  requestsPerMinute,
}: ServerSettings): MiddlewareHandler<Env> {
  const ring = new KeyRing(keys);
  const limiter = new RateLimiter();
  return async (context, next) => {
    const header = (name: string): string | undefined => context.req.header(name);
    const { identity: own } = context.env ?? {};
    if (own !== undefined) {
      context.set("client", own.client);
      context.set("role", own.role);
      context.set("anyReference", own.anyReference);
    } else if (!isPublicPath(context.req.path, context.req.method)) {
      const { remoteAddress: address, listenAddress, httpVersion } = context.env ?? {};
      refuseUnknownHost(header, { address, listenAddress }, { allowedHosts, hasKeys: !ring.empty });
      refuseCrossOrigin(header, cors);
      const headerNames = (): Iterable<string> => context.req.raw.headers.keys();
      const identity: Identity = identify({ header, headerNames, address, httpVersion }, ring, trustProxy);
      context.set("client", identity.client);
      context.set("role", identity.role);
      context.set("anyReference", identity.anyReference);
      const rate = identity.requestsPerMinute ?? requestsPerMinute;
      if (rate !== undefined) limiter.take(identity.client, rate);
      refuseOverload(context);
    }
    await next();
  };
}

/** Gives each request a reservation of response memory, and releases it when the response is complete or failed. */
function reserveResponseMemory({
  maxResponseBytes = memoryShare(1 / 8, maxDefaultResponseBytes),
}: ServerSettings): MiddlewareHandler<Env> {
  const memory = new ResponseMemory(maxResponseBytes);
  return async (context, next) => {
    const reservation = memory.reservation(context.get("client"));
    context.set("responseMemory", reservation);
    await next().finally(reservation.release);
  };
}

/** Headers that hold the name of a model or a target. */
const namingHeaders = ["x-inferyard-target", "x-inferyard-model"];

/** Throws LIMIT_EXCEEDED for a URL or a naming header that is longer than any legitimate one. */
const limitHead: MiddlewareHandler<Env> = async (context, next) => {
  const { urlCharacters, headerCharacters } = requestLimits;
  const { url } = context.req;
  if (url.length > urlCharacters) throw tooLong("address of the request", url.length, urlCharacters);
  for (const name of namingHeaders) {
    const length = context.req.header(name)?.length ?? 0;
    if (length > headerCharacters) throw tooLong(`header ${name}`, length, headerCharacters);
  }
  await next();
};

function tooLong(what: string, length: number, limit: number): InferyardError {
  return new InferyardError("LIMIT_EXCEEDED", `the ${what} has ${length} characters, and the limit is ${limit}`, {
    remedy: "send a shorter one",
    data: { limit },
  });
}

/** Throws the refusal of the socket layer. /metrics is served nevertheless, since it says why the server is overloaded. */
function refuseOverload({ env, req }: Context<Env>): void {
  if (env?.refusal !== undefined && req.path !== "/metrics") throw env.refusal;
}

/** Throws FORBIDDEN for any client but administrators. */
export function refuseOthers(context: Context<Env>): void {
  if (context.get("role") === "admin") return;
  throw new InferyardError("FORBIDDEN", "this is for administrators", {
    remedy: "present a key whose role is admin; without keys, ask from the machine itself",
  });
}
