/** Tasks on encoders, the models that read texts. Each task is imported at its first use, so that a browser page downloads only the tasks it needs. */
import { LruMap } from "../concurrency/lru-map.ts";
import { omitUndefined } from "../contract/checked.ts";
import type { Manifest } from "../models/manifest.ts";
import { unrefTimeout } from "../platform/event-loop.ts";
import { ModelHandle } from "../runtime/model-handle.ts";
import type { ModelRuntime } from "../runtime/model-runtime.ts";
import type { ModelOptions, RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import type { DynamicBatcher } from "../tasks/batching/dynamic-batcher.ts";
import type { Encoder } from "../tasks/batching/run-encodings.ts";
import { requireServed } from "../tasks/batching/unloaded-encoder.ts";
import type { Task, TaskImplementation, TokenizerOnly } from "../tasks/definition/task.ts";
import { textSettings } from "../tasks/encoding/text-settings.ts";
import type { TokenizerCache } from "../tasks/encoding/tokenizer-cache.ts";
import type { TextWorkers } from "../tasks/text-threads/text-workers.ts";
import { type HeldModelCall, holdModel, refuseUnknownOptions, runTimed } from "./model-call.ts";
import { type ModelRequest, modelOptions, refuseLoadOptions, refusePlacementOptions } from "./request-options.ts";
import type { TaskRun } from "./task-requests.ts";

/**
 * Milliseconds for which the tokenizer of an unloaded model is cached. Reading one takes about 0.1 s; a changed file is read
 * again after this time.
 */
const tokenizerCacheMs = 60_000;

/** References of which it is known whether their models embed pictures. */
const maxKnownReferences = 256;

type CachedTokenizer = Pick<TokenizerOnly, "text" | "tokenizer">;

/** Runs tasks on the models of one runtime that read texts. */
export class EncoderTasks {
  readonly #runtime: ModelRuntime;
  readonly #tokenizers: TokenizerCache;
  readonly #settings: Pick<RuntimeSettings, "shareBatches" | "onBatch">;
  readonly #textReaders: TextWorkers | undefined;
  /** One for each loaded model. */
  readonly #batchPools = new WeakMap<ModelHandle["model"], DynamicBatcher>();
  /** Tokenizers of models that were used for nothing else. */
  readonly #tokenizerCache = new Map<string, CachedTokenizer>();
  /** Whether the model of a reference embeds pictures, too; of the references used last. */
  readonly #readsPictures = new LruMap<boolean>(maxKnownReferences);

  /** `textReaders`: threads that tokenize long texts. Default: the calling thread does it. */
  constructor(
    runtime: ModelRuntime,
    tokenizers: TokenizerCache,
    settings: Pick<RuntimeSettings, "shareBatches" | "onBatch">,
    textReaders: TextWorkers | undefined,
  ) {
    this.#runtime = runtime;
    this.#tokenizers = tokenizers;
    this.#settings = settings;
    this.#textReaders = textReaders;
  }

  /**
   * Whether a model embeds texts and pictures in one space, by the manifest. The manifest of a reference is read once while it is among the last
   * 256 that were used: nothing is known of a model that changes meanwhile.
   */
  async readsPictures({ model, ...request }: ModelRequest): Promise<boolean> {
    if (model === undefined || model === "builtin") return false;
    if (model instanceof ModelHandle) return embedsPictures(model.manifest);
    const known = this.#readsPictures.get(model);
    if (known !== undefined) return known;
    const reads = embedsPictures(await this.#runtime.manifest(model, modelOptions(request)));
    this.#readsPictures.set(model, reads);
    return reads;
  }

  /** Runs a task on the model of a request. */
  async perform<Input, Options extends object, Result>(
    task: Task<Input, Options, Result>,
    input: Input,
    request: Options & ModelRequest,
  ): Promise<Result & TaskRun> {
    const { optionNames, check, run } = await loadOnce(task);
    const call = { verb: task.verb, optionNames, request: { model: task.defaultModel, ...request } };
    refuseUnknownOptions(call);
    await check?.(request);
    return this.runOnModel(call, (encoder) => run(encoder, input, request));
  }

  /** Runs a task on the tokenizer of a request's model. Undefined if the options need the model itself. */
  async performOnTokenizer<Input, Options extends object, Result>(
    task: Task<Input, Options, Result>,
    input: Input,
    request: Options & ModelRequest,
  ): Promise<(Result & Pick<TaskRun, "model" | "milliseconds">) | undefined> {
    const { optionNames, tokenizerCall } = await loadOnce(task);
    const { model = task.defaultModel, ...given }: ModelRequest = request;
    refuseUnknownOptions({ verb: task.verb, optionNames, request });
    const call = tokenizerCall?.(request);
    if (call === undefined || model === undefined) return undefined;
    const placement = modelOptions(given);
    if (model instanceof ModelHandle) refuseLoadOptions(placement);
    else refusePlacementOptions(placement, call);
    const cached = await this.#getTokenizer(model, placement);
    const started = performance.now();
    const result = await call.run({ ...cached, threads: this.#textReaders }, input);
    const reference = model instanceof ModelHandle ? model.reference : model;
    return { ...result, model: reference, milliseconds: performance.now() - started };
  }

  /** Runs work on the model of a call. The time until its tokenizer was read is not counted. */
  async runOnModel<Result>(call: HeldModelCall, work: (encoder: Encoder) => Promise<Result>): Promise<Result & TaskRun> {
    const { handle, release } = await holdModel(this.#runtime, call, {
      requireModel: (manifest, variants) => requireServed(manifest, variants, work),
      whileLoading: ({ text }) => {
        if (text !== undefined) this.#tokenizers.get(text).catch(() => {}); // `#encoder` throws what reading it throws
      },
    });
    try {
      const encoder = await this.#encoder(handle);
      return await runTimed(handle, () => work(encoder));
    } finally {
      await release();
    }
  }

  /** The tokenizer of a model, which is not loaded for it. The tokenizer of a model given by its reference is cached for a while. */
  async #getTokenizer(model: string | ModelHandle, options: ModelOptions): Promise<CachedTokenizer> {
    if (model instanceof ModelHandle) return this.#readTokenizer(model.manifest);
    const key = JSON.stringify([model, options.variant]);
    const known = this.#tokenizerCache.get(key);
    if (known !== undefined) return known;
    const read = await this.#readTokenizer(await this.#runtime.manifest(model, options));
    this.#tokenizerCache.set(key, read);
    unrefTimeout(() => this.#tokenizerCache.delete(key), tokenizerCacheMs);
    return read;
  }

  async #readTokenizer(manifest: Manifest): Promise<CachedTokenizer> {
    const text = textSettings(manifest);
    return { text, tokenizer: await this.#tokenizers.get(text) };
  }

  async #encoder(handle: ModelHandle): Promise<Encoder> {
    const { tokenizer } = await this.#readTokenizer(handle.manifest);
    const { manifest, inputs, outputs, reference, target } = handle;
    const { onBatch: tell } = this.#settings;
    const onBatch: Encoder["onBatch"] = tell && ((batch) => tell({ reference, target, ...batch }));
    return {
      manifest,
      tokenizer,
      inputs,
      outputs,
      loadModules: (modules) => this.#tokenizers.getModules(modules),
      run: (tensors, options) => handle.run(tensors, options),
      replicas: () => handle.replicas(),
      ...omitUndefined({ onBatch, runShared: await this.#runShared(handle) }),
    };
  }

  /** Runs batches that calls on one model share. Undefined if they do not: only servers share batches. */
  async #runShared({ model, schedulingKey }: ModelHandle): Promise<Encoder["runShared"]> {
    if (this.#settings.shareBatches !== true) return undefined;
    const known = this.#batchPools.get(model);
    if (known !== undefined) return known.forClient(schedulingKey);
    const { DynamicBatcher } = await import("../tasks/batching/dynamic-batcher.ts");
    const pool = this.#batchPools.get(model) ?? new DynamicBatcher(model);
    this.#batchPools.set(model, pool);
    return pool.forClient(schedulingKey);
  }
}

/** Implementations by task: the import of a module that was imported takes 20 us. */
const implementations = new WeakMap<object, Promise<unknown>>();

/** The implementation of a task, with the names of its options. It is imported at the first call. */
function loadOnce<Input, Options extends object, Result>(
  task: Task<Input, Options, Result>,
): Promise<TaskImplementation<Input, Options, Result> & { readonly optionNames: readonly string[] }> {
  const known = implementations.get(task);
  // A task is kept with its own implementation.
  if (known !== undefined) return known as ReturnType<typeof loadOnce<Input, Options, Result>>;
  const loading = task.load().then((loaded) => ({ ...loaded, optionNames: Object.keys(loaded.options) }));
  implementations.set(task, loading);
  loading.catch(() => implementations.delete(task)); // a page may have lost its connection
  return loading;
}

/** Whether a manifest is of a model with texts and pictures in one space: by its task, or by a graph that takes both. */
export function embedsPictures({ tasks, variants }: Manifest): boolean {
  const takesBoth = variants.some(({ signature }) => {
    const names = signature?.inputs.map(({ name }) => name) ?? [];
    return names.includes("pixel_values") && names.includes("input_ids");
  });
  return takesBoth || tasks.includes("zero-shot-image-classification");
}
