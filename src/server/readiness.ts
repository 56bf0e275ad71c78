/** Whether this server can do its work: its own models are loaded, and a probe input has really run on each. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ErrorCode } from "../errors.ts";
import { runProbe } from "../runtime/verification.ts";
import { type PublicError, publicError } from "./context.ts";
import { namedModel } from "./model-names.ts";
import { publicName } from "./scrub.ts";
import type { Service } from "./service.ts";

/** Whoever asks for the first time waits this long; after it the answer is "not yet". */
const patienceMs = 300;

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

export class Readiness {
  readonly #service: Service;
  readonly #freshMs: number;
  readonly #results = new Map<string, ModelReadiness>();
  #probing: Promise<void> | undefined;
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(service: Service, { freshMs = 10_000 }: ReadinessOptions = {}) {
    this.#service = service;
    this.#freshMs = freshMs;
  }

  /** What is known now. A probe that is due runs behind it: one that waits for a busy model must not make the server look dead. */
  async report(): Promise<ReadinessReport> {
    const { draining } = this.#service;
    if (!draining && performance.now() - this.#probedAt > this.#freshMs) {
      const probing = this.#probe();
      if (this.#results.size === 0) await Promise.race([probing, sleep(patienceMs, undefined, { ref: false })]);
    }
    const models = this.#names().map(
      (model) => this.#results.get(model) ?? { model: publicName(model), ready: false, reason: "it is still loading" },
    );
    return { ready: !draining && models.every(({ ready }) => ready), draining, models };
  }

  /** Loads the server's own models and runs a probe input on each. The first that fails is thrown. */
  async warm(): Promise<void> {
    await Promise.all(this.#names().map((name) => this.#run(name)));
    this.#probedAt = performance.now();
  }

  #names(): string[] {
    const { defaultModel = "builtin", preload = [] } = this.#service.settings;
    return [...new Set([defaultModel, ...preload])];
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
    try {
      const { reference, wish } = await this.#find(model);
      await runtime.use(reference, { ...wish, signal: ending }, async (handle) => runProbe(handle, handle.manifest, ending));
      this.#results.set(model, { model: publicName(model), ready: true });
    } catch (error) {
      const { code, message }: PublicError = publicError(error);
      this.#results.set(model, { model: publicName(model), ready: false, code, reason: message });
      throw error;
    }
  }

  #find(name: string): ReturnType<typeof namedModel> {
    return namedModel(name, undefined, this.#service.settings, true, async () => []);
  }
}
