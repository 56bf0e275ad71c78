/** The interface between a model's format and the executor: an ONNX file is one implementation, a transformer built from config.json another. */
import type { Literal } from "../ir/literal.ts";
import type { Builder } from "./builder.ts";
import type { TracedValue } from "./traced-value.ts";

/** A model that can be traced into a graph for given input shapes. */
export interface GraphSource {
  /**
   * Adds the model's operations to `builder` and returns its outputs by name. `inputs` are the model's inputs by name: with a shape only, or, for
   * eager evaluation, with their elements. Throws DataDependencyError where the trace needs elements that only a run provides.
   */
  trace(inputs: ReadonlyMap<string, TracedValue>, builder: Builder): ReadonlyMap<string, TracedValue>;
  /** The model's weights. Every trace refers to these same literals, so that all executables of the model share their packed forms. */
  readonly weights: readonly Literal[];
  /** Number of elements of all constants of the model, including constants in nodes. Default: the number in `weights`. */
  readonly weightElements?: number;
}
