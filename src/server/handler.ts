/** The server without a socket: a function from request to response. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { InferyardError } from "../errors.ts";
import type { Runtime } from "../task-runtime.ts";
import { version } from "../version.ts";
import type { Env } from "./context.ts";
import { cohereRoutes } from "./cohere/index.ts";
import { dashboardRoutes } from "./dashboard/index.ts";
import { RecentRequests } from "./dashboard/recent-requests.ts";
import { front } from "./front.ts";
import { healthRoutes } from "./health.ts";
import { kserveRoutes } from "./kserve/index.ts";
import { LoadWatch } from "./load-watch.ts";
import { nativeRoutes } from "./native/index.ts";
import { openAiRoutes } from "./openai/index.ts";
import { protocolError } from "./protocol-errors.ts";
import type { StoredNames } from "./model-names.ts";
import type { Log } from "./observation/log.ts";
import { Metrics } from "./observation/metrics.ts";
import { observeRequests } from "./observation/requests.ts";
import { observationRoutes } from "./observation/routes.ts";
import { RuntimeEvents } from "./observation/runtime-events.ts";
import { traceRequests } from "./observation/tracing.ts";
import { Readiness } from "./readiness.ts";
import type { ServerSettings } from "./server-settings.ts";
import { Service, type StoredTime } from "./service.ts";
import { teiRoutes } from "./tei/index.ts";

export interface HandlerOptions extends ServerSettings {
  /** Names of models clients may use besides those of the settings. Default: none. */
  readonly storedNames?: StoredNames;
  /** When those were fetched. Default: it is not known. */
  readonly storedTime?: StoredTime;
  /** What the runtime reports: its `tell` is the runtime's `onEvent`, its `tellBatch` its `onBatch`. Default: nothing is reported. */
  readonly events?: RuntimeEvents;
  /** Default: nothing is logged. */
  readonly log?: Log;
}

/** The socket a request came through. */
export interface Connection {
  /** The other end. */
  readonly remoteAddress?: string;
  /** What the server listens on: on loopback and without keys, `Host` must be a loopback name. Default: `Host` is not checked. */
  readonly listenAddress?: string;
  /** "1.0" or "1.1". Default: "1.1". */
  readonly httpVersion?: string;
}

export interface Handler {
  /** Without a connection the request comes from this program itself. */
  (request: Request, connection?: Connection): Promise<Response>;
  readonly service: Service;
  /** Whether the server's own models have run. */
  readonly readiness: Readiness;
}

/** Everything the server answers, on one runtime, which stays the caller's to dispose. */
export function createHandler(runtime: Runtime, options: HandlerOptions = {}): Handler {
  const { storedNames = async () => [], storedTime, events = new RuntimeEvents(), log, ...settings } = options;
  const loadWatch = new LoadWatch();
  events.subscribe((event) => loadWatch.event(event));
  const service: Service = new Service(runtime, {
    settings,
    storedNames,
    loadWatch,
    ...(storedTime === undefined ? {} : { storedTime }),
    onCall: (record) => metrics.call(record),
  });
  const metrics = new Metrics(service);
  events.subscribe((event) => {
    metrics.event(event);
    log?.event(event);
  });
  events.subscribeBatches((batch) => metrics.batch(batch));
  const readiness = new Readiness(service);
  const app = new OpenAPIHono<Env>();
  app.onError(protocolError);
  app.notFound((context) =>
    protocolError(
      new InferyardError("MODEL_NOT_FOUND", `there is nothing at ${context.req.method} ${context.req.path}`),
      context,
    ),
  );
  const recent = new RecentRequests();
  app.use(traceRequests(), observeRequests([metrics, recent, ...(log === undefined ? [] : [log])]), ...front(settings));
  app.route("/", observationRoutes(service, metrics, events));
  app.route("/", healthRoutes(service, readiness));
  app.route("/", dashboardRoutes(service, recent));
  app.route("/", nativeRoutes(service));
  app.route("/", cohereRoutes(service));
  app.route("/", openAiRoutes(service));
  app.route("/", teiRoutes(service));
  app.route("/", kserveRoutes(service, readiness));
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: { title: "Inferyard", version, description: "Models over HTTP" },
  });
  const handle = async (request: Request, connection: Connection = {}): Promise<Response> => app.fetch(request, connection);
  return Object.assign(handle, { service, readiness });
}
