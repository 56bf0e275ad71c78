/** Whether this server can do its work: its own models are loaded, and a probe input has really run on each. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, InferyardError } from "../../errors.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import { runProbe } from "../../runtime/loading/verification.ts";
import { type PublicError, publicError } from "../http/context.ts";
import { resolveModel } from "./model-names.ts";
import { publicName } from "../http/scrub.ts";
import type { Service } from "./service.ts";
import { serverDefaults } from "../../settings/server-section.ts";

/** Whoever asks for the first time waits this long; after it the answer is "not yet". */
const firstReportWaitMs = 300;
/** A model is not ready while one run takes longer than this share of `requestTimeout`: it answers nobody. */
const stalledFraction = 0.25;

export interface ModelReadiness {
  /** As the settings name it; of a path the last part. */
  readonly model: string;
  readonly ready: boolean;
  /** Why not. */
  readonly reason?: string;
  readonly code?: ErrorCode;
}

export interface ReadinessReport {
  readonly ready: boolean;
  readonly draining: boolean;
  /** The default model and those that are preloaded; what is loaded when it is first asked for is not waited for. */
  readonly models: readonly ModelReadiness[];
}

export interface ReadinessOptions {
  /** A result is this old at most when a probe is begun anew. Default: 10 s. */
  readonly freshMs?: number;
}

type NotReady = Required<Pick<ModelReadiness, "code" | "reason">>;

export class Readiness {
  readonly #service: Service;
  readonly #freshMs: number;
  /** Milliseconds. */
  readonly #timeoutMs: number;
  readonly #results = new Map<string, ModelReadiness>();
  #probing: Promise<void> | undefined;
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(service: Service, { freshMs = 10_000 }: ReadinessOptions = {}) {
    this.#service = service;
    this.#freshMs = freshMs;
    this.#timeoutMs = parseDuration(service.settings.requestTimeout ?? serverDefaults.requestTimeout);
  }

  /** A model whose process hung, or is left alone, is not ready until a probe has run; the next report begins one. */
  onEvent(event: RuntimeEvent): void {
    if (event.type !== "died" || (event.hung !== true && !event.resting)) return;
    const { code, message } = publicError(new InferyardError("HOST_DIED", event.reason));
    void this.#namesFor(event.reference).then(
      (names) => {
        for (const name of names) this.#fail(name, { code, reason: message });
        if (names.length > 0) this.#probedAt = Number.NEGATIVE_INFINITY;
      },
      () => {},
    ); // a name that is none is told by the probe
  }

  /** What is known now. A probe that is due runs behind it: one that waits for a busy model must not make the server look dead. */
  async report(): Promise<ReadinessReport> {
    const { draining } = this.#service;
    if (!draining && performance.now() - this.#probedAt > this.#freshMs) {
      const probing = this.#probe();
      if (this.#results.size === 0) await Promise.race([probing, sleep(firstReportWaitMs, undefined, { ref: false })]);
    }
    const models = await Promise.all(this.#names().map((name) => this.#resultOf(name)));
    return { ready: !draining && models.every(({ ready }) => ready), draining, models };
  }

  /** Loads the server's own models and runs a probe input on each. The first that fails is thrown. */
  async warmUp(): Promise<void> {
    await Promise.all(this.#names().map((name) => this.#run(name)));
    this.#probedAt = performance.now();
  }

  #names(): string[] {
    const { defaultModel = "builtin", preload = [] } = this.#service.settings;
    return [...new Set([defaultModel, ...preload])];
  }

  async #resultOf(name: string): Promise<ModelReadiness> {
    const result = this.#results.get(name) ?? { model: publicName(name), ready: false, reason: "it is still loading" };
    if (!result.ready) return result;
    const stalledMs = await this.#stalledMs(name);
    if (stalledMs <= this.#timeoutMs * stalledFraction) return result;
    const reason = `a run has taken ${Math.round(stalledMs / 1000)} s so far, and no other is answered meanwhile`;
    return { model: publicName(name), ready: false, code: "REQUEST_TIMEOUT", reason };
  }

  /** Time in milliseconds since the run under way began, of the model in memory; 0 where there is none. */
  async #stalledMs(name: string): Promise<number> {
    const { reference, constraints } = await this.#find(name);
    const running = this.#service.runtime.useLoaded(reference, constraints, async (handle) => handle.runningMs);
    return (await running.catch(() => 0)) ?? 0; // the runtime ends
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

  /** A model that was ready and has left memory since, because nobody used it or an administrator unloaded it, is not called back. */
  async #runAgain(name: string): Promise<void> {
    const { reference } = await this.#find(name);
    const left = (): boolean => this.#service.runtime.memory().models.every((model) => model.reference !== reference);
    if (this.#results.get(name)?.ready === true && left()) return;
    await this.#run(name);
  }

  async #run(model: string): Promise<void> {
    const { runtime, ending } = this.#service;
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      const { reference, constraints } = await this.#find(model);
      await runtime.use(reference, { ...constraints, signal: ending }, async (handle) => {
        timer = setTimeout(() => late.abort(), this.#timeoutMs); // loading takes its time; a loaded model has that of a request
        return runProbe(handle, handle.manifest, AbortSignal.any([ending, late.signal]));
      });
      this.#results.set(model, { model: publicName(model), ready: true });
    } catch (thrown) {
      const error = late.signal.aborted ? this.#timeoutError() : thrown;
      const { code, message }: PublicError = publicError(error);
      this.#fail(model, { code, reason: message });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #timeoutError(): InferyardError {
    return new InferyardError("REQUEST_TIMEOUT", `a probe input was not answered within ${this.#timeoutMs} ms`, {
      remedy: "raise requestTimeout, if the model is only slow",
    });
  }

  #find(name: string): ReturnType<typeof resolveModel> {
    return resolveModel(name, undefined, this.#service.settings, true, async () => []);
  }
}
