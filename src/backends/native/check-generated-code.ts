/** Checks of the engine's generated code, shared by all models of one backend. */
import { KernelChecks } from "../../engine/index.ts";
import type { MachineCodeSource } from "./machine-code/machine-code.ts";
import { listedFamilies } from "../../kernels/machine-families.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import { openCheckRecord } from "./check-record.ts";
import { codeIdentityOf, connectMachineCode, featuresOf, type NativeState } from "./native-state.ts";

/** The checks of this backend, made at their first use. undefined when this machine has no WebAssembly SIMD, and so no generated code. */
export function kernelChecksOf(state: NativeState): KernelChecks | undefined {
  const checks = state.kernelChecks ?? createKernelChecks(state);
  if (checks !== undefined) state.kernelChecks = checks;
  return checks;
}

/** `forget`: checks that passed in earlier processes are repeated. */
function createKernelChecks(state: NativeState, options: { readonly forget?: boolean } = {}): KernelChecks | undefined {
  const features = featuresOf(state);
  if (!features.simd) return undefined;
  const identity = codeIdentityOf(state);
  const checks = new KernelChecks(features, { passed: identity && openCheckRecord?.(identity, options) });
  if (state.machineCode !== undefined) connectMachineCode(checks, state.machineCode);
  return checks;
}

/**
 * Checks all functions of generated code, and all operations of the interpreter. `full`: repeats also the checks that passed in an earlier process. `machineCode`: calls
 * machine code, or why there is none.
 * Both members of the result are sentences without a full stop; `warning` names the failed checks.
 */
export async function checkGeneratedCode(
  state: NativeState,
  full: boolean,
  machineCode: MachineCodeSource | string,
): Promise<{ readonly reason: string; readonly warning?: string }> {
  const checks = full ? createKernelChecks(state, { forget: true }) : kernelChecksOf(state);
  if (checks === undefined)
    return { reason: "static embeddings alone", warning: "WebAssembly has no SIMD here, so no other model can be loaded" };
  await checks.checkAll();
  const machine = await checkMachineCode(checks, machineCode);
  const { failed, failedOperations, right } = checks;
  const reason = `${checks.describe(right)}; ${machine.reason}`;
  const listed = (wrong: typeof failed): string => wrong.map(({ name, problem }) => `${name} (${problem})`).join(", ");
  if (failedOperations.length > 0)
    return { reason, warning: `wrong in the interpreter, so that models that need it are refused: ${listed(failedOperations)}` };
  const warnings = [
    ...(failed.length === 0 ? [] : [`wrong, and computed by the interpreter instead: ${listed(failed)}`]),
    ...(machine.problems.length === 0 ? [] : [`wrong, and computed by WebAssembly instead: ${machine.problems.join(", ")}`]),
  ];
  return warnings.length === 0 ? { reason } : { reason, warning: warnings.join("; ") };
}

/** Checks the families of kernels in machine code at the level that models use. `reason`: what was found, or why there is none. */
async function checkMachineCode(
  checks: KernelChecks,
  source: MachineCodeSource | string,
): Promise<{ readonly reason: string; readonly problems: readonly string[] }> {
  if (typeof source === "string") return { reason: `no machine code: ${source}`, problems: [] };
  const problems: string[] = [];
  checks.addMachineCode(source.create, source.features);
  for (const family of listedFamilies) {
    await yieldToEventLoop();
    const problem = checks.checkMachineFamily(family, source.level);
    if (problem !== undefined) problems.push(problem);
  }
  checks.remember();
  return {
    reason: `machine code with ${source.level}: ${listedFamilies.length - problems.length} families of kernels agree`,
    problems,
  };
}
