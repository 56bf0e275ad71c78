/** Readiness of the server: its own models are loaded, and a probe has run on each. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, InferyardError } from "../../contract/errors.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import { usualKind } from "../../models/language-tasks.ts";
import { probeLanguageModel } from "../../runtime/loading/language-verification.ts";
import { runProbe } from "../../runtime/loading/verification.ts";
import { type PublicError, publicError } from "../http/public-error.ts";
import { resolveModel } from "./model-names.ts";
import { publicName } from "../http/scrub.ts";
import type { Service } from "./service.ts";
import { serverDefaults } from "../../settings/server-options.ts";

/** How long the first report waits for the first probe before it says that the models are still loading. */
const firstReportWaitMs = 300;
/** A probe may take so many milliseconds though requests may not: a server with a short `requestTimeout` must not end because its machine is busy while it starts. */
const minProbeMs = 5_000;
/** A model is not ready while one of its runs takes longer than this fraction of `requestTimeout`: other requests wait for it. */
const stalledFraction = 0.25;

/** Whether one of the server's own models can run. */
export interface ModelReadiness {
  /** Name of the model in the settings; of a path, the last part. */
  readonly model: string;
  readonly ready: boolean;
  /** Why it is not ready, as a sentence and as an error code. */
  readonly reason?: string;
  readonly code?: ErrorCode;
}

/** Whether the server can serve requests. */
export interface ReadinessReport {
  readonly ready: boolean;
  /** Whether the server is shutting down. */
  readonly draining: boolean;
  /** The default model and the preloaded ones. Models that are loaded on first use do not count. */
  readonly models: readonly ModelReadiness[];
}

/** Options of a `Readiness`. */
export interface ReadinessOptions {
  /** Maximum age in milliseconds of a result before the next report starts a new probe. Default: 10,000. */
  readonly freshMs?: number;
}

type NotReady = Required<Pick<ModelReadiness, "code" | "reason">>;

/** Probes the server's own models and reports whether they can run. */
export class Readiness {
  readonly #service: Service;
  readonly #freshMs: number;
  readonly #timeoutMs: number;
  /** Maximum time of a probe in milliseconds. */
  readonly #probeMs: number;
  readonly #results = new Map<string, ModelReadiness>();
  /** What each model is loaded as. */
  readonly #kinds = new Map<string, ReturnType<typeof usualKind>>();
  #probing: Promise<void> | undefined;
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(service: Service, { freshMs = 10_000 }: ReadinessOptions = {}) {
    this.#service = service;
    this.#freshMs = freshMs;
    this.#timeoutMs = parseDuration(service.settings.requestTimeout ?? serverDefaults.requestTimeout);
    this.#probeMs = Math.max(this.#timeoutMs, minProbeMs);
  }

  /** Marks a model as not ready when its process hung or is not restarted for now. The next report starts a new probe. */
  onEvent(event: RuntimeEvent): void {
    if (event.type !== "died" || (event.hung !== true && !event.crashLoop)) return;
    const { code, message } = publicError(new InferyardError("HOST_DIED", event.reason));
    void this.#namesFor(event.reference).then(
      (names) => {
        for (const name of names) this.#fail(name, { code, reason: message });
        if (names.length > 0) this.#probedAt = Number.NEGATIVE_INFINITY;
      },
      () => {},
    ); // an unknown name fails in the probe
  }

  /** The current state. A probe that is due runs in the background, so that a busy model does not make the server look dead. */
  async report(): Promise<ReadinessReport> {
    const { draining } = this.#service;
    if (!draining && performance.now() - this.#probedAt > this.#freshMs) {
      const probing = this.#probe();
      if (this.#results.size === 0) await Promise.race([probing, sleep(firstReportWaitMs, undefined, { ref: false })]);
    }
    const models = await Promise.all(this.#names().map((name) => this.#getResult(name)));
    return { ready: !draining && models.every(({ ready }) => ready), draining, models };
  }

  /** Loads the server's own models and runs a probe on each. Rejects with the first failure; a model whose process dies is probed twice. */
  async warmUp(): Promise<void> {
    await Promise.all(
      this.#names().map((name) =>
        this.#run(name).catch(async (error: unknown) => {
          if (!(error instanceof InferyardError) || error.code !== "HOST_DIED") throw error;
          await this.#run(name);
        }),
      ),
    );
    this.#probedAt = performance.now();
  }

  #names(): string[] {
    const { defaultModel = "builtin", preload = [] } = this.#service.settings;
    return [...new Set([defaultModel, ...preload])];
  }

  async #getResult(name: string): Promise<ModelReadiness> {
    const result = this.#results.get(name) ?? { model: publicName(name), ready: false, reason: "it is still loading" };
    if (!result.ready) return result;
    const stalledMs = await this.#stalledMs(name);
    if (stalledMs <= this.#timeoutMs * stalledFraction) return result;
    const reason = `a run has taken ${Math.round(stalledMs / 1000)} s so far, and other requests wait for it`;
    return { model: publicName(name), ready: false, code: "REQUEST_TIMEOUT", reason };
  }

  /** Milliseconds since the current run of the model began; 0 if none runs. */
  async #stalledMs(name: string): Promise<number> {
    const { reference, constraints } = await this.#find(name);
    const options = { ...constraints, kind: this.#kinds.get(name) ?? "tensor" };
    const running = this.#service.runtime.useLoaded(reference, options, async (handle) => handle.runningMs);
    return (await running.catch(() => 0)) ?? 0; // rejects while the runtime is disposed of
  }

  async #namesFor(reference: string): Promise<string[]> {
    const found = this.#names().map(async (name) => ((await this.#find(name)).reference === reference ? [name] : []));
    return (await Promise.all(found)).flat();
  }

  #fail(model: string, why: NotReady): void {
    this.#results.set(model, { model: publicName(model), ready: false, ...why });
  }

  #probe(): Promise<void> {
    this.#probing ??= this.#probeAll().finally(() => {
      this.#probing = undefined;
      this.#probedAt = performance.now();
    });
    return this.#probing;
  }

  async #probeAll(): Promise<void> {
    await Promise.allSettled(this.#names().map((name) => this.#runAgain(name)));
  }

  /** Probes a model again, unless it was ready and has left memory since, because it was idle or an administrator unloaded it. */
  async #runAgain(name: string): Promise<void> {
    const { reference } = await this.#find(name);
    const isGone = (): boolean => this.#service.runtime.memory().models.every((model) => model.reference !== reference);
    if (this.#results.get(name)?.ready === true && isGone()) return;
    await this.#run(name);
  }

  async #run(model: string): Promise<void> {
    const { runtime, shutdown } = this.#service;
    const timeout = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      const { reference, constraints } = await this.#find(model);
      const kind = usualKind(await runtime.manifest(reference, { signal: shutdown }));
      this.#kinds.set(model, kind);
      await runtime.use(reference, { ...constraints, kind, signal: shutdown }, async (handle) => {
        timer = setTimeout(() => timeout.abort(), this.#probeMs); // bounds the probe, not the load before it
        if (kind === "language") return probeLanguageModel(handle.language, AbortSignal.any([shutdown, timeout.signal]));
        return runProbe(handle, handle.manifest, AbortSignal.any([shutdown, timeout.signal]));
      });
      this.#results.set(model, { model: publicName(model), ready: true });
    } catch (thrown) {
      const error = timeout.signal.aborted ? this.#timeoutError() : thrown;
      const { code, message }: PublicError = publicError(error);
      this.#fail(model, { code, reason: message });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #timeoutError(): InferyardError {
    return new InferyardError("REQUEST_TIMEOUT", `a probe took longer than ${this.#probeMs} ms`, {
      remedy: "raise requestTimeout if the model is slow",
    });
  }

  #find(name: string): ReturnType<typeof resolveModel> {
    return resolveModel(name, undefined, this.#service.settings, true, async () => []);
  }
}
