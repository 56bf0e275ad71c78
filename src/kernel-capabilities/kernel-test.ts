/** Whether this machine runs a kernel, and what its known-answer test says. */
import { hasBuild, installedVersion } from "../backends/llamacpp/package.ts";
import type { KernelFacts } from "../backends/native/kernel-facts.ts";
import type { KernelEntry, KernelSelfTest } from "../kernels/kernel-entry.ts";
import { machineRefusal } from "../kernels/select-kernel.ts";
import { type KernelMachine, levelRefusal } from "../kernels/simd-levels.ts";

/** A kernel on this machine. */
export interface KernelTest {
  /** Whether it is built and this machine runs it. */
  readonly here: boolean;
  /** Why it is not here, or how it is chosen, as a sentence without a full stop. */
  readonly reason?: string;
  /** Absent: it is not here, or llama.cpp's own. */
  readonly selfTest?: KernelSelfTest;
}

/** Tests a kernel, whose code runs if it is here. */
export function testKernel(kernel: KernelEntry, machine: KernelMachine, facts: KernelFacts): KernelTest {
  const absence = machineRefusal(kernel, machine) === undefined ? llamaAbsence(kernel) : reasonFor(kernel, machine);
  if (absence !== undefined) return { here: false, reason: absence };
  const reason = reasonFor(kernel, machine);
  const selfTest = facts.selfTest(kernel);
  return { here: true, ...(reason === undefined ? {} : { reason }), ...(selfTest === undefined ? {} : { selfTest }) };
}

/** Why the kernels of llama.cpp are not here, as far as is known without loading them. Undefined for other kernels. */
function llamaAbsence({ implementation, level }: KernelEntry): string | undefined {
  if (implementation.kind !== "llama") return undefined;
  if (installedVersion() === undefined) return "node-llama-cpp is not installed";
  const gpu = level === "CUDA" && "cuda";
  if (hasBuild(process.platform, process.arch, gpu)) return undefined;
  return `node-llama-cpp has no build for ${gpu === false ? "cpu" : gpu} here`;
}

/** The machine comes first: that a kernel for another one is not built matters less. */
function reasonFor({ level, implementation, isOptional = false }: KernelEntry, machine: KernelMachine): string | undefined {
  const refusal = levelRefusal(level, machine);
  if (refusal !== undefined) return implementation.kind === "none" ? `${refusal}; not built yet` : refusal;
  if (implementation.kind === "none") return implementation.reason;
  if (implementation.kind === "llama") return "all of llama.cpp's kernels: the target llamacpp";
  if (implementation.kind === "ggml" && machine.ggml !== true) return machine.ggml;
  if (implementation.kind === "machine" && machine.machineCode !== true) return machine.machineCode;
  return isOptional ? "used only if it is preferred" : undefined;
}
