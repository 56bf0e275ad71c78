/** What the programs of one model share. */
import type { ProgramArgument, StableHloProgram } from "../../engine/codegen/stablehlo/index.ts";
import type { SourceStates } from "../../engine/compilation.ts";
import type { TensorType } from "../../engine/ir/tensor-type.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import type { DeviceProgram } from "./pjrt/device-program.ts";
import type { DeviceTensor } from "./pjrt/device-tensor.ts";

/** Compiles the text of a program, or takes it from a cache. */
export type CompileText = (program: StableHloProgram) => DeviceProgram;

/** A constant of a graph, as a program takes it. */
export type ConstantArgument = Extract<ProgramArgument, { readonly kind: "constant" }>;

/** State shared by all programs of one model: the device, and the weights in its memory. */
export interface XlaServices {
  readonly client: PjrtClient;
  readonly compileText: CompileText;
  /** The tensor of a constant on the device. A constant of one graph alone is added to `own`, which the graph frees. */
  constantOn(constant: ConstantArgument, own: Set<DeviceTensor>): DeviceTensor;
  /** A tensor of a source on the device, which `DecoderEngine.releaseSource` frees. */
  sourceOn(source: SourceStates, name: string, type: TensorType): DeviceTensor;
  /** The program that copies tensors to tensors with other numbers of positions, which is kept with the model. */
  copyProgram(from: readonly TensorType[], to: readonly TensorType[]): DeviceProgram;
}
