/** Checks of the kernels that a user prefers. */
import { type ErrorCode, InferyardError } from "../contract/errors.ts";
import type { KernelEntry, KernelSelfTest } from "./kernel-entry.ts";
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
 * Throws for a name whose kernels do not exist or cannot be used, and names those that can: INPUT_INVALID if there is none of the name, NOT_BUILT if it is not
 * built, and `unusable` if this machine does not run it or its self-test failed. A name with `*` is accepted if one of its kernels can be used.
 */
export function checkKernelPreference(
  names: readonly string[],
  facts: PreferenceFacts,
  unusable: ErrorCode = "INPUT_INVALID",
): void {
  for (const name of names) {
    const named = kernelsNamed(name, facts.kernels);
    const [first] = named;
    if (first === undefined) throw refusal("INPUT_INVALID", name, "there is no kernel with this id", facts);
    const reasons = named.map((kernel) => refusalOf(kernel, facts));
    const [reason] = reasons;
    if (reason === undefined || reasons.includes(undefined)) continue;
    const { implementation } = first;
    if (implementation.kind === "none") throw refusal("NOT_BUILT", name, implementation.reason, facts);
    throw refusal(unusable, name, reason, facts);
  }
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
