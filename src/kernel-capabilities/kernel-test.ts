/** Whether this machine runs a kernel, with the result of the kernel's known-answer test. */
import { omitUndefined } from "../contract/checked.ts";
import { hasBuild, installedVersion } from "../backends/llamacpp/package.ts";
import type { NativeKernels } from "../backends/native/kernel-speeds/kernel-facts.ts";
import type { KernelEntry, KernelSelfTest } from "../kernels/kernel-entry.ts";
import { machineRefusal } from "../kernels/select-kernel.ts";
import { type KernelMachine, levelRefusal } from "../kernels/simd-levels.ts";

/** Result of testing a kernel on this machine. */
export interface KernelTest {
  /** Whether the kernel is built and this machine supports it. */
  readonly here: boolean;
  /** Why the kernel is not available, or how it is selected; a sentence without a full stop. */
  readonly reason?: string;
  /** Result of the known-answer test. Absent for a kernel that is not available or belongs to llama.cpp. */
  readonly selfTest?: KernelSelfTest;
}

/** Tests a kernel. Runs its code if it is available. */
export function testKernel(kernel: KernelEntry, machine: KernelMachine, facts: NativeKernels): KernelTest {
  const absence = machineRefusal(kernel, machine) === undefined ? llamaAbsence(kernel) : reasonFor(kernel, machine);
  if (absence !== undefined) return { here: false, reason: absence };
  const reason = reasonFor(kernel, machine);
  const selfTest = facts.selfTest(kernel);
  return { here: true, ...omitUndefined({ reason, selfTest }) };
}

/** Why the kernels of llama.cpp are not available, as far as is known without loading llama.cpp. Undefined for other kernels. */
function llamaAbsence({ implementation, level }: KernelEntry): string | undefined {
  if (implementation.kind !== "llama") return undefined;
  if (installedVersion() === undefined) return "node-llama-cpp is not installed";
  const gpu = level === "CUDA" && "cuda";
  if (hasBuild(process.platform, process.arch, gpu)) return undefined;
  return `node-llama-cpp has no build for ${gpu === false ? "cpu" : gpu} here`;
}

/** The reason of a kernel. A missing instruction set or device takes precedence over a kernel that is not built. */
function reasonFor({ level, implementation }: KernelEntry, machine: KernelMachine): string | undefined {
  const refusal = levelRefusal(level, machine);
  if (refusal !== undefined) return implementation.kind === "none" ? `${refusal}; not built yet` : refusal;
  if (implementation.kind === "none") return implementation.reason;
  if (implementation.kind === "llama") return "all of llama.cpp's kernels: the target llamacpp";
  return implementation.kind === "machine" && machine.machineCode !== true ? machine.machineCode : undefined;
}
