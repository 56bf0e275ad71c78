/** Decides whether a model of this backend uses machine code. */
import { InferyardError } from "../../contract/errors.ts";
import type { LoadOptions } from "../../contract/backend.ts";
import type { MachineCode } from "../../engine/codegen/x64/index.ts";
import { getNativeSettings } from "../../kernels/native-settings.ts";
import { limitLevel } from "../../kernels/simd-levels.ts";
import { kernelChecksOf, type NativeState } from "./check-generated-code.ts";
import { type MachineCodeSource, openMachineCode } from "./machine-code/machine-code.ts";

/** Machine code for a load, or why it has none: a sentence without a full stop. Machine code is opened at the first load that may use it. */
export async function createMachineCode(options: LoadOptions, state: NativeState): Promise<MachineCode | string> {
  const { machineCode: setting } = getNativeSettings(options);
  if (setting === "off") return "the setting machineCode turns it off";
  const source = openOnce(state);
  if (typeof source === "string") return source;
  const level = limitLevel(source.level, setting);
  const identity = state.identity?.value;
  const cacheOf = identity && (await (state.machineCodeCache ??= source.openCache(identity)));
  return source.create(level, cacheOf?.(level));
}

/** Opens machine code for all models of a backend, or remembers why there is none. */
export function openOnce(state: NativeState): MachineCodeSource | string {
  state.machineCode ??= open(state);
  return state.machineCode;
}

function open(state: NativeState): MachineCodeSource | string {
  if (openMachineCode === undefined) return "a page calls no native code";
  const checks = kernelChecksOf(state);
  if (checks === undefined) return "WebAssembly has no SIMD here, over whose memory machine code computes";
  try {
    const source = openMachineCode();
    checks.addMachineCode(source.create, source.features);
    return source;
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    checks.blockKernels.refuseMachineCode(error.message);
    return error.message;
  }
}
