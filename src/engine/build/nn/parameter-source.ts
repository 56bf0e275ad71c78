/** Where the layers of `build/nn` take their weights from. */
import type { Literal } from "../../ir/literal.ts";

/** The named weights of a model. A method throws when no weight of that name and shape exists. */
export interface ParameterSource {
  /** The weight `name`, as stored. `shape` is the expected shape. */
  tensor(name: string, ...shape: readonly number[]): Literal;
  /** The matrix `name`, which is stored `[outFeatures, inFeatures]` as PyTorch's `nn.Linear` does, transposed to `[inFeatures, outFeatures]`. */
  matrix(name: string, inFeatures: number, outFeatures: number): Literal;
  /** The matrix `name` of a linear layer, which is stored `[inFeatures, outFeatures]`. */
  transposedMatrix(name: string, inFeatures: number, outFeatures: number): Literal;
  /** The embedding table `name`, `[rows, width]`; rows are looked up by token. */
  table(name: string, rows: number, width: number): Literal;
}
