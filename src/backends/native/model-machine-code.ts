/** Decides whether a model of this backend uses machine code. */
import type { LoadOptions } from "../../contract/backend.ts";
import type { MachineCode } from "../../engine/codegen/x64/index.ts";
import { getNativeSettings } from "../../kernels/native-settings.ts";
import { limitLevel } from "../../kernels/simd-levels.ts";
import { codeIdentityOf, type NativeState, openOnce } from "./native-state.ts";

/** Machine code for a load, or why it has none: a sentence without a full stop. Machine code is opened at the first load that may use it. */
export async function createMachineCode(options: LoadOptions, state: NativeState): Promise<MachineCode | string> {
  const { machineCode: setting } = getNativeSettings(options);
  if (setting === "off") return "the setting machineCode turns it off";
  const source = openOnce(state);
  if (typeof source === "string") return source;
  const level = limitLevel(source.level, setting);
  const identity = codeIdentityOf(state);
  const cacheOf = identity && (await (state.machineCodeCache ??= source.openCache(identity)));
  return source.create(level, cacheOf?.(level));
}
