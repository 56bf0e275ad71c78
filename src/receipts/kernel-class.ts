/** Tells kernels from what computes in their stead. */
import type { KernelCount } from "../backend.ts";
import { blockFormats } from "../formats/gguf/blocks/index.ts";
import { blockKernelId, interpreterId } from "../kernels/kernel-ids.ts";
import type { ComputePath, Receipt } from "./receipt.ts";

/** Ids of scalar code, and of what other programs call a stand-in: plain reference code, fallbacks, mocks, weights widened before the product. */
const slowNames = /scalar|interpreter|fallback|reference|mock|dequant|simulat|stub/i;

/** Whether a kernel id stands for scalar code, the interpreter or a fallback. */
export function isSlowKernel(id: string): boolean {
  return id === interpreterId || slowNames.test(id);
}

/** The compute path that counted kernels show. */
export function computePathOf(target: string, kernels: readonly KernelCount[]): ComputePath {
  let fastCalls = 0;
  let slowCalls = 0;
  for (const { id, calls } of kernels) {
    if (isSlowKernel(id)) slowCalls += calls;
    else fastCalls += calls;
  }
  return { target, kind: kindOf(fastCalls, slowCalls), fastCalls, slowCalls };
}

function kindOf(fastCalls: number, slowCalls: number): ComputePath["kind"] {
  if (fastCalls + slowCalls === 0) return "uncounted";
  if (slowCalls === 0) return "fast";
  return fastCalls === 0 ? "slow" : "mixed";
}

/** A kernel that must have run. */
export interface ExpectedKernel {
  /** Ids of which one must have run. */
  readonly ids: readonly string[];
  /** Why, as a part of a sentence. */
  readonly reason: string;
}

/** The kernel that this program computes the most weights of such a model with, on such a target; undefined if there is no such rule. */
export function expectedKernel({ decision, computePath, model }: Receipt): ExpectedKernel | undefined {
  const [backend = ""] = computePath.target.split(":");
  const device = decision.selected?.device.split(":")[0] ?? "cpu";
  if (backend === "llamacpp" || backend === "library") {
    return { ids: [`Llama_${device.toUpperCase()}`], reason: `the target is ${computePath.target}` };
  }
  const type = model.weightTypes[0]?.type;
  if (backend !== "native" || type === undefined || decision.model.format !== "gguf" || !Object.hasOwn(blockFormats, type)) {
    return undefined;
  }
  return { ids: [blockKernelId(type)], reason: `most weights are ${type}, and the target is ${computePath.target}` };
}

/** The calls between two counts of one loaded model. */
export function countsBetween(before: readonly KernelCount[], after: readonly KernelCount[]): readonly KernelCount[] {
  const earlier = new Map(before.map(({ id, calls }) => [id, calls]));
  return after.map(({ id, calls }) => ({ id, calls: calls - (earlier.get(id) ?? 0) })).filter(({ calls }) => calls > 0);
}
