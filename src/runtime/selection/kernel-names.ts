/** Checks of the load setting `kernels` that need no engine. The kernel registry is imported on demand, since it imports every weight format. */
import type { MachineFacts } from "../../contract/backend.ts";
import type { ErrorCode } from "../../contract/errors.ts";

/** Weight formats that the named kernels multiply. Throws INPUT_INVALID for an unknown kernel name. */
export async function formatsOfKernels(names: readonly string[]): Promise<readonly string[]> {
  const { refuseUnknownKernels } = await import("../../kernels/kernel-preference.ts");
  const { kernelsNamed } = await import("../../kernels/registry.ts");
  refuseUnknownKernels(names, {});
  return [...new Set(names.flatMap((name) => kernelsNamed(name)).flatMap(({ formats }) => (formats === "any" ? [] : formats)))];
}

/**
 * Throws for unknown kernel names, and if this machine can run none of the kernels: see `checkKernelPreference`. Conditions known only to the engine
 * (whether native code can be called, self-tests) are checked by the load.
 */
export async function checkKernelNames(names: readonly string[], machine: MachineFacts, unusable: ErrorCode): Promise<void> {
  const { checkKernelPreference } = await import("../../kernels/kernel-preference.ts");
  const { kernelMachine } = await import("../../kernels/simd-levels.ts");
  const simd = { simd: true, relaxedSimd: true };
  checkKernelPreference(names, { machine: kernelMachine(machine, simd, true) }, unusable);
}
