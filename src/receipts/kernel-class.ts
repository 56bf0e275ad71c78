/** Distinguishes real kernels from stand-ins. */
import type { KernelCount } from "../contract/backend.ts";
import { blockFormats } from "../formats/gguf/blocks/index.ts";
import { blockKernelId, familyKernelId, interpreterId, llamaKernelId } from "../kernels/kernel-ids.ts";
import type { ComputePath, Receipt } from "./receipt.ts";

/** Words in ids of scalar code and of stand-ins in other programs: plain reference code, fallbacks, mocks, weights widened before the product. */
const slowNames = /scalar|interpreter|fallback|reference|mock|dequant|simulat|stub/i;

/** Whether a kernel id belongs to scalar code, the interpreter or a fallback. */
export function isSlowKernel(id: string): boolean {
  return id === interpreterId || slowNames.test(id);
}

/** The compute path that counted kernels show. */
export function getComputePath(target: string, kernels: readonly KernelCount[]): ComputePath {
  let fastCalls = 0;
  let slowCalls = 0;
  for (const { id, calls } of kernels) {
    if (isSlowKernel(id)) slowCalls += calls;
    else fastCalls += calls;
  }
  return { target, kind: getKind(fastCalls, slowCalls), fastCalls, slowCalls };
}

function getKind(fastCalls: number, slowCalls: number): ComputePath["kind"] {
  if (fastCalls + slowCalls === 0) return "uncounted";
  if (slowCalls === 0) return "fast";
  return fastCalls === 0 ? "slow" : "mixed";
}

/** GGUF types of weights that are not quantized. */
const floatTypes: ReadonlySet<string> = new Set(["F32", "F16", "BF16"]);

/** A kernel that must have run. */
export interface ExpectedKernel {
  /** Patterns of ids, in which * matches any characters. One of them must match a kernel that ran and is not slow. */
  readonly patterns: readonly string[];
  /** Why, as a part of a sentence. */
  readonly reason: string;
}

/** The kernels that compute the most weights of such a model on such a target; undefined if there is no such rule. */
export function expectedKernel({ decision, computePath, model }: Receipt): ExpectedKernel | undefined {
  const [backend = ""] = computePath.target.split(":");
  const device = decision.selected?.device.split(":")[0] ?? "cpu";
  if (backend === "llamacpp" || backend === "library") {
    return { patterns: [llamaKernelId({ type: device, index: 0 })], reason: `the target is ${computePath.target}` };
  }
  const type = model.weightTypes[0]?.type;
  if (backend !== "native" || type === undefined || decision.model.format !== "gguf") return undefined;
  const reason = `most weights are ${type}, and the target is ${computePath.target}`;
  // Widened to float32 when the model is loaded.
  if (floatTypes.has(type)) return { patterns: [familyKernelId("matmul").replace(/_Wasm$/, "_*")], reason };
  if (type !== "I2_S" && !Object.hasOwn(blockFormats, type)) return undefined;
  // ggml's kernels have the type without its last underscore where other engines spell it so: IQ2S_GGML_CPU.
  const patterns = [blockKernelId(type).replace(/_Wasm$/, "_*"), type.replace(/_(?=[^_]*$)/, "").concat("_*")];
  return { patterns: [...new Set(patterns)], reason };
}

/** The calls between two counts of one loaded model. */
export function countsBetween(before: readonly KernelCount[], after: readonly KernelCount[]): readonly KernelCount[] {
  const earlier = new Map(before.map(({ id, calls }) => [id, calls]));
  return after.map(({ id, calls }) => ({ id, calls: calls - (earlier.get(id) ?? 0) })).filter(({ calls }) => calls > 0);
}
