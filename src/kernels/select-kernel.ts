/** Selection of a kernel: facts in, every candidate with its verdict and reason out. No input or output, no clock. */
import type { KernelEntry, KernelRequest, KernelSelfTest } from "./kernel-entry.ts";
import { namesKernel } from "./kernel-ids.ts";
import { kernelRegistry, kernelsNamed } from "./registry.ts";
import { closestFormat, type ClosestFormat } from "./closest-format.ts";
import { type KernelMachine, levelRank, levelRefusal } from "./simd-levels.ts";

/** Facts from which a kernel is selected. */
export interface KernelSelectionFacts {
  readonly machine: KernelMachine;
  /** Results of self-tests, by id. A kernel without a result has not been tested. */
  readonly selfTests: ReadonlyMap<string, KernelSelfTest>;
  /** Names of kernels that are preferred, the most preferred first: ids, or with `*` all kernels of the format with such ids. Default: none. */
  readonly preference?: readonly string[];
  /** The kernels that there are. Default: the registry. */
  readonly kernels?: readonly KernelEntry[];
}

/** The check that refused a kernel. */
export type KernelStage = "format" | "built" | "machine" | "shape" | "self-test";

/** One kernel that was considered. */
export type KernelCandidate =
  | { readonly id: string; readonly verdict: "selected" | "eligible"; readonly reason: string }
  | { readonly id: string; readonly verdict: "refused"; readonly stage: KernelStage; readonly reason: string };

/** The result of a selection. */
export interface KernelSelection {
  readonly request: KernelRequest;
  /** Every kernel for the format, and every preferred one, in the order in which they are tried. */
  readonly candidates: readonly KernelCandidate[];
  /** The selected kernel. Undefined: no kernel multiplies these weights. */
  readonly selected: KernelEntry | undefined;
  /** The closest format with a kernel, if no kernel in the registry multiplies the requested one. */
  readonly closest?: ClosestFormat | undefined;
}

/**
 * Selects a kernel for weights. Candidates are tried in this order: preferred kernels, as listed; then machine code, generated WebAssembly and plain TypeScript, and
 * within a kind the higher level first. The first check that fails gives the reason: format, built, machine, shape, self-test.
 */
export function selectKernel(request: KernelRequest, facts: KernelSelectionFacts): KernelSelection {
  const { kernels = kernelRegistry, preference = [] } = facts;
  const considered = orderedCandidates(kernels, request.format, preference);
  let selected: KernelEntry | undefined;
  const candidates = considered.map((kernel): KernelCandidate => {
    const refusal = getRefusal(kernel, request, facts);
    if (refusal !== undefined) return { id: kernel.id, verdict: "refused", ...refusal };
    const verdict = selected === undefined ? "selected" : "eligible";
    selected ??= kernel;
    return { id: kernel.id, verdict, reason: reasonFor(kernel, facts) };
  });
  const hasFormat = kernels.some((kernel) => multiplies(kernel, request.format) && isSelectable(kernel));
  return { request, candidates, selected, ...(hasFormat ? {} : { closest: closestFormat(request) }) };
}

/** Whether a kernel multiplies weights of a format. */
export function multiplies({ formats }: KernelEntry, format: string): boolean {
  return formats !== "any" && formats.includes(format);
}

/** Whether `native` can call the kernel. */
export function isSelectable({ implementation: { kind } }: KernelEntry): boolean {
  return kind === "wasm" || kind === "machine" || kind === "scalar";
}

/** Why a kernel cannot be called on a machine, for any weights; undefined if it can. */
export function machineRefusal(
  kernel: KernelEntry,
  machine: KernelMachine,
): { readonly stage: "built" | "machine"; readonly reason: string } | undefined {
  const { implementation, level } = kernel;
  if (implementation.kind === "none") return { stage: "built", reason: implementation.reason };
  // First, since the instruction sets of a processor are not known where no machine code can be called.
  if (implementation.kind === "machine" && machine.machineCode !== true && machine.features.length === 0)
    return { stage: "machine", reason: machine.machineCode };
  const refusal = levelRefusal(level, machine);
  if (refusal !== undefined) return { stage: "machine", reason: refusal };
  if (implementation.kind !== "machine") return undefined;
  const { machineCode, maxMachineLevel } = machine;
  if (machineCode !== true) return { stage: "machine", reason: machineCode };
  if (maxMachineLevel !== undefined && levelRank(level) > levelRank(maxMachineLevel))
    return { stage: "machine", reason: `the setting machineCode allows ${maxMachineLevel} at most` };
  return undefined;
}

function getRefusal(
  kernel: KernelEntry,
  { format, rows, columns }: KernelRequest,
  { machine, selfTests }: KernelSelectionFacts,
): { readonly stage: KernelStage; readonly reason: string } | undefined {
  const { id, formats, columnMultiple, rowMultiple = 1, implementation } = kernel;
  if (implementation.kind === "llama")
    return { stage: "format", reason: "it is called by the backend llamacpp: choose that target" };
  if (!multiplies(kernel, format))
    return { stage: "format", reason: `it multiplies ${[formats].flat().join(", ")}, not ${format}` };
  const refusal = machineRefusal(kernel, machine);
  if (refusal !== undefined) return refusal;
  if (columns % columnMultiple !== 0)
    return { stage: "shape", reason: `rows of ${columns} elements are not a multiple of ${columnMultiple}` };
  if (rows % rowMultiple !== 0) return { stage: "shape", reason: `${rows} rows are not a multiple of ${rowMultiple}` };
  const tested = selfTests.get(id);
  if (tested?.passed === false) return { stage: "self-test", reason: `its self-test failed: ${tested.problem}` };
  return undefined;
}

function reasonFor({ id }: KernelEntry, { selfTests, preference = [] }: KernelSelectionFacts): string {
  const tested = selfTests.get(id) === undefined ? "its self-test has not run" : "its self-test passed";
  return isPreferred(id, preference) ? `it is preferred; ${tested}` : tested;
}

function isPreferred(id: string, preference: readonly string[]): boolean {
  return preference.some((name) => namesKernel(name, id));
}

const kindOrder = ["machine", "wasm", "scalar", "none", "llama"] as const;

/** The kernels for a format and the preferred ones: first those preferred, then by kind and level. */
function orderedCandidates(
  kernels: readonly KernelEntry[],
  format: string,
  preference: readonly string[],
): readonly KernelEntry[] {
  const rank = ({ implementation }: KernelEntry): number => kindOrder.indexOf(implementation.kind);
  const sorted = kernels
    .filter((kernel) => multiplies(kernel, format))
    .toSorted((a, b) => rank(a) - rank(b) || levelRank(b.level) - levelRank(a.level));
  // Kernels of other formats are considered, and refused, only if they are named one by one.
  const preferred = preference.flatMap((name) => kernelsNamed(name, name.includes("*") ? sorted : kernels));
  return [...new Set([...preferred, ...sorted])];
}
