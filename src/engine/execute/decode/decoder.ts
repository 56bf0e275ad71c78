/**
 * Decoding with a key-value cache: the executables that all decoding sessions of one model share.
 *
 * Each executable has a cache of fixed capacity. New tokens occupy the last positions of keys and values, the attention mask hides unused positions, and
 * after the run the new rows are moved to the end of the past. This is correct because attention is invariant to the order of keys, and each key already
 * carries its position. It is wrong for models that derive positions from the length of the past; so every executable is verified before it is used, by
 * comparing its logits with those of runs without unused positions.
 */
import { at } from "../../../checked.ts";
import { InferyardError } from "../../../errors.ts";
import type { Tensor, TensorInfo, TensorMap } from "../../../tensor.ts";
import type { Graph, Value } from "../../ir/graph.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";
import type { Executable } from "../executable.ts";
import { decodeInputs, logitsName, withLastLogits } from "./decode-graph.ts";
import { type DecoderInputs, decoderInputs } from "./decoder-inputs.ts";
import { KvCache } from "./kv-cache.ts";

/** The operations of an engine model that its decoder uses. They are called only while the mutex of the model is held. */
export interface DecoderEngine {
  /** The model's memory, which holds the caches. */
  readonly memory: EngineMemory;
  /** Traces the model with inputs of these types. Throws MODEL_UNSUPPORTED when the graph depends on values. */
  trace(values: ReadonlyMap<string, Value>): Graph;
  /** Compiles a graph. `states`: names of the inputs in the state block. */
  compile(graph: Graph, states: readonly string[]): Executable;
  /** Runs an executable and returns copies of the outputs named in the options. */
  run(executable: Executable, inputs: TensorMap, options: DecodeRun): Promise<TensorMap>;
}

/** Options of one run of an executable. */
export interface DecodeRun {
  /** Byte offset of the state block in engine memory. */
  readonly state: number;
  /** Names of the outputs to return. */
  readonly outputs: readonly string[];
  readonly signal?: AbortSignal;
}

/** One run of the decoder, which appends `tokens` to a cache that holds `length` tokens. */
export interface DecodeStep {
  /** The cache that is read and appended to. */
  readonly cache: KvCache;
  /** Tokens in the cache before the run. */
  readonly length: number;
  /** Ids of the new tokens. */
  readonly tokens: readonly number[];
  /** Number of new tokens that the executable takes: at least as many as `tokens`, at most as many as there are unused positions. */
  readonly size: number;
  readonly signal: AbortSignal | undefined;
}

interface CachedExecutable {
  readonly executable: Executable;
  /** Size of the vocabulary. */
  readonly classes: number;
  isChecked: boolean;
}

/** Upper bound on cached executables; the least recently used is evicted first. */
const maxExecutables = 32;
/** Numbers of new tokens that executables are compiled for, besides 1, largest first. From 16 rows on matrix products reach their full speed. */
const chunkSizes = [128, 16] as const;
/** Largest accepted difference between logits, relative to their range. With a tiny GPT-2, rounding differs by 1e-6 of it and wrong positions by 0.5. */
const tolerance = 5e-3;

/**
 * Decodes tokens with one language model: compiles an executable for each number of new tokens, and verifies each
 * before it is used by comparing its logits with those of runs without unused cache positions.
 */
export class Decoder {
  /** The model's inputs by role. */
  readonly inputs: DecoderInputs;
  readonly #engine: DecoderEngine;
  readonly #executables = new Map<string, CachedExecutable>();
  /** Logits after two tokens, computed without unused positions. */
  #reference: Float32Array | undefined;
  /** Runs with several tokens failed verification: tokens are decoded one by one. */
  #isStepwise = false;
  #isDisposed = false;

  constructor(inputs: readonly TensorInfo[], host: DecoderEngine) {
    this.inputs = decoderInputs(inputs);
    this.#engine = host;
  }

  /** Releases all executables. Sessions of this decoder must not be used afterwards. */
  dispose(): void {
    this.#isDisposed = true;
    for (const { executable } of this.#executables.values()) executable.dispose();
    this.#executables.clear();
  }

  /** Creates an empty cache for `capacity` tokens, and compiles and verifies the executable that appends one token to it. */
  async createCache(capacity: number, signal: AbortSignal | undefined): Promise<KvCache> {
    await this.#verify(capacity, 1, signal);
    return new KvCache(this.#engine.memory, this.inputs.states, capacity);
  }

  /**
   * Returns the number of token positions of the next run: 1, 16 or 128. `remaining` is the number of tokens that are still to be appended, `room` the
   * number of unused positions of the cache. Compiles and verifies the executable for that number.
   */
  async chunkSize(capacity: number, remaining: number, room: number, signal: AbortSignal | undefined): Promise<number> {
    const fitting = chunkSizes.filter((each) => each <= room);
    const size = fitting.find((each) => each <= remaining) ?? (remaining > 1 ? fitting.at(-1) : undefined);
    if (size === undefined || this.#isStepwise) return 1;
    await this.#verify(capacity, size, signal);
    return this.#isStepwise ? 1 : size;
  }

  /** Appends tokens to the cache and returns the logits [classes] after the last one. If the step fails, the cache is unchanged. */
  async step(step: DecodeStep): Promise<Float32Array> {
    if (this.#isDisposed) throw new InferyardError("DISPOSED", "the model was disposed");
    const { cache, length, tokens, size, signal } = step;
    const { capacity } = cache;
    const first = capacity - size;
    let kept = length;
    try {
      const { executable } = this.#executableFor(capacity, size);
      const options = { state: cache.start, outputs: [logitsName], ...(signal === undefined ? {} : { signal }) };
      const { [logitsName]: logits } = await this.#engine.run(executable, this.#stepInputs(step), options);
      cache.move(first, length, tokens.length);
      kept = length + tokens.length;
      return logits?.data as Float32Array;
    } finally {
      cache.clear(Math.max(first, kept), capacity);
    }
  }

  /** The input tensors of a step. Padding positions repeat the last token, so that they do not change the range of dynamic quantization of the others. */
  #stepInputs({ cache: { capacity }, length, tokens, size }: DecodeStep): TensorMap {
    const { ids, mask, positions } = this.inputs;
    const first = capacity - size;
    const last = tokens.length - 1;
    const isVisible = (position: number): boolean => position < length || (position >= first && position <= first + last);
    return Object.fromEntries([
      integers(ids, size, (position) => at(tokens, Math.min(position, last))),
      integers(mask, capacity, (position) => (isVisible(position) ? 1 : 0)),
      ...(positions === undefined ? [] : [integers(positions, size, (position) => length + Math.min(position, last))]),
    ]);
  }

  /** Verifies an executable once, on a temporary cache. Throws MODEL_UNSUPPORTED when logits depend on unused positions. */
  async #verify(capacity: number, size: number, signal: AbortSignal | undefined): Promise<void> {
    const entry = this.#executableFor(capacity, size);
    if (entry.isChecked || capacity === 1) return; // a cache with capacity 1 has no unused positions
    const probe = [Math.floor(entry.classes / 3), Math.floor((2 * entry.classes) / 3)];
    this.#reference ??= await this.#referenceLogits(probe, signal);
    const wanted = this.#reference;
    const given = await this.#logitsOver(probe, size === 1 ? [capacity, capacity] : [capacity], size, signal);
    const spread = wanted.reduce((max, each) => Math.max(max, each)) - wanted.reduce((min, each) => Math.min(min, each));
    const worst = wanted.reduce((max, each, index) => Math.max(max, Math.abs(each - (given[index] ?? Number.NaN))), 0);
    if (worst <= tolerance * spread) {
      entry.isChecked = true;
      return;
    }
    if (size > 1) {
      this.#isStepwise = true;
      return;
    }
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      "the model cannot be decoded with a cache of fixed capacity: its logits depend on unused positions, as if it derived positions from the length of the past",
      { remedy: "export it with position_ids as an input", data: { capacity, apart: worst, spread } },
    );
  }

  /** Logits after the probe tokens, from runs whose cache has exactly as many positions as tokens. */
  async #referenceLogits(probe: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    return await this.#logitsOver(
      probe,
      probe.map((_, index) => index + 1),
      1,
      signal,
    );
  }

  /** Logits after all tokens, one run per capacity: a token in each run, and all remaining tokens in the last. */
  async #logitsOver(
    tokens: readonly number[],
    capacities: readonly number[],
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    let createCache: KvCache | undefined;
    let logits = new Float32Array();
    try {
      for (const [index, capacity] of capacities.entries()) {
        if (createCache?.capacity !== capacity) createCache = this.#grownCache(createCache, capacity, index);
        const now = index === capacities.length - 1 ? tokens.slice(index) : tokens.slice(index, index + 1);
        logits = (await this.step({ cache: createCache, length: index, tokens: now, size, signal })) as Float32Array<ArrayBuffer>;
      }
      return logits;
    } finally {
      createCache?.release();
    }
  }

  #grownCache(rows: KvCache | undefined, capacity: number, length: number): KvCache {
    const larger = new KvCache(this.#engine.memory, this.inputs.states, capacity);
    if (rows !== undefined) larger.copyFrom(rows, length);
    rows?.release();
    return larger;
  }

  #executableFor(capacity: number, size: number): CachedExecutable {
    const key = `${capacity} ${size}`;
    const entry = this.#executables.get(key) ?? this.#compileFor(capacity, size);
    this.#executables.delete(key);
    this.#executables.set(key, entry); // the last entry of the map is the most recently used one
    const [oldest] = this.#executables;
    if (this.#executables.size > maxExecutables && oldest !== undefined) {
      const [before, { executable }] = oldest;
      executable.dispose();
      this.#executables.delete(before);
    }
    return entry;
  }

  #compileFor(capacity: number, size: number): CachedExecutable {
    const traced = this.#engine.trace(decodeInputs(this.inputs, capacity, size));
    const graph = withLastLogits(traced, this.inputs);
    const states = this.inputs.states.map(({ info }) => info.name);
    const { shape } = at(graph.outputs, 0).value.type;
    const classes = at(shape, shape.length - 1);
    return { executable: this.#engine.compile(graph, states), classes, isChecked: false };
  }
}

function integers({ name, dataType }: TensorInfo, length: number, valueAt: (position: number) => number): [string, Tensor] {
  const shape = [1, length];
  if (dataType === "int64")
    return [name, { dataType, shape, data: BigInt64Array.from({ length }, (_, position) => BigInt(valueAt(position))) }];
  return [name, { dataType: "int32", shape, data: Int32Array.from({ length }, (_, position) => valueAt(position)) }];
}
