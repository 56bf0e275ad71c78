/** Programs of XLA that append tokens to caches on the device. */
import { at, required } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import type { Graph } from "../../engine/ir/graph.ts";
import type { StableHloProgram } from "../../engine/codegen/stablehlo/index.ts";
import type { AppendedRows, AppendOptions, DecoderProgram, StepCounts } from "../../engine/compilation.ts";
import type { DeviceTensor } from "./pjrt/device-tensor.ts";
import { XlaCache } from "./xla-cache.ts";
import type { XlaServices } from "./xla-services.ts";
import { LazyProgram, readXlaTensor, uploadTensor } from "./xla-graph.ts";

/** What a program needs of its model. */
interface ProgramSettings {
  readonly services: XlaServices;
  /** Creates an empty cache with the states and the capacity of another one. */
  readonly newCache: (like: XlaCache) => XlaCache;
}

/**
 * A program that takes the caches of its sequences and gives them back with the rows of new tokens, which it writes after the tokens that each holds: so rows
 * that are not kept are overwritten by the next run.
 */
export class XlaDecoderProgram implements DecoderProgram {
  readonly steps: StepCounts;
  readonly #program: LazyProgram;
  readonly #services: XlaServices;
  readonly #newCache: ProgramSettings["newCache"];
  readonly #sequences: number;
  /** Caches of the sequences that a run lacks. Nobody reads them, but a program takes and gives as many caches as it was compiled for. */
  readonly #spare: XlaCache[] = [];

  constructor(graph: Graph, program: StableHloProgram, { services, newCache }: ProgramSettings) {
    this.steps = { all: graph.nodes.length, interpreted: 0 };
    this.#program = new LazyProgram(program, services);
    this.#services = services;
    this.#newCache = newCache;
    this.#sequences = program.arguments.filter(({ kind }) => kind === "length").length;
  }

  async append(inputs: TensorMap, rows: readonly AppendedRows[], { signal }: AppendOptions): Promise<Tensor> {
    throwIfAborted(signal);
    const caches = this.#cachesFor(rows);
    const own = new Set<DeviceTensor>();
    const use = (tensor: DeviceTensor): DeviceTensor => {
      own.add(tensor);
      return tensor;
    };
    const { client, sourceOn } = this.#services;
    try {
      const run = this.#program.prepare((argument) => {
        if (argument.kind === "constant") throw new TypeError("constants are no arguments of a run");
        if (argument.kind === "input")
          return use(uploadTensor(this.#services, required(inputs[argument.name], argument.name), argument.type));
        const { sequence, type } = argument;
        if (argument.kind === "cache") return at(at(caches, sequence).tensors, argument.state);
        if (argument.kind === "length") {
          const { length = 0 } = rows[sequence] ?? {};
          return use(client.upload({ type, data: Int32Array.of(length) }));
        }
        const { source } = at(rows, Math.min(sequence, rows.length - 1));
        return sourceOn(required(source, "a source"), argument.name, type);
      });
      return readXlaTensor(use(this.#giveAway(caches, run)));
    } finally {
      for (const tensor of own) tensor.dispose();
    }
  }

  dispose(): void {
    for (const cache of this.#spare) cache.release();
    this.#spare.length = 0;
    this.#program.dispose();
  }

  /** The caches of the rows, and of the sequences that are missing. */
  #cachesFor(rows: readonly AppendedRows[]): readonly XlaCache[] {
    const given = rows.map(({ cache }) => onDevice(cache));
    const missing = this.#sequences - rows.length;
    while (this.#spare.length < missing) this.#spare.push(this.#newCache(at(given, 0)));
    return [...given, ...this.#spare.slice(0, missing)];
  }

  /**
   * Runs the program, which takes the tensors of the caches and gives others in the same memory, and returns the logits once all is computed. If it fails,
   * what the caches held is lost: the plugin may have taken the tensors already, and what a part of the program wrote is not known.
   */
  #giveAway(caches: readonly XlaCache[], run: () => readonly DeviceTensor[]): DeviceTensor {
    let results: readonly DeviceTensor[] = [];
    try {
      results = run();
      const [logits, ...grown] = results;
      const states = grown.length / this.#sequences;
      for (const [sequence, cache] of caches.entries()) cache.replace(grown.slice(sequence * states, (sequence + 1) * states));
      const computed = required(logits, "the logits");
      computed.wait();
      return computed;
    } catch (error) {
      for (const tensor of results) tensor.dispose();
      for (const cache of caches) cache.lose(error);
      for (const cache of this.#spare.splice(0)) cache.release();
      throw error;
    }
  }
}

function onDevice(cache: AppendedRows["cache"]): XlaCache {
  if (cache instanceof XlaCache) return cache;
  throw new InferyardError("CONTRACT_VIOLATION", "the cache is not on a PJRT device");
}
