/** Checks of the kernels of a receipt. */
import { gatherScalarId, getMachineLevel, interpreterId, namesKernel } from "../kernels/kernel-ids.ts";
import { findMachineFamily } from "../kernels/machine-families.ts";
import { kernelById } from "../kernels/registry.ts";
import { machineRefusal } from "../kernels/select-kernel.ts";
import { type KernelMachine, levelRefusal } from "../kernels/simd-levels.ts";
import { version } from "../version.ts";
import { getComputePath, expectedKernel, isSlowKernel } from "./kernel-class.ts";
import type { Receipt } from "./receipt.ts";
import type { Refusal } from "./verification.ts";

/** Refusals about kernels. `required`: patterns of ids that must have run, in which * matches any characters. */
export function* checkKernels(receipt: Receipt, required: readonly string[]): Generator<Refusal> {
  const { kernels, computePath, decision } = receipt;
  const refuse = (code: Refusal["code"], reason: string): Refusal => ({ code, reason });
  const fast = kernels.filter(({ id }) => !isSlowKernel(id));
  if (kernels.length === 0)
    yield refuse("no-kernels", `it lists no kernel, so nothing shows that ${computePath.target} computed the run`);
  else if (fast.length === 0) {
    yield refuse("slow-kernels", `only scalar code, the interpreter or fallbacks ran: ${kernels.map(({ id }) => id).join(", ")}`);
  }
  const twice = kernels.find(({ id }, index) => kernels.findIndex((each) => each.id === id) < index);
  if (twice !== undefined) yield refuse("compute-path", `the kernel ${twice.id} is listed twice`);
  yield* impossibleKernels(receipt);
  const measured = getComputePath(computePath.target, kernels);
  if (
    measured.kind !== computePath.kind ||
    measured.fastCalls !== computePath.fastCalls ||
    measured.slowCalls !== computePath.slowCalls
  ) {
    yield refuse(
      "compute-path",
      `it claims the compute path "${computePath.kind}" with ${computePath.fastCalls} calls of kernels and ${computePath.slowCalls} of others, and the listed kernels make "${measured.kind}" with ${measured.fastCalls} and ${measured.slowCalls}`,
    );
  }
  const { selected } = decision;
  if (selected === null) yield refuse("compute-path", "its decision selected no target");
  else if (selected.target !== computePath.target)
    yield refuse("compute-path", `its decision selected ${selected.target}, and the compute path names ${computePath.target}`);
  else if (selected.library.name !== receipt.library.name || selected.library.version !== receipt.library.version)
    yield refuse(
      "compute-path",
      `its decision names ${selected.library.name} ${selected.library.version}, and the receipt ${receipt.library.name} ${receipt.library.version}`,
    );
  for (const pattern of required) {
    if (fast.some(({ id }) => namesKernel(pattern, id))) continue;
    yield refuse("required-kernel", `no kernel "${pattern}" ran; those that ran are ${listed(kernels.map(({ id }) => id))}`);
  }
  const expected = expectedKernel(receipt);
  const isExpected = (id: string): boolean => expected?.patterns.some((pattern) => namesKernel(pattern, id)) ?? true;
  if (kernels.length > 0 && expected !== undefined && !fast.some(({ id }) => isExpected(id)))
    yield refuse(
      "expected-kernel",
      `${expected.reason}, whose kernel is ${expected.patterns.join(" or ")}, and none of that name ran`,
    );
}

/** Refuses kernels that the machine recorded in the receipt cannot run, and kernels that this version does not have. */
function impossibleKernels({ kernels, machine, inferyardVersion, computePath }: Receipt): readonly Refusal[] {
  const { architecture, features, accelerators } = machine;
  const facts: KernelMachine = {
    architecture,
    features,
    wasm: { simd: true, relaxedSimd: true },
    cuda: accelerators.some(({ device }) => device.startsWith("cuda:")) || "the machine has no NVIDIA GPU",
    machineCode: true,
  };
  return kernels.flatMap(({ id }): readonly Refusal[] => {
    const kernel = kernelById(id);
    if (kernel === undefined) {
      const level = getMachineLevel(id);
      const missing = level === undefined ? undefined : levelRefusal(level, facts);
      if (missing !== undefined) return [{ code: "impossible-kernel", reason: `its machine cannot have run ${id}: ${missing}` }];
      if (inferyardVersion !== version || isOutsideRegistry(id, computePath.target)) return [];
      return [{ code: "impossible-kernel", reason: `Inferyard ${version} has no kernel ${id}` }];
    }
    const refusal = machineRefusal(kernel, facts);
    // Another version may have built it since.
    if (refusal === undefined || (refusal.stage === "built" && inferyardVersion !== version)) return [];
    return [{ code: "impossible-kernel", reason: `its machine cannot have run ${id}: ${refusal.reason}` }];
  });
}

/** Whether an id that the registry does not list can be right: other backends report their own, and so do the families of generated kernels and llama.cpp on other devices. */
function isOutsideRegistry(id: string, target: string): boolean {
  const isOurs = /^(?:native|llamacpp|library):/.test(target);
  return (
    !isOurs || id === interpreterId || id === gatherScalarId || /^Llama_|_Wasm$/.test(id) || findMachineFamily(id) !== undefined
  );
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? "none" : ids.join(", ");
}
