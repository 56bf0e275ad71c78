/** Checks of the load setting `kernels` that need no engine. What it imports is imported on demand: the registry knows every format of weights. */
import type { MachineFacts } from "../../contract/backend.ts";
import type { ErrorCode } from "../../contract/errors.ts";

/** The formats of weights that the kernels with these names multiply. Throws INPUT_INVALID for a name that no kernel has. */
export async function formatsOfKernels(names: readonly string[]): Promise<readonly string[]> {
  const { refuseUnknownKernels } = await import("../../kernels/kernel-preference.ts");
  const { kernelsNamed } = await import("../../kernels/registry.ts");
  refuseUnknownKernels(names, {});
  return [...new Set(names.flatMap((name) => kernelsNamed(name)).flatMap(({ formats }) => (formats === "any" ? [] : formats)))];
}

/**
 * Throws for names of kernels that do not exist, and where this machine runs none of them: see `checkKernelPreference`. What only the engine knows (whether native
 * code can be called, self-tests) is checked by the load.
 */
export async function checkKernelNames(names: readonly string[], machine: MachineFacts, unusable: ErrorCode): Promise<void> {
  const { checkKernelPreference } = await import("../../kernels/kernel-preference.ts");
  const { kernelMachine } = await import("../../kernels/simd-levels.ts");
  const simd = { simd: true, relaxedSimd: true };
  checkKernelPreference(names, { machine: kernelMachine(machine, simd, { ggml: true, machineCode: true }) }, unusable);
}
