/** Metrics for Prometheus. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { BatchEvent, RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import { getDefaultModel } from "../serving/model-names.ts";
import { routeName } from "../http/routes/paths.ts";
import { scrub } from "../http/scrub.ts";
import { getReference } from "../server-settings.ts";
import type { CallRecord } from "../serving/call-record.ts";
import type { Service } from "../serving/service.ts";
import { addCollected } from "./collected.ts";
import { GenerationMetrics } from "./generation-metrics.ts";
import { watchPrograms } from "./program-metrics.ts";
import { type RequestRecord, getCode } from "./request-records.ts";

/** Buckets in seconds, from a cached result to a bulk request. */
const shortTimes = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const loadTimes = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const batchTokens = [8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16_384];
const shares = [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75];
/** Sampling interval of the event loop delay, in milliseconds. */
const samplingMs = 10;

/** Formats of the metrics by media type: Prometheus' own, and OpenMetrics. */
export const metricsFormats = ["text/plain", "application/openmetrics-text"] as const;

/** Format of the metrics. */
export type MetricsFormat = (typeof metricsFormats)[number];

/** State of the server's connections. */
export interface ConnectionStats {
  /** Number of open connections. */
  readonly open: number;
  /** Bytes of responses that their readers have not taken. */
  readonly unreadBytes: number;
  /** Connections refused because of a limit, since the start. */
  readonly refused: number;
  /** Connections closed because their reader stalled or was slow, since the start. */
  readonly disconnected: number;
}

/** The metrics of one server, in a registry of its own. */
export class Metrics {
  readonly #registry = new Registry();
  /** Names of models by reference, for labels. */
  readonly #names: ReadonlyMap<string, string>;
  /** Target on which a model failed while running, by reference, until it is loaded on another. */
  readonly #failed = new Map<string, string>();
  readonly #requests = this.#counter(
    "requests_total",
    "Requests, by route (operationId of the OpenAPI document), model and status",
    ["route", "model", "code"],
  );
  readonly #errors = this.#counter("errors_total", "Failed requests, by the code of docs/reference/errors.md", ["code"]);
  readonly #ignored = this.#counter(
    "ignored_fields_total",
    "Fields of requests that were taken without effect, by route; the header x-inferyard-ignored and the log name them",
    ["route"],
  );
  readonly #tokens = this.#counter("tokens_total", "Tokens that models read", ["model"]);
  readonly #unloads = this.#counter("unloads_total", "Models unloaded, by reason", ["model", "target", "why"]);
  readonly #fallbacks = this.#counter("fallbacks_total", "Models that fell back from one target to another", [
    "from",
    "to",
    "reason",
  ]);
  readonly #deaths = this.#counter("child_deaths_total", "Processes of models that crashed, or were killed because they hung", [
    "model",
    "target",
  ]);
  readonly #restarts = this.#counter("child_restarts_total", "Processes of models that were restarted", [
    "model",
    "target",
    "why",
  ]);
  readonly #downloads = this.#counter("downloads_total", "Models downloaded", ["model"]);
  readonly #reused = this.#counter(
    "responses_reused_total",
    "Requests whose result was shared with a concurrent request or cached",
    ["model", "how"],
  );
  readonly #requestSeconds = this.#histogram("request_seconds", "Time from a request to its response", ["route"], shortTimes);
  readonly #queueSeconds = this.#histogram("queue_seconds", "Time that requests waited for their turn", ["model"], shortTimes);
  readonly #inferenceSeconds = this.#histogram(
    "inference_seconds",
    "Time from the turn of a request to its result",
    ["model", "target"],
    shortTimes,
  );
  readonly #loadSeconds = this.#histogram("load_seconds", "Time to load and verify a model", ["model", "target"], loadTimes);

  readonly #batchRows = this.#histogram("batch_rows", "Rows (texts, or windows of long texts) of a batch", ["model"], batchSizes);
  readonly #batchTokens = this.#histogram("batch_tokens", "Tokens of a batch without padding", ["model"], batchTokens);
  readonly #generation: GenerationMetrics;
  readonly #padding = this.#histogram("padding_ratio", "Fraction of a batch that is padding", ["model"], shares);

  constructor(service: Service) {
    const { models = {} } = service.settings;
    const { name: shown, written } = getDefaultModel(service.settings);
    this.#names = new Map([
      [written, shown],
      ...Object.entries(models).map(([name, model]) => [getReference(model), name] as const),
    ]);
    this.#gauges(service);
    this.#generation = new GenerationMetrics(this.#registry, service.runtime, (reference) => this.#label(reference));
  }

  /** All metrics in one of the formats, with its content type. */
  async text(format: MetricsFormat): Promise<{ readonly text: string; readonly contentType: string }> {
    const text = await this.#registry.metrics();
    return format === "text/plain"
      ? { text, contentType: Registry.PROMETHEUS_CONTENT_TYPE }
      : { text: openMetrics(text), contentType: Registry.OPENMETRICS_CONTENT_TYPE };
  }

  /** Counts a request. A model that was not found is no label value, since clients could create any number of them. */
  request({ method, route: path, status, milliseconds, call, fault, ignored }: RequestRecord): void {
    const route = path === "none" ? path : routeName(method === "HEAD" ? "GET" : method, path);
    const isKnown = call !== undefined && (call.target !== undefined || call.error === undefined);
    const model = isKnown ? this.#label(call.model) : "";
    this.#requests.inc({ route, model, code: String(status) });
    this.#requestSeconds.observe({ route }, milliseconds / 1000);
    if (ignored !== undefined) this.#ignored.inc({ route }, ignored.count);
    if (fault !== undefined) this.#errors.inc({ code: getCode(fault) });
  }

  /** Counts a call. Results that were shared count once for the time and the tokens of the model. */
  call({ model: name, target, queueMs, inferenceMs, tokens, texts, reuse }: CallRecord): void {
    const model = this.#label(name);
    if (reuse !== undefined) this.#reused.inc({ model, how: reuse });
    if (target === undefined) return;
    this.#queueSeconds.observe({ model }, queueMs / 1000);
    if (reuse === undefined) this.#inferenceSeconds.observe({ model, target }, inferenceMs / 1000);
    if (tokens !== undefined) this.#tokens.inc({ model }, tokens);
    if (texts !== undefined) this.#generation.count(model, texts);
  }

  /** Counts a batch. */
  batch({ reference, rows, tokens, paddedTokens }: BatchEvent): void {
    const model = this.#label(reference);
    this.#batchRows.observe({ model }, rows);
    this.#batchTokens.observe({ model }, tokens);
    this.#padding.observe({ model }, paddedTokens === 0 ? 0 : 1 - tokens / paddedTokens);
  }

  /** Counts an event of the runtime. */
  event(event: RuntimeEvent): void {
    if (event.type === "failover") this.#failed.set(event.reference, event.from);
    if (event.type === "died") this.#deaths.inc({ model: this.#label(event.reference), target: event.target });
    if (event.type === "restarted")
      this.#restarts.inc({ model: this.#label(event.reference), target: event.target, why: event.why });
    if (event.type === "unloaded")
      this.#unloads.inc({ model: this.#label(event.reference), target: event.target, why: event.why });
    if (event.type === "download" && event.progress.stage === "done")
      this.#downloads.inc({ model: this.#label(event.reference) });
    if (event.type === "loaded") this.#loaded(event.decision);
  }

  #loaded({ model: { reference }, candidates, selected }: Extract<RuntimeEvent, { type: "loaded" }>["decision"]): void {
    if (selected === null) return;
    const { target: to } = selected;
    for (const { target, verdict, stage, milliseconds = 0 } of candidates) {
      if (verdict === "selected") this.#loadSeconds.observe({ model: this.#label(reference), target }, milliseconds / 1000);
      if (verdict === "failed") this.#fallbacks.inc({ from: target, to, reason: stage });
    }
    const from = this.#failed.get(reference);
    this.#failed.delete(reference);
    if (from !== undefined) this.#fallbacks.inc({ from, to, reason: "run" });
  }

  /** Adds metrics of connections, which `read` gives. */
  watchConnections(read: () => ConnectionStats): void {
    this.#gauge("connections_open", "Open connections", () => read().open);
    this.#gauge("unread_response_bytes", "Bytes of responses that their readers have not taken", () => read().unreadBytes);
    this.#total("connections_refused_total", "Connections refused because of a limit", () => read().refused);
    this.#total(
      "readers_disconnected_total",
      "Connections closed because their reader stalled or was slow",
      () => read().disconnected,
    );
  }

  #gauges(service: Service): void {
    const { admission, runtime } = service;
    const decisions = "1 for each model in memory, with its target and the id of the decision that placed it";
    this.#collected(Gauge, "model_decision_info", decisions, ["model", "target", "decision"], (add) => {
      for (const { reference, target, decision } of runtime.memory().models)
        add({ model: this.#label(reference), target, decision }, 1);
    });
    this.#gauge("result_cache_bytes", "Memory of cached results", () => service.cache.bytes);
    this.#gauge("requests_running", "Requests that run now", () => admission.running);
    this.#gauge("requests_waiting", "Requests that wait now", () => admission.waiting);
    this.#gauge("models_loaded", "Models in memory", () => runtime.memory().models.length);
    this.#gauge("resident_memory_bytes", "Resident memory of the server process", () => process.memoryUsage.rss());
    this.#gauge("start_time_seconds", "Start time of the server, in seconds since 1970", () => performance.timeOrigin / 1000);
    watchPrograms(this.#registry, runtime, (reference) => this.#label(reference));
    const memory = "Memory of models, by device; the device memory is the machine's own";
    this.#collected(Gauge, "model_memory_bytes", memory, ["device"], (add) => {
      for (const model of runtime.memory().models)
        for (const [device, amount] of Object.entries(model.bytes)) add({ device }, amount);
    });
    // The histogram records the time between two samples, which includes the sampling interval itself.
    const delay = monitorEventLoopDelay({ resolution: samplingMs });
    const delaySeconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - samplingMs / 1000);
    delay.enable();
    // not `quantile`, which Prometheus keeps for summaries
    this.#collected(Gauge, "event_loop_delay_seconds", "Event loop delay since the last scrape", ["percentile"], (add) => {
      for (const percentile of [50, 99, 100])
        add({ percentile: String(percentile) }, delay.count === 0 ? 0 : delaySeconds(delay.percentile(percentile)));
      delay.reset();
    });
  }

  /** The name in the settings, if there is one; else the reference without folders. */
  #label(model: string): string {
    return this.#names.get(model) ?? scrub(model);
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `inferyard_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]): Histogram<Label> {
    return new Histogram({ name: `inferyard_${name}`, help, labelNames, buckets, registers: [this.#registry] });
  }

  #collected<Label extends string>(
    Kind: typeof Gauge | typeof Counter,
    name: string,
    help: string,
    labelNames: Label[],
    read: Parameters<typeof addCollected<Label>>[2],
  ): void {
    addCollected(Kind, { name: `inferyard_${name}`, help, labelNames, registers: [this.#registry] }, read);
  }

  /** A counter whose value is kept elsewhere. */
  #total(name: string, help: string, read: () => number): void {
    this.#collected(Counter, name, help, [], (add) => add({}, read()));
  }

  #gauge(name: string, help: string, read: () => number): void {
    this.#collected(Gauge, name, help, [], (add) => add({}, read()));
  }
}

/**
 * Text in Prometheus' format as OpenMetrics 1.0: a counter is described by its name without `_total`, there are no empty lines, and the end is
 * marked. (prom-client can write OpenMetrics, but it renames its counters for good when it does.)
 */
function openMetrics(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "");
  const counters = new Set(lines.flatMap((line) => /^# TYPE (\S+)_total counter$/.exec(line)?.[1] ?? []));
  const described = lines.map((line) =>
    line.replace(/^(# (?:HELP|TYPE) )(\S+)_total /, (whole, start: string, name: string) =>
      counters.has(name) ? `${start}${name} ` : whole,
    ),
  );
  return `${described.join("\n")}\n# EOF\n`;
}
