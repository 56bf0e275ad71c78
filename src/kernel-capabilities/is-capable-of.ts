/** Tests whether one kernel can be used on this machine. */
import { NativeKernels } from "../backends/native/kernel-speeds/kernel-facts.ts";
import type { MachineFacts } from "../contract/backend.ts";
import { readMachine } from "../devices/index.ts";
import type { KernelEntry } from "../kernels/kernel-entry.ts";
import { machineFamilyId } from "../kernels/kernel-ids.ts";
import { findMachineFamily, listedFamilies } from "../kernels/machine-families.ts";
import { kernelRegistry } from "../kernels/registry.ts";
import { kernelMachine, levelRefusal, x64Levels } from "../kernels/simd-levels.ts";
import { nearestName } from "../models/validation/nearest-name.ts";
import { testKernel } from "./kernel-test.ts";

/** Whether a kernel can be used, and why. */
export interface KernelCapable {
  readonly capable: boolean;
  /** Why the kernel cannot be used, or that its known-answer test passed; a sentence without a full stop. */
  readonly reason: string;
}

/** Options of `isCapableOf`. */
export interface IsCapableOfOptions {
  /** Facts about this machine. Default: read from the machine. */
  readonly machine?: MachineFacts;
}

/**
 * Tests whether this machine runs the kernel with this id ("Q4_K_AVX2"): the kernel must be built, the machine must support its instructions, and its
 * known-answer test must pass. For an unknown id, the reason names the closest known id.
 */
export async function isCapableOf(kernelId: string, options: IsCapableOfOptions = {}): Promise<KernelCapable> {
  const kernel = kernelRegistry.find(({ id }) => id === kernelId);
  const family = findMachineFamily(kernelId);
  if (family !== undefined) return await isCapableOfFamily(family, options);
  if (kernel === undefined) return { capable: false, reason: unknownKernel(kernelId) };
  const facts = await NativeKernels.open();
  const machine = kernelMachine(options.machine ?? (await readMachine()), facts.wasm, facts.machineCode);
  const { here, reason, selfTest } = testKernel(kernel, machine, facts);
  if (!here) return { capable: false, reason: reason ?? "this machine does not run it" };
  if (selfTest?.passed === false) return { capable: false, reason: `its self-test failed: ${selfTest.problem}` };
  return { capable: true, reason: [getProof(kernel, selfTest), reason].filter((part) => part !== undefined).join("; ") };
}

async function isCapableOfFamily(
  { family, level }: NonNullable<ReturnType<typeof findMachineFamily>>,
  options: IsCapableOfOptions,
): Promise<KernelCapable> {
  const facts = await NativeKernels.open();
  const machine = kernelMachine(options.machine ?? (await readMachine()), facts.wasm, facts.machineCode);
  const refusal = levelRefusal(level, machine) ?? (machine.machineCode === true ? undefined : machine.machineCode);
  if (refusal !== undefined) return { capable: false, reason: refusal };
  const selfTest = facts.testFamily(family, level);
  if (selfTest?.passed === true) return { capable: true, reason: "its self-test passed" };
  return {
    capable: false,
    reason: selfTest === undefined ? "this machine does not run it" : `its self-test failed: ${selfTest.problem}`,
  };
}

function getProof({ implementation }: KernelEntry, selfTest: { readonly passed: true } | undefined): string {
  if (selfTest !== undefined) return "its self-test passed";
  return implementation.kind === "llama" ? "llama.cpp's own, which `inferyard doctor` runs" : "it has no self-test";
}

function unknownKernel(id: string): string {
  const guess = nearestName(id, [
    ...kernelRegistry.map((kernel) => kernel.id),
    ...listedFamilies.flatMap((family) => x64Levels.map((level) => machineFamilyId(family, level))),
  ]);
  return `there is no kernel "${id}"${guess === undefined ? "" : `; did you mean ${guess}?`}`;
}
