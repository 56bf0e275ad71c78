/** What the programs of one model share. */
import type { StableHloProgram } from "../../engine/codegen/stablehlo/index.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import type { TensorType } from "../../engine/ir/tensor-type.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import type { DeviceProgram } from "./pjrt/device-program.ts";
import type { DeviceTensor } from "./pjrt/device-tensor.ts";

/** Compiles the text of a program, or takes it from a cache. */
export type CompileText = (program: StableHloProgram) => DeviceProgram;

/** What all programs of one model share: the device, and the weights in its memory. */
export interface XlaServices {
  readonly client: PjrtClient;
  readonly compileText: CompileText;
  /** The tensor of a constant on the device. A constant of one graph alone is added to `own`, which the graph frees. */
  constantOn(literal: Literal, type: TensorType, own: Set<DeviceTensor>): DeviceTensor;
}
