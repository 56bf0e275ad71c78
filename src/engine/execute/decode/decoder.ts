/**
 * Decoding with a cache: what the sessions of one model share.
 *
 * A program has a past of fixed capacity. The new tokens stand in the last places of the keys and values, a mask hides the places that hold no
 * token, and after the run their rows are moved to where the past ends: attention does not ask in which order keys stand, and each carries its
 * position already. A model of which this does not hold, because it counts the past, is found out by comparing every program with one that has
 * no empty places before its answers are believed.
 */
import { InferyardError } from "../../../errors.ts";
import type { Tensor, TensorInfo, TensorMap } from "../../../tensor.ts";
import type { Graph, Value } from "../../ir/graph.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";
import type { Executable } from "../executable.ts";
import { decodeInputs, logitsName, withLastLogits } from "./decode-graph.ts";
import { type DecoderInputs, decoderInputs } from "./decoder-inputs.ts";
import { KvCache } from "./kv-cache.ts";

/** What a decoder asks of the engine model it belongs to. It asks within a turn of its own only: see `Turns`. */
export interface DecoderEngine {
  readonly memory: EngineMemory;
  /** The model for inputs of these types, as its file spells it out. MODEL_UNSUPPORTED where it has no program. */
  trace(values: ReadonlyMap<string, Value>): Graph;
  /** `states`: inputs that lie in a block of states. */
  compile(graph: Graph, states: readonly string[]): Executable;
  run(program: Executable, inputs: TensorMap, options: DecodeRun): Promise<TensorMap>;
}

export interface DecodeRun {
  /** Where the block of states starts. */
  readonly state: number;
  readonly outputs: readonly string[];
  readonly signal?: AbortSignal;
}

/** New tokens of one run, behind `length` others. */
export interface DecodeStep {
  readonly cache: KvCache;
  readonly length: number;
  readonly tokens: readonly number[];
  /** New tokens of the program: as many as there are, or more, and no more than the empty places. */
  readonly size: number;
  readonly signal: AbortSignal | undefined;
}

interface CachedExecutable {
  readonly executable: Executable;
  /** Tokens the model tells apart. */
  readonly classes: number;
  isChecked: boolean;
}

/** Programs that are kept; the one that was not used for longest goes first. */
const maxExecutables = 32;
/** Tokens of one run, largest first. Few sizes, since each is a program; from 16 rows on a product computes as fast as with many. */
const chunkSizes = [128, 16] as const;
/** How far logits may be apart, relative to the distance of the largest from the smallest: of a tiny GPT-2 rounding is 1e-6 of it, and counted positions are 0.5. */
const tolerance = 5e-3;

export class Decoder {
  readonly inputs: DecoderInputs;
  readonly #engine: DecoderEngine;
  readonly #executables = new Map<string, CachedExecutable>();
  /** Logits after two tokens, without an empty place. */
  #reference: Float32Array | undefined;
  /** Several tokens at once do not give what they give one by one. */
  #isStepwise = false;
  #isDisposed = false;

  constructor(inputs: readonly TensorInfo[], host: DecoderEngine) {
    this.inputs = decoderInputs(inputs);
    this.#engine = host;
  }

  /** Its sessions cannot be used any more. */
  dispose(): void {
    this.#isDisposed = true;
    for (const { executable } of this.#executables.values()) executable.dispose();
    this.#executables.clear();
  }

  /** An empty cache, whose program for one token is there and was found to be right. */
  async createCache(capacity: number, signal: AbortSignal | undefined): Promise<KvCache> {
    await this.#verify(capacity, 1, signal);
    return new KvCache(this.#engine.memory, this.inputs.states, capacity);
  }

  /** Tokens of the next run, where so many remain and so many places are empty. Its program is there. */
  async chunkSize(capacity: number, remaining: number, room: number, signal: AbortSignal | undefined): Promise<number> {
    const fitting = chunkSizes.filter((each) => each <= room);
    const size = fitting.find((each) => each <= remaining) ?? (remaining > 1 ? fitting.at(-1) : undefined);
    if (size === undefined || this.#isStepwise) return 1;
    await this.#verify(capacity, size, signal);
    return this.#isStepwise ? 1 : size;
  }

  /** Appends tokens to the cache and gives the logits after the last. Where it fails, the cache is as it was. */
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

  /** Places beyond the last token repeat it, position and all: hidden from all others, they change nothing, not even the range of what is quantised. */
  #stepInputs({ cache: { capacity }, length, tokens, size }: DecodeStep): TensorMap {
    const { ids, mask, positions } = this.inputs;
    const first = capacity - size;
    const last = tokens.length - 1;
    const isSeen = (place: number): boolean => place < length || (place >= first && place <= first + last);
    return Object.fromEntries([
      integers(ids, size, (place) => tokens[Math.min(place, last)] ?? 0),
      integers(mask, capacity, (place) => (isSeen(place) ? 1 : 0)),
      ...(positions === undefined ? [] : [integers(positions, size, (place) => length + Math.min(place, last))]),
    ]);
  }

  /** A program is compared once, on a cache of its own that is given back. */
  async #verify(capacity: number, size: number, signal: AbortSignal | undefined): Promise<void> {
    const entry = this.#executableFor(capacity, size);
    if (entry.isChecked || capacity === 1) return; // one place is never empty
    const probe = [Math.floor(entry.classes / 3), Math.floor((2 * entry.classes) / 3)];
    this.#reference ??= await this.#referenceLogits(probe, signal);
    const wanted = this.#reference;
    const given = await this.#logitsOver(probe, size === 1 ? [capacity, capacity] : [capacity], size, signal);
    const spread = wanted.reduce((most, each) => Math.max(most, each)) - wanted.reduce((least, each) => Math.min(least, each));
    const worst = wanted.reduce((most, each, index) => Math.max(most, Math.abs(each - (given[index] ?? Number.NaN))), 0);
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
      "the model cannot be decoded with a cache of fixed capacity: its logits change with the empty places, as if it counted the past",
      { remedy: "export it with position_ids as an input", data: { capacity, apart: worst, spread } },
    );
  }

  /** Logits after the probe where every run has exactly the past it takes. */
  async #referenceLogits(probe: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    return await this.#logitsOver(
      probe,
      probe.map((_, index) => index + 1),
      1,
      signal,
    );
  }

  /** Logits after all tokens, in runs over caches of these capacities, one after the other: a token each, and all that are left in the last. */
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
    this.#executables.set(key, entry); // the newest stands last
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
    const classes = graph.outputs[0]?.value.type.shape.at(-1) ?? 0;
    return { executable: this.#engine.compile(graph, states), classes, isChecked: false };
  }
}

function integers({ name, dataType }: TensorInfo, length: number, at: (place: number) => number): [string, Tensor] {
  const shape = [1, length];
  if (dataType === "int64")
    return [name, { dataType, shape, data: BigInt64Array.from({ length }, (_, place) => BigInt(at(place))) }];
  return [name, { dataType: "int32", shape, data: Int32Array.from({ length }, (_, place) => at(place)) }];
}
