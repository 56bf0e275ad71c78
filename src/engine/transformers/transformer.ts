/** A transformer built from its configuration: what goes in, what comes out, and what is between. */
import type { TensorInfo } from "../../tensor.ts";
import type { Value } from "../ir/graph.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import type { Config } from "./config.ts";
import type { Weights } from "./weights.ts";

/** What is given to a model, by name. */
export type GetInput = (name: string) => Value;

export interface Transformer {
  /** Named and shaped as Optimum's ONNX exports have them. */
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  forward(ops: TensorOps, given: GetInput): Readonly<Record<string, Value>>;
}

export interface Architecture {
  /** What may stand before the names of tensors. */
  readonly prefixes: readonly string[];
  /** Tensors of the file that mean nothing to this model: heads that are not asked for, and what is computed anyway. Another one is refused. */
  readonly ignoredTensors: RegExp;
  make(config: Config, weights: Weights): Transformer;
}

/** By class name, as config.json's `architectures` has it. */
export type Architectures = Readonly<Record<string, Architecture>>;

export function int64Info(name: string, length = "sequence_length"): TensorInfo {
  return { name, dataType: "int64", shape: ["batch_size", length] };
}

export function float32Info(name: string, ...shape: readonly (number | string)[]): TensorInfo {
  return { name, dataType: "float32", shape };
}
