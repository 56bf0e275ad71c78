/** Where an engine model's programs come from: an ONNX file, or a transformer built from its configuration. */
import type { Literal } from "../ir/literal.ts";
import type { Builder } from "./builder.ts";
import type { TracedValue } from "./traced-value.ts";

export interface GraphSource {
  /** Builds what the model computes from these inputs and gives its outputs by name: a program, or at once the results where the inputs are known. */
  trace(inputs: ReadonlyMap<string, TracedValue>, build: Builder): ReadonlyMap<string, TracedValue>;
  /** The model's own tensors, which every trace uses as they are: what is packed of them is shared by all programs. */
  readonly weights: readonly Literal[];
  /** Elements of all tensors the model holds, those in nodes among them. Default: of `weights`. */
  readonly weightElements?: number;
}
