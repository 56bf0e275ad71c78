/** What Prometheus reads. Each server has a registry of its own. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { BatchEvent, RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import { defaultModelOf } from "../serving/model-names.ts";
import { scrub } from "../http/scrub.ts";
import { referenceOf } from "../server-settings.ts";
import type { CallRecord, Service } from "../serving/service.ts";
import { type RequestRecord, codeOf } from "./request-records.ts";

/** Seconds: from a static model's answer to a bulk request's. */
const shortTimes = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const loadTimes = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const batchTokens = [8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16_384];
const shares = [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75];
/** Milliseconds between two looks at how late the event loop is. */
const pauseMs = 10;

/** What the server knows of its connections. */
export interface ConnectionStats {
  readonly open: number;
  /** Bytes of answers that their readers have not taken. */
  readonly unreadBytes: number;
  /** Since the start: connections refused because of a limit, and readers ended because they stalled or were slow. */
  readonly refused: number;
  readonly disconnected: number;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #names: ReadonlyMap<string, string>;
  /** By model: where it was when it failed, until it is loaded elsewhere. */
  readonly #failed = new Map<string, string>();
  readonly #requests = this.#counter("requests_total", "Requests answered", ["route", "model", "code"]);
  readonly #errors = this.#counter("errors_total", "Requests that failed, by the code of docs/reference/errors.md", ["code"]);
  readonly #tokens = this.#counter("tokens_total", "Tokens that models saw", ["model"]);
  readonly #unloads = this.#counter("unloads_total", "Models that left memory", ["model", "target", "why"]);
  readonly #fallbacks = this.#counter("fallbacks_total", "Models that were to run on one target and run on another", [
    "from",
    "to",
    "reason",
  ]);
  readonly #deaths = this.#counter(
    "child_deaths_total",
    "Processes of models that died by themselves, or were killed because they hung",
    ["model", "target"],
  );
  readonly #restarts = this.#counter("child_restarts_total", "Processes of models that took the place of others", [
    "model",
    "target",
    "why",
  ]);
  readonly #downloads = this.#counter("downloads_total", "Models fetched", ["model"]);
  readonly #reused = this.#counter("responses_reused_total", "Requests that another one's work answered", ["model", "how"]);
  readonly #requestSeconds = this.#histogram("request_seconds", "From a request to its answer", ["route"], shortTimes);
  readonly #queueSeconds = this.#histogram("queue_seconds", "Waiting for a turn", ["model"], shortTimes);
  readonly #inferenceSeconds = this.#histogram(
    "inference_seconds",
    "From its turn to its result",
    ["model", "target"],
    shortTimes,
  );
  readonly #loadSeconds = this.#histogram("load_seconds", "Loading and verifying a model", ["model", "target"], loadTimes);

  readonly #batchRows = this.#histogram("batch_rows", "Texts, or parts of them, in a batch", ["model"], batchSizes);
  readonly #batchTokens = this.#histogram("batch_tokens", "Tokens in a batch, padding left out", ["model"], batchTokens);
  readonly #padding = this.#histogram("padding_ratio", "Share of a batch that is padding", ["model"], shares);

  constructor(service: Service) {
    const { models = {} } = service.settings;
    const { name: shown, written } = defaultModelOf(service.settings);
    this.#names = new Map([
      [written, shown],
      ...Object.entries(models).map(([name, model]) => [referenceOf(model), name] as const),
    ]);
    this.#gauges(service);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** A model that could not be found has no label: clients would decide how many there are. */
  request({ route, status, milliseconds, call, fault }: RequestRecord): void {
    const isKnown = call !== undefined && (call.target !== undefined || call.error === undefined);
    const model = isKnown ? this.#label(call.model) : "";
    this.#requests.inc({ route, model, code: String(status) });
    this.#requestSeconds.observe({ route }, milliseconds / 1000);
    if (fault !== undefined) this.#errors.inc({ code: codeOf(fault) });
  }

  /** A model has worked once for all who shared its answer: how long, is said once. */
  call({ model: name, target, queueMs, inferenceMs, tokens, reuse }: CallRecord): void {
    const model = this.#label(name);
    if (reuse !== undefined) this.#reused.inc({ model, how: reuse });
    if (target === undefined) return;
    this.#queueSeconds.observe({ model }, queueMs / 1000);
    if (reuse === undefined) this.#inferenceSeconds.observe({ model, target }, inferenceMs / 1000);
    if (tokens !== undefined) this.#tokens.inc({ model }, tokens);
  }

  batch({ reference, rows, tokens, paddedTokens }: BatchEvent): void {
    const model = this.#label(reference);
    this.#batchRows.observe({ model }, rows);
    this.#batchTokens.observe({ model }, tokens);
    this.#padding.observe({ model }, paddedTokens === 0 ? 0 : 1 - tokens / paddedTokens);
  }

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

  watchConnections(read: () => ConnectionStats): void {
    this.#gauge("connections_open", "Connections of clients", () => read().open);
    this.#gauge("unread_response_bytes", "Answers that their readers have not taken", () => read().unreadBytes);
    this.#total("connections_refused_total", "Connections refused because of a limit", () => read().refused);
    this.#total(
      "readers_disconnected_total",
      "Connections ended because their reader stalled or was slow",
      () => read().disconnected,
    );
  }

  #gauges(service: Service): void {
    const { admission, runtime } = service;
    this.#gauge("result_cache_bytes", "Memory that kept answers take", () => service.cachedBytes);
    this.#gauge("requests_running", "Requests that run", () => admission.running);
    this.#gauge("requests_waiting", "Requests that wait for a turn", () => admission.waiting);
    this.#gauge("models_loaded", "Models in memory", () => runtime.memory().models.length);
    this.#gauge("resident_memory_bytes", "Memory of the server's own process", () => process.memoryUsage.rss());
    this.#gauge("start_time_seconds", "When the server began, in seconds since 1970", () => performance.timeOrigin / 1000);
    const bytes: Gauge<"device"> = new Gauge({
      name: "inferyard_model_memory_bytes",
      help: "Memory that models hold, by device; memory is the machine's",
      labelNames: ["device"],
      registers: [this.#registry],
      collect: () => {
        bytes.reset();
        for (const model of runtime.memory().models)
          for (const [device, amount] of Object.entries(model.bytes)) bytes.inc({ device }, amount);
      },
    });
    // It records the time from one look to the next, of which the pause between them is none of the loop's delay.
    const delay = monitorEventLoopDelay({ resolution: pauseMs });
    const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - pauseMs / 1000);
    delay.enable();
    const loop: Gauge<"quantile"> = new Gauge({
      name: "inferyard_event_loop_delay_seconds",
      help: "How late the event loop was since the last reading",
      labelNames: ["quantile"],
      registers: [this.#registry],
      collect: () => {
        for (const quantile of [0.5, 0.99, 1])
          loop.set({ quantile: String(quantile) }, delay.count === 0 ? 0 : late(delay.percentile(quantile * 100)));
        delay.reset();
      },
    });
  }

  /** The name of the settings, where there is one. */
  #label(model: string): string {
    return this.#names.get(model) ?? scrub(model);
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `inferyard_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]): Histogram<Label> {
    return new Histogram({ name: `inferyard_${name}`, help, labelNames, buckets, registers: [this.#registry] });
  }

  /** A counter that is counted elsewhere. */
  #total(name: string, help: string, read: () => number): void {
    const counter: Counter = new Counter({
      name: `inferyard_${name}`,
      help,
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        counter.inc(read());
      },
    });
  }

  #gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({
      name: `inferyard_${name}`,
      help,
      registers: [this.#registry],
      collect: () => gauge.set(read()),
    });
  }
}
