/** Programs of XLA that append tokens to caches on the device. */
import { at, required } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import type { Graph } from "../../engine/ir/graph.ts";
import { byteSize } from "../../engine/ir/tensor-type.ts";
import type { StableHloProgram } from "../../engine/codegen/stablehlo/index.ts";
import type { AppendedRows, AppendOptions, DecoderProgram, StepCounts } from "../../engine/compilation.ts";
import type { DeviceTensor } from "./pjrt/device-tensor.ts";
import { XlaCache } from "./xla-cache.ts";
import type { XlaServices } from "./xla-services.ts";
import { LazyProgram, readTensor, uploadTensor } from "./xla-graph.ts";

/**
 * A program that takes the caches of its sequences and gives them back with the rows of new tokens, which it writes behind the tokens that each holds: so
 * rows that are not kept are overwritten by the next run.
 */
export class XlaDecoderProgram implements DecoderProgram {
  readonly steps: StepCounts;
  readonly #program: LazyProgram;
  readonly #services: XlaServices;
  readonly #sequences: number;

  constructor(graph: Graph, program: StableHloProgram, services: XlaServices) {
    this.steps = { all: graph.nodes.length, interpreted: 0 };
    this.#program = new LazyProgram(program, services);
    this.#services = services;
    this.#sequences = program.arguments.filter(({ kind }) => kind === "length").length;
  }

  async append(inputs: TensorMap, rows: readonly AppendedRows[], { signal }: AppendOptions): Promise<Tensor> {
    throwIfAborted(signal);
    const caches = rows.map(({ cache }) => onDevice(cache));
    const used = new Set<DeviceTensor>();
    const use = (tensor: DeviceTensor): DeviceTensor => {
      used.add(tensor);
      return tensor;
    };
    const { client } = this.#services;
    try {
      const [logits, ...grown] = this.#program.run((argument) => {
        if (argument.kind === "length") {
          const { length = 0 } = rows[argument.sequence] ?? {};
          return use(client.upload({ type: argument.type, data: Int32Array.of(length) }));
        }
        if (argument.kind === "cache") {
          const own = caches[argument.sequence];
          if (own !== undefined) return at(own.tensors, argument.state);
          return use(client.upload({ type: argument.type, data: new Uint8Array(byteSize(argument.type)) }));
        }
        if (argument.kind === "constant") throw new TypeError("constants are no arguments of a run");
        return use(uploadTensor(this.#services, required(inputs[argument.name], argument.name), argument.type));
      });
      const states = grown.length / this.#sequences;
      for (let sequence = 0; sequence < this.#sequences; sequence += 1) {
        const tensors = grown.slice(sequence * states, (sequence + 1) * states);
        const own = caches[sequence];
        if (own === undefined) tensors.forEach(use);
        else own.replace(tensors);
      }
      return readTensor(use(required(logits, "the logits")));
    } finally {
      for (const tensor of used) tensor.dispose();
    }
  }

  dispose(): void {
    this.#program.dispose();
  }
}

function onDevice(cache: AppendedRows["cache"]): XlaCache {
  if (cache instanceof XlaCache) return cache;
  throw new InferyardError("CONTRACT_VIOLATION", "the cache is not on a PJRT device");
}
