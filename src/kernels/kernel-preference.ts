/** Checks of the kernels that a user prefers. */
import { type ErrorCode, InferyardError } from "../errors.ts";
import type { KernelEntry, KernelSelfTest } from "./kernel-entry.ts";
import { isKernelPattern } from "./kernel-ids.ts";
import { kernelRegistry, kernelsNamed } from "./registry.ts";
import { isSelectable, machineRefusal } from "./select-kernel.ts";
import type { KernelMachine } from "./simd-levels.ts";

/** What a preference is held against. */
export interface PreferenceFacts {
  /** Undefined: the machine is not known yet, and only the ids are checked. */
  readonly machine?: KernelMachine | undefined;
  /** Default: no self-test has run. */
  readonly selfTests?: ReadonlyMap<string, KernelSelfTest>;
  /** Default: the registry. */
  readonly kernels?: readonly KernelEntry[];
}

/**
 * Throws for a kernel that does not exist or cannot be used, and names those that can: INPUT_INVALID for an unknown id, NOT_BUILT for a kernel that is not
 * built, and `unusable` for one that this machine does not run or whose self-test failed. Of a pattern it throws where that holds for all that match.
 */
export function checkKernelPreference(
  ids: readonly string[],
  facts: PreferenceFacts,
  unusable: ErrorCode = "INPUT_INVALID",
): void {
  const { kernels = kernelRegistry } = facts;
  for (const id of ids) {
    if (isKernelPattern(id)) {
      checkPattern(id, facts, unusable);
      continue;
    }
    const kernel = kernels.find((each) => each.id === id);
    if (kernel === undefined) throw refusal("INPUT_INVALID", id, "there is no kernel with this id", facts);
    const { implementation } = kernel;
    if (implementation.kind === "none") throw refusal("NOT_BUILT", id, implementation.reason, facts);
    const reason = refusalOf(kernel, facts);
    if (reason !== undefined) throw refusal(unusable, id, reason, facts);
  }
}

/** Throws unless a kernel that matches the pattern can be used. */
function checkPattern(pattern: string, facts: PreferenceFacts, unusable: ErrorCode): void {
  const matching = kernelsNamed(pattern, facts.kernels);
  const [first] = matching;
  if (first === undefined) throw refusal("INPUT_INVALID", pattern, "no kernel has such an id", facts);
  if (matching.some((kernel) => refusalOf(kernel, facts) === undefined)) return;
  const { implementation } = first;
  if (implementation.kind === "none") throw refusal("NOT_BUILT", pattern, implementation.reason, facts);
  throw refusal(unusable, pattern, refusalOf(first, facts) ?? "", facts);
}

/** Ids of the kernels that can be preferred. */
export function usableKernelIds(facts: PreferenceFacts): readonly string[] {
  const { kernels = kernelRegistry } = facts;
  return kernels.filter((kernel) => refusalOf(kernel, facts) === undefined).map(({ id }) => id);
}

function refusalOf(kernel: KernelEntry, { machine, selfTests }: PreferenceFacts): string | undefined {
  if (kernel.implementation.kind === "llama") return "it is called by the backend llamacpp: choose that target";
  if (!isSelectable(kernel)) return "it is not built";
  if (machine !== undefined) {
    const refused = machineRefusal(kernel, machine);
    if (refused !== undefined) return refused.reason;
  }
  const tested = selfTests?.get(kernel.id);
  return tested?.passed === false ? `its self-test failed: ${tested.problem}` : undefined;
}

/** The remedy names the usable kernels of the same format, by which ids begin; the data has all that are usable. */
function refusal(code: ErrorCode, id: string, reason: string, facts: PreferenceFacts): InferyardError {
  const usable = usableKernelIds(facts);
  const format = formatPart(id);
  const similar = usable.filter((each) => formatPart(each) === format);
  const remedy = similar.length === 0 ? "inferyard kernels lists those that can be used" : `prefer one of ${similar.join(", ")}`;
  return new InferyardError(code, `the kernel ${id} cannot be used: ${reason}`, { remedy, data: { id, usable } });
}

/** "Q4_K" of "Q4_K_Wasm" and of "Q4_K_GGML_CPU"; "TL1" of "TL1_ARM_NEON". */
function formatPart(id: string): string {
  return id.replace(/(?:_(?:GGML|X86|ARM))?_[^_]+$/, "");
}
