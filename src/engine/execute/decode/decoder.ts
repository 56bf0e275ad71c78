/**
 * Decoding with key-value caches: the executables that all sequences of one model share.
 *
 * Each executable has caches of fixed capacity. New tokens occupy the last positions of keys and values, the attention mask hides unused positions, and after
 * the run the new rows are moved to the end of the past. This is correct because attention is invariant to the order of keys, and each key already carries its
 * position. It is wrong for models that derive positions from the length of the past; so every executable is verified before it is used, by comparing its
 * logits with logits of runs without unused positions. Prompts are read in chunks, of which the last is padded; where that changes logits, chunks are filled,
 * and the rest is read token by token.
 *
 * Several sequences with caches of one capacity are decoded in one run, which reads the weights once. Each has its own cache, which the kernels of
 * attention read one after the other. A model gets batches only if they give each sequence the logits that it gets alone: bit for bit, or within a tolerance
 * where the compiler orders sums by the shape of a batch (`isBatchExact`). This is verified as well.
 */
import { at } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { LruMap } from "../../../concurrency/lru-map.ts";
import { type Tensor, type TensorInfo, type TensorMap, zeros } from "../../../contract/tensor.ts";
import { decodeInputs, type DecodeSizes, withLastLogits } from "./decode-graph.ts";
import type { DecoderCache, DecoderEngine, DecoderProgram, SourceStates } from "./decoder-engine.ts";
import { batchFor, type DecoderSizes } from "./decoder-sizes.ts";
import { type CacheType, type DecoderInputs, decoderInputs, hasFreeBatch, sourceMaskName, sourceType } from "./decoder-inputs.ts";

/** New tokens of one sequence. */
export interface DecoderRow {
  /** The cache that is read and appended to. */
  readonly cache: DecoderCache;
  /** Tokens in the cache before the run. */
  readonly length: number;
  /** Ids of the new tokens. */
  readonly tokens: readonly number[];
  /** States of the sequence's source; undefined for decoders without one. */
  readonly source: SourceStates | undefined;
}

/** One run of the decoder. */
export interface DecoderRun {
  /** At most `Decoder.maxBatch` sequences, each with a cache of its own; all caches have the same capacity, and all sources the same length. */
  readonly rows: readonly DecoderRow[];
  /** Number of new tokens that the executable takes: at least as many as each row has, at most as many as each cache has unused positions. */
  readonly size: number;
  /** Number of last positions whose logits are returned: 1, or `size`. */
  readonly logits: number;
  readonly signal: AbortSignal | undefined;
}

interface CachedExecutable {
  readonly program: DecoderProgram;
  /** Size of the vocabulary. */
  readonly classes: number;
  isVerified: boolean;
}

/** Upper bound on cached executables; the least recently used is evicted first. */
const maxExecutables = 48;
/** The number of new tokens of executables where chunks are not padded. */
const filledChunk = 16;
/** A number for a few tokens whose logits are all wanted: a run of 8 takes half of the time of one of 16. */
const checkedChunk = 8;
/** Largest accepted difference between logits, relative to their range. With a tiny GPT-2, rounding differs by 1e-6 of it and wrong positions by 0.5. */
const tolerance = 5e-3;
/** The same for a sequence alone and with others, which differ in the order of sums, and in what caches in float16 make of it. */
const batchTolerance = 1e-3;

const noSource = { tokens: 0 };

/**
 * Decodes tokens with one language model: compiles an executable for each number of sequences and of new tokens, and verifies each before it is used.
 */
export class Decoder {
  /** The model's inputs by role. */
  readonly inputs: DecoderInputs;
  /** Whether the decoder was disposed. */
  isDisposed: boolean = false;
  readonly #engine: DecoderEngine;
  readonly #cacheType: CacheType;
  readonly #executables = new LruMap<CachedExecutable>(maxExecutables, ({ program }) => program.dispose());
  /** Logits after two tokens, computed without unused positions, by the length of the source. */
  readonly #references = new Map<number, Float32Array>();
  /** Whether runs with several tokens must not be padded: attention that keeps its cache itself finds positions by counting visible tokens. */
  #fillsChunks = false;
  /** Whether runs with several tokens failed verification: then tokens are decoded one by one. */
  #isStepwise = false;
  /** Whether several sequences can be decoded in one run. */
  #isBatched: boolean;

  constructor(inputs: readonly TensorInfo[], cacheType: CacheType, engine: DecoderEngine) {
    this.inputs = decoderInputs(inputs, cacheType);
    this.#cacheType = cacheType;
    this.#engine = engine;
    this.#isBatched = hasFreeBatch(this.inputs);
  }

  /** The sizes that executables are compiled for. */
  get sizes(): DecoderSizes {
    return this.#engine.sizes;
  }

  /** Maximum number of sequences of one run. */
  get maxBatch(): number {
    return this.sizes.batches.at(-1) ?? 1;
  }

  /** Releases all executables. Sequences of this decoder must not be used afterwards. */
  dispose(): void {
    this.isDisposed = true;
    for (const { program } of this.#executables.values()) program.dispose();
    this.#executables.clear();
  }

  /**
   * Compiles and verifies the executable that appends one token to a cache of this capacity, with a source of this many tokens, and returns the size of the
   * vocabulary.
   */
  async prepare(capacity: number, source: number, signal: AbortSignal | undefined): Promise<number> {
    const sizes = { capacity, size: 1, batch: 1, logits: 1, source };
    await this.#verify(sizes, signal);
    return this.#executableFor(sizes).classes;
  }

  /** Creates an empty cache for `capacity` tokens, after `prepare`. */
  async createCache(capacity: number, source: number, signal: AbortSignal | undefined): Promise<DecoderCache> {
    await this.prepare(capacity, source, signal);
    return this.#engine.createCache(this.inputs.states, capacity);
  }

  /**
   * Returns the number of token positions of the next run: 1 or one of the engine's chunks, or 8 for a few tokens whose logits are wanted (`areChecked`), such
   * as draft tokens. `remaining` is the number of tokens to append, `room` the number of unused positions of the cache. Compiles and verifies the executable
   * for that number.
   */
  async chunkSize(
    { capacity, source }: Pick<DecodeSizes, "capacity" | "source">,
    { remaining, room, areChecked }: { readonly remaining: number; readonly room: number; readonly areChecked: boolean },
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const chunks = this.#fillsChunks ? [filledChunk] : this.sizes.chunks;
    const sizes = areChecked && remaining <= checkedChunk ? [checkedChunk] : chunks;
    const fitting = sizes.filter((each) => each <= room);
    const size = this.#fillsChunks
      ? fitting.find((each) => each <= remaining)
      : (fitting.find((each) => each <= remaining) ?? (remaining > 1 ? fitting.at(-1) : undefined));
    if (size === undefined || this.#isStepwise) return 1;
    const couldPad = !this.#fillsChunks;
    await this.#verify({ capacity, size, batch: 1, logits: 1, source }, signal);
    if (couldPad && this.#fillsChunks) return await this.chunkSize({ capacity, source }, { remaining, room, areChecked }, signal);
    return this.#isStepwise ? 1 : size;
  }

  /** Whether these sequences can be decoded in one run, with the same bits as alone. Compiles and verifies the executable for their number. */
  async mayBatch(rows: readonly DecoderRow[], signal: AbortSignal | undefined): Promise<boolean> {
    if (rows.length > 1 && this.#isBatched) await this.#verifyBatch(rows, signal);
    return this.#isBatched;
  }

  /**
   * Appends tokens to the caches and returns the logits [rows, logits, classes] of the last positions. With `logits` above 1, positions beyond the
   * tokens of a row repeat its last one. If the run fails, the caches are unchanged.
   */
  async run(run: DecoderRun): Promise<Float32Array> {
    return await this.#forward(run, true);
  }

  /** Runs the executable, and keeps the new rows of the caches only if `keeps`. */
  async #forward({ rows, size, logits, signal }: DecoderRun, keeps: boolean): Promise<Float32Array> {
    if (this.isDisposed) throw new InferyardError("DISPOSED", "the model was disposed");
    const {
      cache: { capacity },
      source: { tokens: source } = noSource,
    } = at(rows, 0);
    const batch = batchFor(rows.length, this.sizes);
    const all = Array.from({ length: batch }, (_, index) => at(rows, Math.min(index, rows.length - 1)));
    const { program, classes } = this.#executableFor({ capacity, size, batch, logits, source });
    const { data } = await program.append(
      this.#getInputs(all, capacity, size),
      rows.map(({ cache, length, tokens, source: read }) => ({ cache, length, count: tokens.length, source: read })),
      { keeps, signal },
    );
    return (data as Float32Array).subarray(0, rows.length * logits * classes);
  }

  /** The input tensors of a run. Padding positions repeat the last token, so that they do not change the range of dynamic quantization of the others. */
  #getInputs(rows: readonly DecoderRow[], capacity: number, size: number): TensorMap {
    const { ids, mask, positions } = this.inputs;
    const first = capacity - size;
    const getLast = ({ tokens }: DecoderRow): number => tokens.length - 1;
    const integers = (
      { name, dataType }: TensorInfo,
      width: number,
      write: (row: DecoderRow, set: (value: number, from: number, end: number) => void) => void,
    ): [string, Tensor] => {
      const shape = [rows.length, width];
      if (dataType === "int64") {
        const data = new BigInt64Array(rows.length * width);
        for (const [index, row] of rows.entries())
          write(row, (value, from, end) => data.fill(BigInt(value), index * width + from, index * width + end));
        return [name, { dataType, shape, data }];
      }
      const data = new Int32Array(rows.length * width);
      for (const [index, row] of rows.entries())
        write(row, (value, from, end) => data.fill(value, index * width + from, index * width + end));
      return [name, { dataType: "int32", shape, data }];
    };
    const byPosition = (info: TensorInfo, valueAt: (row: DecoderRow, position: number) => number): [string, Tensor] =>
      integers(info, size, (row, set) => {
        for (let position = 0; position < size; position += 1)
          set(valueAt(row, Math.min(position, getLast(row))), position, position + 1);
      });
    return Object.fromEntries([
      byPosition(ids, (row, position) => at(row.tokens, position)),
      integers(mask, capacity, (row, set) => {
        set(1, 0, row.length);
        set(1, first, first + row.tokens.length);
      }),
      ...(positions === undefined ? [] : [byPosition(positions, (row, position) => row.length + position)]),
    ]);
  }

  /** Verifies an executable of one sequence once, on a temporary cache. Throws MODEL_UNSUPPORTED when logits depend on unused positions. */
  async #verify(sizes: DecodeSizes, signal: AbortSignal | undefined): Promise<void> {
    const { capacity, size, source } = sizes;
    const entry = this.#executableFor(sizes);
    if (entry.isVerified || capacity === 1) return; // a cache with capacity 1 has no unused positions
    const isFilled = size > 1 && this.#fillsChunks;
    const probe = isFilled
      ? Array.from({ length: size }, (_, index) => Math.floor(((index + 1) * entry.classes) / (size + 1)))
      : [Math.floor(entry.classes / 3), Math.floor((2 * entry.classes) / 3)];
    const one = { size: 1, source };
    const wanted = isFilled
      ? await this.#logitsOver(
          probe,
          probe.map(() => capacity),
          one,
          signal,
        )
      : (this.#references.get(source) ?? (await this.#referenceLogits(probe, source, signal)));
    if (!isFilled) this.#references.set(source, wanted);
    const given = await this.#logitsOver(probe, size === 1 ? [capacity, capacity] : [capacity], { size, source }, signal);
    const [spread, worst] = [getSpread(wanted), largestDifference(wanted, given)];
    if (worst <= tolerance * spread) {
      entry.isVerified = true;
      return;
    }
    if (size > 1) {
      if (isFilled) this.#isStepwise = true;
      this.#fillsChunks = true;
      return;
    }
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      "the model cannot be decoded with a cache of fixed capacity: its logits depend on unused positions, as if it derived positions from the length of the past",
      { remedy: "export it with position_ids as an input", data: { capacity, apart: worst, spread } },
    );
  }

  /**
   * Verifies an executable of several sequences once: appends a different token to each of these sequences, together and alone, compares the logits,
   * and removes the tokens again. A model whose operations mix the sequences of a batch gets no batches.
   */
  async #verifyBatch(rows: readonly DecoderRow[], signal: AbortSignal | undefined): Promise<void> {
    const {
      cache: { capacity },
      source: { tokens: source } = noSource,
    } = at(rows, 0);
    const batch = batchFor(rows.length, this.sizes);
    try {
      const entry = this.#executableFor({ capacity, size: 1, batch, logits: 1, source });
      if (entry.isVerified) return;
      const { classes } = entry;
      const probes = rows.map((row, index) => ({ ...row, tokens: [Math.floor(((index + 1) * classes) / (rows.length + 1))] }));
      const together = await this.#forward({ rows: probes, size: 1, logits: 1, signal }, false);
      for (const [index, row] of probes.entries()) {
        const alone = await this.#forward({ rows: [row], size: 1, logits: 1, signal }, false);
        const own = together.subarray(index * classes, (index + 1) * classes);
        if (!this.#isSame(alone, own)) this.#isBatched = false;
      }
      entry.isVerified = true;
    } catch (error) {
      if (!(error instanceof InferyardError) || error.code !== "MODEL_UNSUPPORTED") throw error;
      this.#isBatched = false;
    }
  }

  /** Whether a sequence gets the same logits alone and with others: all bits, if the engine gives the same. */
  #isSame(alone: Float32Array, together: Float32Array): boolean {
    if (this.#engine.isBatchExact) return alone.every((each, index) => Object.is(each, together[index]));
    return largestDifference(alone, together) <= batchTolerance * getSpread(alone);
  }

  /** Logits after the two probe tokens, from runs whose cache has exactly as many positions as tokens. */
  async #referenceLogits(probe: readonly number[], source: number, signal: AbortSignal | undefined): Promise<Float32Array> {
    const { referenceTokens } = this.sizes;
    return await this.#logitsOver(probe, referenceTokens === 2 ? [2] : [1, 2], { size: referenceTokens, source }, signal);
  }

  /** Logits after all tokens, one run per capacity: a token in each run, and all remaining tokens in the last. */
  async #logitsOver(
    tokens: readonly number[],
    capacities: readonly number[],
    { size, source }: Pick<DecodeSizes, "size" | "source">,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    const probe = this.#probeSource(source);
    let cache: DecoderCache | undefined;
    let logits: Float32Array = new Float32Array();
    try {
      for (const [index, capacity] of capacities.entries()) {
        if (cache?.capacity !== capacity) cache = this.#grownCache(cache, capacity, index);
        const now = index === capacities.length - 1 ? tokens.slice(index) : tokens.slice(index, index + 1);
        const row = { cache, length: index, tokens: now, source: probe };
        logits = await this.run({ rows: [row], size, logits: 1, signal });
      }
      return logits;
    } finally {
      cache?.release();
      if (probe !== undefined) this.#engine.releaseSource(probe);
    }
  }

  /** Frees the engine's states of a source. */
  releaseSource(source: SourceStates): void {
    this.#engine.releaseSource(source);
  }

  /** A source of so many tokens for a verification: its keys and values are zeros. */
  #probeSource(tokens: number): SourceStates | undefined {
    const { sources } = this.inputs;
    if (sources.length === 0) return undefined;
    const tensors = sources.map((each): [string, Tensor] => {
      const tensor = zeros(each.dataType, sourceType(each, tokens, 1).shape);
      if (each.name === sourceMaskName) (tensor.data as BigInt64Array).fill(1n);
      return [each.name, tensor];
    });
    return { tokens, tensors: Object.fromEntries(tensors) };
  }

  #grownCache(rows: DecoderCache | undefined, capacity: number, length: number): DecoderCache {
    const larger = this.#engine.createCache(this.inputs.states, capacity);
    if (rows !== undefined) larger.copyFrom(rows, length);
    rows?.release();
    return larger;
  }

  #executableFor(sizes: DecodeSizes): CachedExecutable {
    const { capacity, size, batch, logits, source } = sizes;
    const key = [capacity, size, batch, logits, source].join(" ");
    const cached = this.#executables.get(key);
    if (cached !== undefined) return cached;
    const entry = this.#compileFor(sizes);
    this.#executables.set(key, entry);
    return entry;
  }

  #compileFor(sizes: DecodeSizes): CachedExecutable {
    const graph = withLastLogits(this.#engine.trace(decodeInputs(this.inputs, sizes)), this.inputs, sizes);
    const states = this.inputs.states.map(({ info }) => info.name);
    const { shape } = at(graph.outputs, 0).value.type;
    const classes = at(shape, shape.length - 1);
    const sources = this.inputs.sources.map(({ name }) => name);
    const settings = { ...sizes, states, sources, stateType: this.#cacheType };
    return { program: this.#engine.compile(graph, settings), classes, isVerified: false };
  }
}

/** The range of logits: the largest minus the smallest. */
function getSpread(logits: Float32Array): number {
  return logits.reduce((max, each) => Math.max(max, each)) - logits.reduce((min, each) => Math.min(min, each));
}

/** The largest difference between logits; NaN if one of them is no number. */
function largestDifference(wanted: Float32Array, given: Float32Array): number {
  return wanted.reduce((max, each, index) => Math.max(max, Math.abs(each - (given[index] ?? Number.NaN))), 0);
}
