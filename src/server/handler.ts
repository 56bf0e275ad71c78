/** The server without a socket: a function from request to response. */
import { randomUUID } from "node:crypto";
import { OpenAPIHono } from "@hono/zod-openapi";
import { bodyLimit } from "hono/body-limit";
import { InferyardError } from "../errors.ts";
import type { Runtime } from "../task-runtime.ts";
import { version } from "../version.ts";
import type { Env } from "./context.ts";
import { cohereRoutes } from "./cohere/index.ts";
import { nativeRoutes } from "./native/index.ts";
import { openAiRoutes } from "./openai/index.ts";
import { protocolError } from "./protocol-errors.ts";
import type { StoredNames } from "./model-names.ts";
import type { ServerSettings } from "./server-settings.ts";
import { Service } from "./service.ts";
import { teiRoutes } from "./tei/index.ts";

export interface HandlerOptions extends ServerSettings {
  /** Names of models clients may use besides those of the settings. Default: none. */
  readonly storedNames?: StoredNames;
}

export interface Handler {
  (request: Request): Promise<Response>;
  readonly service: Service;
}

const defaultBodyBytes = 32 * 2 ** 20;

/** Everything the server answers, on one runtime, which stays the caller's to dispose. */
export function createHandler(runtime: Runtime, options: HandlerOptions = {}): Handler {
  const { storedNames = async () => [], ...settings } = options;
  const service = new Service(runtime, { settings, storedNames });
  const app = new OpenAPIHono<Env>();
  app.onError(protocolError);
  app.notFound((context) =>
    protocolError(
      new InferyardError("MODEL_NOT_FOUND", `there is nothing at ${context.req.method} ${context.req.path}`),
      context,
    ),
  );
  app.use(async (context, next) => {
    context.set("requestId", context.req.header("x-request-id") ?? randomUUID());
    context.set("client", context.req.header("x-forwarded-for") ?? "");
    context.set("role", "admin");
    await next();
    context.header("x-request-id", context.get("requestId"));
  });
  const maxSize = settings.maxBodyBytes ?? defaultBodyBytes;
  app.use(
    bodyLimit({
      maxSize,
      onError: () => {
        throw new InferyardError("LIMIT_EXCEEDED", `the body is larger than ${maxSize} bytes`, {
          remedy: "send less at once",
          data: { limit: maxSize },
        });
      },
    }),
  );
  app.route("/", nativeRoutes(service));
  app.route("/", cohereRoutes(service));
  app.route("/", openAiRoutes(service));
  app.route("/", teiRoutes(service));
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: { title: "Inferyard", version, description: "Models over HTTP" },
  });
  const handle = async (request: Request): Promise<Response> => app.fetch(request);
  return Object.assign(handle, { service });
}
