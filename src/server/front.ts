/** What every request passes before its route: its id, its origin, its key, its rate, its size and its shape. */
import { randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { cors as corsHeaders } from "hono/cors";
import { InferyardError } from "../errors.ts";
import { serverDefaults } from "../settings/server-section.ts";
import { limitBytes } from "./body-limit.ts";
import type { Env } from "./context.ts";
import { type Identity, identify, isOpen, refuseForeignPage } from "./identity.ts";
import { refuseDeep } from "./json-depth.ts";
import { KeyRing } from "./keys.ts";
import { RateLimiter } from "./rate-limit.ts";
import type { ServerSettings } from "./server-settings.ts";

/** Headers of answers that a page of another origin may read. */
const exposed = ["x-request-id", "x-inferyard-target", "x-inferyard-decision", "server-timing", "retry-after"];

/** In the order in which a request passes them. */
export function front(settings: ServerSettings): MiddlewareHandler<Env>[] {
  const { cors = [] } = settings;
  const pages =
    cors.length === 0 ? [] : [corsHeaders({ origin: cors.includes("*") ? "*" : [...cors], exposeHeaders: exposed, maxAge: 600 })];
  return [
    requestIds,
    ...pages,
    admit(settings),
    limitBytes(settings.maxBodyBytes ?? serverDefaults.maxBodyBytes),
    limitDepth(settings),
  ];
}

/** A client's own id is kept where it is one that a log can carry. */
const requestIds: MiddlewareHandler<Env> = async (context, next) => {
  const given = context.req.header("x-request-id");
  const id = given !== undefined && /^[\w.:+/=@-]{1,128}$/.test(given) ? given : randomUUID();
  context.set("requestId", id);
  context.set("client", "");
  context.set("role", "reader");
  context.header("x-request-id", id); // before the answer is made: afterwards it would be made anew
  await next();
};

function admit({ keys = [], cors = [], trustProxy = false, requestsPerMinute }: ServerSettings): MiddlewareHandler<Env> {
  const ring = new KeyRing(keys);
  const limiter = new RateLimiter();
  return async (context, next) => {
    const header = (name: string): string | undefined => context.req.header(name);
    if (!isOpen(context.req.path)) {
      refuseForeignPage(header, cors);
      const identity: Identity = identify({ header, address: context.env?.remoteAddress }, ring, trustProxy);
      context.set("client", identity.client);
      context.set("role", identity.role);
      const rate = identity.requestsPerMinute ?? requestsPerMinute;
      if (rate !== undefined) limiter.take(identity.client, rate);
      refuseOverload(context);
    }
    await next();
  };
}

/** Throws what the socket's side has to refuse. Metrics are answered all the same: they say why. */
function refuseOverload({ env, req }: Context<Env>): void {
  if (env?.refusal !== undefined && req.path !== "/metrics") throw env.refusal;
}

/** The text is read once: what routes ask for later is made of the same. */
function limitDepth({ maxJsonDepth = serverDefaults.maxJsonDepth }: ServerSettings): MiddlewareHandler<Env> {
  return async (context, next) => {
    const type = context.req.header("content-type") ?? "";
    if (/\bjson\b/i.test(type)) refuseDeep(await context.req.text(), maxJsonDepth);
    await next();
  };
}

/** FORBIDDEN for whoever is no administrator. */
export const adminOnly: MiddlewareHandler<Env> = async (context, next) => {
  if (context.get("role") !== "admin") {
    throw new InferyardError("FORBIDDEN", "this is for administrators", {
      remedy: "present a key whose role is admin; without keys, ask from the machine itself",
    });
  }
  await next();
};
