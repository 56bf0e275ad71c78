/** Checks of the kernels that a user prefers. */
import { type ErrorCode, InferyardError } from "../contract/errors.ts";
import type { KernelEntry, KernelSelfTest } from "./kernel-entry.ts";
import { kernelRegistry, kernelsNamed } from "./registry.ts";
import { isSelectable, machineRefusal } from "./select-kernel.ts";
import type { KernelMachine } from "./simd-levels.ts";

/** Facts for checking a preference. */
export interface PreferenceFacts {
  /** Facts about the machine. Undefined if they are not known yet: then only the ids are checked. */
  readonly machine?: KernelMachine | undefined;
  /** Results of self-tests, by id. Default: no self-test has run. */
  readonly selfTests?: ReadonlyMap<string, KernelSelfTest>;
  /** Kernels to select from. Default: the registry. */
  readonly kernels?: readonly KernelEntry[];
}

/**
 * Checks names of kernels, which are fallbacks: the first that can be used is. Throws INPUT_INVALID for a name that no kernel has. Where none of the kernels can be
 * used, throws with the reason for each name and the kernels that can be used: NOT_BUILT if none is built, else `unusable`. A name with `*` can be used if one of its kernels can.
 */
export function checkKernelPreference(
  names: readonly string[],
  facts: PreferenceFacts,
  unusable: ErrorCode = "INPUT_INVALID",
): void {
  refuseUnknownKernels(names, facts);
  const refused = names.map((name) => ({ name, ...nameRefusal(name, facts) }));
  const unused = refused.filter(({ reason }) => reason !== undefined);
  if (unused.length === 0 || unused.length < names.length) return;
  throw refusal(unused.every(({ isBuilt }) => isBuilt === false) ? "NOT_BUILT" : unusable, unused, facts);
}

/** Throws INPUT_INVALID for a name that no kernel has. */
export function refuseUnknownKernels(names: readonly string[], facts: PreferenceFacts): void {
  const name = names.find((each) => kernelsNamed(each, facts.kernels).length === 0);
  if (name !== undefined) throw refusal("INPUT_INVALID", [{ name, reason: "there is no kernel with this id" }], facts);
}

interface NameRefusal {
  /** Why none of the kernels with a name can be used, without a full stop. Undefined: one can. */
  readonly reason?: string | undefined;
  /** Whether the first of them is built. */
  readonly isBuilt?: boolean;
}

function nameRefusal(name: string, facts: PreferenceFacts): NameRefusal {
  const named = kernelsNamed(name, facts.kernels);
  const [first] = named;
  if (first === undefined) return {};
  const reasons = named.map((kernel) => getRefusal(kernel, facts));
  if (reasons.includes(undefined)) return {};
  const { implementation } = first;
  return implementation.kind === "none"
    ? { reason: implementation.reason, isBuilt: false }
    : { reason: reasons[0], isBuilt: true };
}

/** Ids of the kernels that can be preferred. */
export function usableKernelIds(facts: PreferenceFacts): readonly string[] {
  const { kernels = kernelRegistry } = facts;
  return kernels.filter((kernel) => getRefusal(kernel, facts) === undefined).map(({ id }) => id);
}

function getRefusal(kernel: KernelEntry, { machine, selfTests }: PreferenceFacts): string | undefined {
  if (kernel.implementation.kind === "llama") return "it is called by the backend llamacpp: choose that target";
  if (!isSelectable(kernel)) return "it is not built";
  if (machine !== undefined) {
    const refused = machineRefusal(kernel, machine);
    if (refused !== undefined) return refused.reason;
  }
  const tested = selfTests?.get(kernel.id);
  return tested?.passed === false ? `its self-test failed: ${tested.problem}` : undefined;
}

/** The remedy names the usable kernels of the same formats, by which ids begin; the data has all that are usable. */
function refusal(
  code: ErrorCode,
  refused: readonly { readonly name: string; readonly reason?: string | undefined }[],
  facts: PreferenceFacts,
): InferyardError {
  const usable = usableKernelIds(facts);
  const formats = new Set(refused.map(({ name }) => formatPart(name)));
  const similar = usable.filter((each) => formats.has(formatPart(each)));
  const remedy = similar.length === 0 ? "inferyard kernels lists those that can be used" : `prefer one of ${similar.join(", ")}`;
  const [{ name: id } = { name: "" }] = refused;
  const message =
    refused.length === 1
      ? `the kernel ${id} cannot be used: ${refused[0]?.reason}`
      : `none of the preferred kernels can be used: ${refused.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}`;
  return new InferyardError(code, message, { remedy, data: { id, usable } });
}

/** "Q4_K" of "Q4_K_Wasm" and of "Q4_K_GGML_CPU"; "TL1" of "TL1_ARM_NEON". */
function formatPart(id: string): string {
  return id.replace(/(?:_(?:GGML|X86|ARM))?_[^_]+$/, "");
}
