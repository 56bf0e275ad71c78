/** Executables that append to caches in engine memory. */
import { at, required } from "../../../contract/checked.ts";
import type { Tensor, TensorMap } from "../../../contract/tensor.ts";
import type { Executable } from "../executable.ts";
import type { StepCounts } from "../segments/model-run.ts";
import { YieldPolicy } from "../yield-policy.ts";
import { logitsName } from "./decode-graph.ts";
import type { AppendedRows, AppendOptions, DecoderProgram, StateSettings } from "./decoder-engine.ts";
import { KvCache } from "./kv-cache.ts";
import type { SourceBlocks } from "./source-blocks.ts";

/** Where an executable finds the sources of its sequences. */
interface SourceSettings {
  /** The sources' inputs that are read from blocks in engine memory; the others are copied for each run. */
  readonly held: readonly string[];
  readonly blocks: SourceBlocks;
}

/**
 * An executable whose state blocks are the caches of sequences. It writes the rows of new tokens to the last positions of the caches, from where they are
 * moved to the end of the past.
 */
export class CacheProgram implements DecoderProgram {
  readonly #executable: Executable;
  readonly #batch: number;
  readonly #copied: readonly string[];
  readonly #held: readonly string[];
  readonly #blocks: SourceBlocks;
  /** Position in the caches at which a run writes the rows of its first new token. */
  readonly #first: number;

  constructor(executable: Executable, { capacity, size, batch, sources, held, blocks }: StateSettings & SourceSettings) {
    this.#executable = executable;
    this.#batch = batch;
    this.#copied = sources.filter((name) => !held.includes(name));
    this.#held = held;
    this.#blocks = blocks;
    this.#first = capacity - size;
  }

  get steps(): StepCounts {
    return this.#executable.steps;
  }

  async append(inputs: TensorMap, rows: readonly AppendedRows[], { keeps, signal }: AppendOptions): Promise<Tensor> {
    const own = rows.map((row) => ({ ...row, cache: inEngineMemory(row.cache) }));
    let isKept = false;
    try {
      // The last sequence is computed again in place of missing ones: each time it writes the same.
      const all = Array.from({ length: this.#batch }, (_, index) => at(own, Math.min(index, own.length - 1)));
      const held =
        this.#held.length === 0 ? [] : all.map(({ source }) => this.#blocks.hold(required(source, "the source"), this.#held));
      const states = [...all.map(({ cache }) => cache.start), ...held];
      const sources = this.#copied.map((name): [string, Tensor] => [
        name,
        stacked(all.map(({ source }) => required(source?.tensors[name], name))),
      ]);
      const given = { ...inputs, ...Object.fromEntries(sources) };
      const results = await this.#executable.run(given, new Set([logitsName]), { states, yieldPolicy: new YieldPolicy(signal) });
      isKept = keeps;
      if (keeps) for (const { cache, length, count } of own) cache.move(this.#first, length, count);
      return required(results[logitsName], "the logits");
    } finally {
      for (const { cache, length, count } of own)
        cache.clear(Math.max(this.#first, isKept ? length + count : length), cache.capacity);
    }
  }

  dispose(): void {
    this.#executable.dispose();
  }
}

function inEngineMemory(cache: AppendedRows["cache"]): KvCache {
  if (cache instanceof KvCache) return cache;
  throw new TypeError("the cache is not in engine memory");
}

/** Tensors of one shape with batch size 1 as one tensor. */
function stacked(tensors: readonly Tensor[]): Tensor {
  const first = at(tensors, 0);
  if (tensors.length === 1) return first;
  const part = first.data as Float32Array | BigInt64Array;
  const data =
    part instanceof Float32Array
      ? new Float32Array(part.length * tensors.length)
      : new BigInt64Array(part.length * tensors.length);
  for (const [index, tensor] of tensors.entries()) (data as Float32Array).set(tensor.data as Float32Array, index * part.length);
  return { ...first, shape: [tensors.length, ...first.shape.slice(1)], data };
}
