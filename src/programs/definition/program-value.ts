/** The values of a program while it is defined, and what operators take. */
import type { DataType, Tensor } from "../../contract/tensor.ts";
import type { Attributes } from "./attributes.ts";
import type { UserOperator } from "./user-operator.ts";

/**
 * What an operator takes as an input: a value; a number, which becomes a scalar of the type of the operator's first tensor; a list of whole numbers, which becomes
 * an int64 vector, as shapes, axes and indices are; undefined for an optional input that is left out.
 */
export type ProgramOperand = ProgramValue | number | readonly number[] | undefined;

/** An operator of ONNX with its inputs, attributes and outputs. */
export interface OperatorUse {
  readonly kind: "operator";
  /** Name in ONNX. */
  readonly operator: string;
  readonly operands: readonly ProgramOperand[];
  readonly attributes: Attributes;
  readonly outputs: number;
}

/** An operator that the program's author defined, with its inputs and attributes. */
export interface UserOperatorUse {
  readonly kind: "user-operator";
  readonly operator: UserOperator;
  readonly operands: readonly ProgramValue[];
  readonly attributes: Attributes;
  readonly outputs: number;
}

/** Where a value comes from. */
export type ValueSource =
  | OperatorUse
  | UserOperatorUse
  | { readonly kind: "input" | "weight" | "state"; readonly name: string }
  | { readonly kind: "constant"; readonly tensor: Tensor };

/** A tensor of a program: an input, a weight, a constant, the value of a state, or an output of an operator. */
export class ProgramValue {
  /** @internal */
  readonly source: ValueSource;
  /** @internal Which output of the operator it is. */
  readonly output: number;

  /** @internal */
  constructor(source: ValueSource, output = 0) {
    this.source = source;
    this.output = output;
  }
}

/** Dimensions of a tensor: numbers, and for inputs names of dimensions that may differ from run to run. */
export type Dimensions = readonly (number | string)[];

/** Settings of a state. */
export interface StateOptions {
  /** Default: "float32". */
  readonly type?: DataType;
  /** The elements before the first run, as many as the dimensions have. Default: zeros. */
  readonly initial?: Tensor["data"];
}
