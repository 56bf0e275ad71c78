/** The server without a socket: a function from Request to Response. */
import { omitUndefined } from "../contract/checked.ts";
import type { InferyardError } from "../contract/errors.ts";
import type { Runtime } from "../api/runtime.ts";
import { version } from "../version.ts";
import { serverDefaults } from "../settings/server-options.ts";
import { Batches } from "./batches/batches.ts";
import type { Identity } from "./http/access/identity.ts";
import { addOpenApiDocument } from "./http/routes/openapi-document.ts";
import { addOtherMethods, createRouter } from "./http/routes/router.ts";
import { dashboardRoutes } from "./observability/dashboard/index.ts";
import { protocols } from "./protocols/index.ts";
import { inferyardErrors } from "./protocols/inferyard/errors.ts";
import { LoadRecorder } from "./observability/dashboard/load-history.ts";
import { RecentRequests } from "./observability/dashboard/recent-requests.ts";
import { requestMiddleware } from "./http/middleware.ts";
import { healthRoutes } from "./observability/health.ts";
import { LoadProgressTracker } from "./serving/load-progress.ts";
import type { StoredNames } from "./serving/model-names.ts";
import type { Log } from "./observability/log.ts";
import { type ConnectionStats, Metrics } from "./observability/metrics.ts";
import { observeRequests } from "./observability/request-records.ts";
import { observabilityRoutes } from "./observability/routes.ts";
import { RuntimeEvents } from "./observability/runtime-events.ts";
import { traceRequests } from "./observability/tracing.ts";
import { Readiness } from "./serving/readiness.ts";
import type { ServerSettings } from "./server-settings.ts";
import { Service, type StoredTime } from "./serving/service.ts";

/** Settings and connections of the server. */
export interface HandlerOptions extends ServerSettings {
  /** Names of the models in the store, which clients may use in addition to names in the settings. Default: none. */
  readonly storedNames?: StoredNames;
  /** When those were fetched. Default: unknown. */
  readonly storedTime?: StoredTime;
  /** Absolute path of the folder in which the files and batches of clients are kept. Default: there are none, and their routes answer 501. */
  readonly dataFolder?: string;
  /** Events of the runtime: its `emit` is the runtime's `onEvent`, its `emitBatch` the runtime's `onBatch`. Default: none are received. */
  readonly events?: RuntimeEvents;
  /** Receives log entries. Default: nothing is logged. */
  readonly log?: Log;
}

/** The socket through which a request came. */
export interface ConnectionInfo {
  /** Address of the client's end. */
  readonly remoteAddress?: string;
  /** Address the server listens on. On loopback without keys, `Host` must be a loopback name. Default: `Host` is not checked. */
  readonly listenAddress?: string;
  /** "1.0" or "1.1". Default: "1.1". */
  readonly httpVersion?: string;
  /** If set, the request is refused with this error, unless it asks for health or metrics. */
  readonly refusal?: InferyardError;
  /** Closes the connection when the response is written, without reading the rest of the request. */
  readonly closeAfterResponse?: () => void;
  /** The client for which this program makes the request itself, whose key and rate are not checked again. */
  readonly identity?: Identity;
}

/** The server as a function from request to response, with its parts for the socket layer. */
export interface Handler {
  /** Without a connection, the request was made by this program itself. */
  (request: Request, connection?: ConnectionInfo): Promise<Response>;
  /** Runs the calls of all routes. */
  readonly service: Service;
  /** Whether the server's own models can run. */
  readonly readiness: Readiness;
  /** Sets the source of the metrics about connections. Default: there are no such metrics. */
  readonly watchConnections: (read: () => ConnectionStats) => void;
}

/** Creates the server on a runtime, which the caller remains responsible for disposing of. */
export function createHandler(runtime: Runtime, options: HandlerOptions = {}): Handler {
  const { storedNames = async () => [], storedTime, dataFolder, events = new RuntimeEvents(), log, ...settings } = options;
  const loadProgress = new LoadProgressTracker();
  events.subscribe((event) => loadProgress.onEvent(event));
  const { maxFilesBytes } = { ...serverDefaults, ...settings };
  const batches =
    dataFolder &&
    new Batches({ folder: dataFolder, maxFilesBytes, dispatch: (request, identity) => handle(request, { identity }) });
  const service: Service = new Service(runtime, {
    settings,
    ...(batches ? { batches } : {}),
    storedNames,
    loadProgress,
    ...omitUndefined({ storedTime }),
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
  const recent = new RecentRequests();
  const load = new LoadRecorder(() => service.admission.waiting);
  const middleware = [
    traceRequests(),
    observeRequests([metrics, recent, load, ...(log === undefined ? [] : [log])]),
    ...requestMiddleware(settings, service.turns),
  ];
  const own = [
    ...observabilityRoutes(service, metrics, events),
    ...healthRoutes(service, readiness),
    ...dashboardRoutes(service, recent, load),
  ];
  const tables = [
    { errors: inferyardErrors, routes: own },
    ...protocols.map(({ routes, ...protocol }) => ({ ...protocol, routes: routes(service, readiness) })),
  ];
  const app = createRouter(tables, inferyardErrors, middleware);
  addOpenApiDocument(app, { title: "Inferyard", version, description: "Models over HTTP" });
  addOtherMethods(app);
  const handle = async (request: Request, connection: ConnectionInfo = {}): Promise<Response> => app.fetch(request, connection);
  return Object.assign(handle, {
    service,
    readiness,
    watchConnections: (read: () => ConnectionStats) => metrics.watchConnections(read),
  });
}
