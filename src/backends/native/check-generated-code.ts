/** Checks of the engine's generated code, shared by all models of one backend. */
import type { Library, LibraryFileDigest } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import { openGgmlKernels } from "./ggml-kernels.ts";
import { detectWasmFeatures, KernelChecks } from "../../engine/index.ts";
import { kernelsNamed } from "../../kernels/registry.ts";
import { isSelectable } from "../../kernels/select-kernel.ts";
import { type MachineCodeSource, openMachineCode } from "./machine-code.ts";
import { enableRelaxedSimd } from "../../engine/codegen/wasm/v8-flags.ts";
import { openCheckRecord } from "./check-record.ts";

/** State shared by all models of one backend. */
export interface NativeState {
  /** Name and version of the engine. */
  readonly library: Library;
  /** Results of the checks made until now. Each function is checked once in a process or thread. */
  kernelChecks?: KernelChecks;
  /** The files of ggml. Set once a model prefers ggml's kernels. */
  ggmlFiles?: readonly LibraryFileDigest[];
  /** Calls of machine code, once a model prefers it. */
  machineCode?: MachineCodeSource;
}

/** The checks of this backend, made at their first use. undefined when this machine has no WebAssembly SIMD, and so no generated code. */
export function kernelChecksOf(state: NativeState): KernelChecks | undefined {
  const checks = state.kernelChecks ?? createKernelChecks();
  if (checks !== undefined) state.kernelChecks = checks;
  return checks;
}

/** `forget`: checks that passed in earlier processes are repeated. */
function createKernelChecks(options: { readonly forget?: boolean } = {}): KernelChecks | undefined {
  const features = detectWasmFeatures(enableRelaxedSimd);
  return features.simd
    ? new KernelChecks(features, { passed: openCheckRecord?.(import.meta.url, features, options) })
    : undefined;
}

/**
 * Loads the native code of the preferred kernels: ggml's libraries, and generated machine code. If loading fails, the other preferred kernels remain
 * as fallbacks and the reason is recorded. Without a fallback, throws the errors of `openGgmlKernels` and `openMachineCode`, and BACKEND_UNAVAILABLE
 * where native code cannot be called.
 */
export async function openPreferredKernels(kernels: readonly string[], state: NativeState): Promise<void> {
  const checks = kernelChecksOf(state);
  if (checks === undefined) return;
  const { blockKernels } = checks;
  const failures = new Map<NativeKind, InferyardError>();
  const open = async (kind: NativeKind, work: (id: string) => Promise<void>): Promise<void> => {
    const preferred = kernels.find((id) => needsNativeCode(id, kind));
    if (preferred === undefined) return;
    try {
      await work(preferred);
    } catch (error) {
      if (!(error instanceof InferyardError)) throw error;
      failures.set(kind, error);
      blockKernels.refuse(kind === "ggml" ? { ggml: error.message } : { machineCode: error.message });
    }
  };
  await open("ggml", async (preferred) => {
    if (blockKernels.machine.ggml === true) return;
    const { kernelFor, files } = await (openGgmlKernels ?? refuseInPage(preferred))();
    blockKernels.addGgml(kernelFor);
    state.ggmlFiles = files;
  });
  await open("machine", async (preferred) => {
    if (state.machineCode !== undefined) return;
    state.machineCode = await (openMachineCode ?? refuseInPage(preferred))();
    checks.addMachineCode(state.machineCode.create(), state.machineCode.features);
  });
  const [failure] = failures.values();
  const hasFallback = kernels.some((id) => ![...failures.keys()].some((kind) => needsNativeCode(id, kind)));
  if (failure !== undefined && !hasFallback) throw failure;
}

/** Name and version of the engine of a model, with the files of ggml if the model may call ggml's kernels. */
export function libraryOf({ library, ggmlFiles }: NativeState, kernels: readonly string[] | undefined): Library {
  return ggmlFiles === undefined || kernels === undefined ? library : { ...library, files: ggmlFiles };
}

type NativeKind = "ggml" | "machine";

/** Whether a name of kernels can only be met by native code, this kind of it included. `Q4_K_*` cannot: it stands for a WebAssembly kernel as well. */
function needsNativeCode(id: string, kind: NativeKind): boolean {
  const kinds = kernelsNamed(id)
    .filter(isSelectable)
    .map(({ implementation }) => implementation.kind);
  return kinds.includes(kind) && kinds.every((each) => each === "ggml" || each === "machine");
}

function refuseInPage(id: string): () => never {
  return () => {
    throw new InferyardError("BACKEND_UNAVAILABLE", `${id} is native code, which a page cannot call`);
  };
}

/**
 * Checks all functions of generated code, and all operations of the interpreter. `full`: repeats also the checks that passed in an earlier process.
 * Both members of the result are sentences without a full stop; `warning` names the failed checks.
 */
export async function checkGeneratedCode(
  state: NativeState,
  full: boolean,
): Promise<{ readonly reason: string; readonly warning?: string }> {
  const checks = full ? createKernelChecks({ forget: true }) : kernelChecksOf(state);
  if (checks === undefined)
    return { reason: "static embeddings alone", warning: "WebAssembly has no SIMD here, so no other model can be loaded" };
  await checks.checkAll();
  const { failed, failedOperations, right } = checks;
  const reason = checks.describe(right);
  const listed = (wrong: typeof failed): string => wrong.map(({ name, problem }) => `${name} (${problem})`).join(", ");
  if (failedOperations.length > 0)
    return { reason, warning: `wrong in the interpreter, so that models that need it are refused: ${listed(failedOperations)}` };
  return failed.length === 0
    ? { reason }
    : { reason, warning: `wrong, and computed by the interpreter instead: ${listed(failed)}` };
}
