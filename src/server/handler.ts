/** The server without a socket: a function from request to response. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { InferyardError } from "../errors.ts";
import type { Runtime } from "../api/runtime.ts";
import { version } from "../version.ts";
import type { Env } from "./http/context.ts";
import { cohereRoutes } from "./protocols/cohere/index.ts";
import { dashboardRoutes } from "./observability/dashboard/index.ts";
import { RecentRequests } from "./observability/dashboard/recent-requests.ts";
import { requestMiddleware } from "./http/middleware.ts";
import { healthRoutes } from "./observability/health.ts";
import { kserveRoutes } from "./protocols/kserve/index.ts";
import { LoadProgressTracker } from "./serving/load-progress.ts";
import { inferyardRoutes } from "./protocols/inferyard/index.ts";
import { openAiRoutes } from "./protocols/openai/index.ts";
import { handleProtocolError } from "./protocols/protocol-errors.ts";
import type { StoredNames } from "./serving/model-names.ts";
import type { Log } from "./observability/log.ts";
import { type ConnectionStats, Metrics } from "./observability/metrics.ts";
import { observeRequests } from "./observability/request-records.ts";
import { observationRoutes } from "./observability/routes.ts";
import { RuntimeEvents } from "./observability/runtime-events.ts";
import { traceRequests } from "./observability/tracing.ts";
import { Readiness } from "./serving/readiness.ts";
import type { ServerSettings } from "./server-settings.ts";
import { Service, type StoredTime } from "./serving/service.ts";
import { teiRoutes } from "./protocols/tei/index.ts";

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
export interface ConnectionInfo {
  /** The other end. */
  readonly remoteAddress?: string;
  /** What the server listens on: on loopback and without keys, `Host` must be a loopback name. Default: `Host` is not checked. */
  readonly listenAddress?: string;
  /** "1.0" or "1.1". Default: "1.1". */
  readonly httpVersion?: string;
  /** What the request is told in place of an answer, unless it asks for health or metrics. Default: it is answered. */
  readonly refusal?: InferyardError;
}

export interface Handler {
  /** Without a connection the request comes from this program itself. */
  (request: Request, connection?: ConnectionInfo): Promise<Response>;
  readonly service: Service;
  /** Whether the server's own models have run. */
  readonly readiness: Readiness;
  /** What the metrics say of connections. Default: nothing. */
  readonly watchConnections: (read: () => ConnectionStats) => void;
}

/** Everything the server answers, on one runtime, which stays the caller's to dispose. */
export function createHandler(runtime: Runtime, options: HandlerOptions = {}): Handler {
  const { storedNames = async () => [], storedTime, events = new RuntimeEvents(), log, ...settings } = options;
  const loadProgress = new LoadProgressTracker();
  events.subscribe((event) => loadProgress.onEvent(event));
  const service: Service = new Service(runtime, {
    settings,
    storedNames,
    loadProgress,
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
  events.subscribe((event) => readiness.onEvent(event));
  const app = new OpenAPIHono<Env>();
  app.onError(handleProtocolError);
  app.notFound((context) =>
    handleProtocolError(
      new InferyardError("MODEL_NOT_FOUND", `there is nothing at ${context.req.method} ${context.req.path}`),
      context,
    ),
  );
  const recent = new RecentRequests();
  app.use(
    traceRequests(),
    observeRequests([metrics, recent, ...(log === undefined ? [] : [log])]),
    ...requestMiddleware(settings),
  );
  app.route("/", observationRoutes(service, metrics, events));
  app.route("/", healthRoutes(service, readiness));
  app.route("/", dashboardRoutes(service, recent));
  app.route("/", inferyardRoutes(service));
  app.route("/", cohereRoutes(service));
  app.route("/", openAiRoutes(service));
  app.route("/", teiRoutes(service));
  app.route("/", kserveRoutes(service, readiness));
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: { title: "Inferyard", version, description: "Models over HTTP" },
  });
  const handle = async (request: Request, connection: ConnectionInfo = {}): Promise<Response> => app.fetch(request, connection);
  return Object.assign(handle, {
    service,
    readiness,
    watchConnections: (read: () => ConnectionStats) => metrics.watchConnections(read),
  });
}
