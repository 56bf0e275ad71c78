/** The interface of a transformer architecture: how it is built from config.json and weights, and what it computes. */
import type { TensorInfo } from "../../contract/tensor.ts";
import type { Value } from "../ir/graph.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import type { Config } from "./config.ts";
import type { Weights } from "./weights.ts";

/** Returns the model input of this name. Throws INPUT_INVALID if it is missing or not a tensor. */
export type GetInput = (name: string) => Value;

/** A transformer whose weights are known: its inputs, its outputs, and how its graph is built. */
export interface Transformer {
  /** Inputs, with the names, types and symbolic shapes of Hugging Face Optimum's ONNX exports. */
  readonly inputs: readonly TensorInfo[];
  /** Outputs, in the same form. */
  readonly outputs: readonly TensorInfo[];
  /** Adds the model's operations to a graph and returns the outputs by name. */
  forward(ops: TensorOps, input: GetInput): Readonly<Record<string, Value>>;
}

/** How one model class of Hugging Face transformers is built from config.json and the tensors of its files. */
export interface Architecture<Model = Transformer> {
  /** Optional prefixes of tensor names: files of a model with a head have "bert." before the names of the base model. */
  readonly prefixes: readonly string[];
  /** Class that `auto_map` may name as the model's code, because transformers has since taken it over as this class. Default: none. */
  readonly takenOverCode?: RegExp;
  /** Tensors that a file may contain and the model does not read: other heads, computed buffers. Any other unread tensor is MODEL_UNSUPPORTED. */
  readonly ignoredTensors: RegExp;
  /** Reads the configuration and the weights. Throws MODEL_UNSUPPORTED or MODEL_INVALID: see `Config` and `Weights`. */
  make(config: Config, weights: Weights): Model;
  /** The same model without the head that predicts tokens, with the same inputs. Default: it has no such head. */
  makeHeadless?(config: Config, weights: Weights): Model;
}

/** Architectures by class name, as in `architectures` of config.json. */
export type Architectures = Readonly<Record<string, Architecture>>;

/** Describes an int64 input `[batch_size, length]`: token ids, masks or positions. `length` names the dimension. */
export function int64Info(name: string, length = "sequence_length"): TensorInfo {
  return { name, dataType: "int64", shape: ["batch_size", length] };
}

/** Describes a float32 tensor. A string in the shape names a dimension that varies. */
export function float32Info(name: string, ...shape: readonly (number | string)[]): TensorInfo {
  return { name, dataType: "float32", shape };
}
