/** A program: a graph written in TypeScript or taken from an ONNX file, before it is compiled for a backend. */
import type { DataType, Tensor, TensorInfo } from "../../contract/tensor.ts";
import type { Builder } from "../../engine/build/builder.ts";
import type { Value } from "../../engine/ir/graph.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import type { OnnxModel } from "../../engine/onnx/onnx-model.ts";

/** A tensor that stays on the device between runs, with fixed dimensions. */
export interface ProgramState {
  readonly name: string;
  readonly dataType: DataType;
  readonly shape: readonly number[];
  /** The elements before the first run. */
  readonly initial: Tensor;
}

/** A tensor that is known before the first run and never changes. */
export interface ProgramWeight {
  readonly name: string;
  readonly dataType: DataType;
  readonly shape: readonly number[];
}

/** What one trace of a program reads, all by name. */
export interface TraceOperands {
  readonly inputs: ReadonlyMap<string, Value>;
  readonly weights: ReadonlyMap<string, Value>;
  readonly states: ReadonlyMap<string, Value>;
  /** Name of the backend that the graph is made for; undefined: the interpreter, which computes the reference. */
  readonly backend: string | undefined;
}

/** What one trace of a program computes. */
export interface TracedProgram {
  /** The outputs by name. */
  readonly outputs: ReadonlyMap<string, Value>;
  /** The value of each state after the run, by the name of the state. */
  readonly states: ReadonlyMap<string, Value>;
}

/** A program that is open for one device: its own weights, and what traces it. */
export interface OpenProgram {
  /** Weights that come with the program: the initializers of an ONNX file. */
  readonly ownWeights: readonly Literal[];
  /**
   * Adds the operations of the program to a graph. Called once for each combination of sizes. Throws MODEL_UNSUPPORTED for an operator that cannot be computed with
   * these operands, and for a user-defined operator that has no implementation for the backend.
   */
  trace(operands: TraceOperands, builder: Builder): TracedProgram;
}

/** A graph with named inputs, weights, states and outputs. Made by `defineProgram` and `programFromOnnx`, run by `compileProgram`. */
export interface Program {
  /** Inputs of a run. A dimension that is a string may differ from run to run; equal names have equal sizes. */
  readonly inputs: readonly TensorInfo[];
  /** Weights that `compileProgram` must be given. */
  readonly weights: readonly ProgramWeight[];
  readonly states: readonly ProgramState[];
  /** Names of the outputs, in order. */
  readonly outputs: readonly string[];
  /** Sizes of the free dimensions for which the program was checked when it was defined. */
  readonly exampleSizes: ReadonlyMap<string, number>;
  /** @internal Opens the program for one device. Devices share no weights, since each keeps them in a form of its own. */
  open(): OpenProgram;
  /**
   * @internal The program as an ONNX model whose initializers are these weights and its own; states are inputs, and their values after a run outputs under
   * `statePrefix` and their name. Throws MODEL_UNSUPPORTED for user-defined operators, and INPUT_INVALID for an output with the name of an input.
   */
  toOnnx(weights: ReadonlyMap<string, Literal>): OnnxModel;
}

/** Names of the free dimensions of a program, in the order of their first use. */
export function freeDimensions({ inputs }: Pick<Program, "inputs">): readonly string[] {
  return [...new Set(inputs.flatMap(({ shape }) => shape.filter((size) => typeof size === "string")))];
}
