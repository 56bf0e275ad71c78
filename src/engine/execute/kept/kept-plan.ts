/** Plans as plain data, which other processes run: see decision 0026. Everything can be cloned to another thread or written to a file. */
import type { TensorData } from "../../../contract/tensor.ts";
import type { FoldingSnapshot } from "../../build/constant-folding-cache.ts";
import type { KernelCall } from "../../codegen/wasm/kernel.ts";
import type { TensorType } from "../../ir/tensor-type.ts";
import type { PackedLocation } from "../../memory/engine-memory.ts";
import type { Scratch } from "../../plan/plan.ts";

/** A constant tensor. */
export interface KeptLiteral extends TensorType {
  readonly data: TensorData;
}

/** Where a tensor is: bytes from the start of the arena, or from the start of packed weights, by their index in `KeptExecutable.weights`. */
export type KeptPlace = { readonly arena: number } | { readonly weights: number; readonly byteOffset: number };

/** One call of a generated kernel. */
export interface KeptStep extends Pick<KernelCall, "dynamicSizes" | "pieces" | "pieceNanoseconds" | "tilePieces"> {
  /** Id under which calls are counted. */
  readonly id: string;
  /** Index in `KeptExecutable.kernels`. */
  readonly kernel: number;
  readonly operands: readonly KeptPlace[];
  readonly scratch: Scratch | undefined;
}

/** Packed weights that a plan reads. */
export interface KeptWeights {
  /** Number of the tensor in the constant-folding cache of the model; undefined for constants of the plan alone. */
  readonly tensor: number | undefined;
  readonly layout: string;
  /** Size of the packed data in bytes. */
  readonly bytes: number;
  /** The packed data, for constants of the plan alone. */
  readonly data?: Uint8Array;
}

/** Kernels that were compiled together. */
export interface KeptKernels {
  /** Keys of all of them, in the order in which machine code was generated for them. */
  readonly keys: readonly string[];
  /** How many of them are machine code. */
  readonly machineKernels: number;
  /** A WebAssembly module with the others. */
  readonly module: Uint8Array<ArrayBuffer> | undefined;
}

/** A plan of one graph. */
export interface KeptExecutable {
  readonly kernels: readonly Pick<KernelCall, "key" | "family" | "parameters" | "scratchBytes">[];
  readonly steps: readonly KeptStep[];
  readonly weights: readonly KeptWeights[];
  /** Constants that are copied to these offsets of the arena before each run. */
  readonly constants: readonly { readonly literal: KeptLiteral; readonly offset: number }[];
  readonly arenaBytes: number;
  readonly inputs: readonly { readonly name: string; readonly type: TensorType; readonly place: KeptPlace }[];
  readonly outputs: readonly {
    readonly name: string;
    readonly source: { readonly type: TensorType; readonly place: KeptPlace } | KeptLiteral;
  }[];
  readonly compiled: readonly KeptKernels[];
}

/** A plan of a whole model for inputs of certain types. */
export interface KeptPlan extends KeptExecutable {
  /** Types of the inputs, as `describeInputTypes` tells them. */
  readonly inputTypes: string;
  /** Names of the model's inputs, in the order of the graph's inputs. */
  readonly inputNames: readonly string[];
  /** Where the outputs of the model come from: an output of the graph by its number, an input of the model by its name, or a constant. */
  readonly results: readonly { readonly name: string; readonly from: number | string | KeptLiteral }[];
  /** Bytes that a run takes beside the weights, as `maxRunMemory` limits them. */
  readonly runBytes: number;
  /** The checks of generated code that must have passed on this machine, by their names in the record of passed checks. */
  readonly checks: readonly string[];
}

/** What all plans of a model share. */
export interface KeptWeightsTable {
  /** Data type and shape of each of the model's own tensors. */
  readonly weights: readonly string[];
  /** Results of constant folding. */
  readonly folds: FoldingSnapshot;
  /** Packed weights in the order of their data. */
  readonly packed: readonly { readonly tensor: number; readonly location: PackedLocation }[];
}

/** Equal texts mean that a plan fits the inputs: their names, data types and shapes, whatever their order. */
export function describeInputTypes(inputs: readonly (readonly [name: string, type: TensorType])[]): string {
  const described = inputs.map(([name, { dataType, shape }]) => `${JSON.stringify(name)}: ${dataType}[${shape.join(",")}]`);
  return described.toSorted().join("; ");
}
