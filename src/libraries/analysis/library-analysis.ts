/** The result of an analysis: plain data that can be converted to JSON. Names from the file are untrusted text. */
import type { RequiredVersion } from "../binaries/binary-file.ts";
import type { BinaryFile } from "../binaries/index.ts";
import type { ContractName } from "../contracts/index.ts";

/**
 * certain: every function that identifies the library is exported. likely: some of them are, or its name distinguishes it from others with the same exports.
 * possible: the only evidence is its name, or a small part of the functions.
 */
export type Confidence = "certain" | "likely" | "possible";

/** A kind of library, with the reasons. A library built from several parts has several classes. */
export interface LibraryClass {
  /** "llama", "ggml-cuda", "onnxruntime", ... */
  readonly name: string;
  /** Name of the library as its makers write it: "llama.cpp". */
  readonly title: string;
  readonly confidence: Confidence;
  /** The build of several that the file name states: "zen4" of libggml-cpu-zen4.so. */
  readonly variant: string | undefined;
  /** Sentences without a full stop. */
  readonly evidence: readonly string[];
}

/** A programming interface of accelerators. */
export type LibraryAcceleratorName = "cuda" | "rocm" | "vulkan" | "metal" | "directml" | "opencl" | "level-zero";

/**
 * The accelerators that a library computes with, judged by the symbol and import tables of the library, of its dependencies, and of the ggml backends
 * in its folder. Libraries loaded at run time by other means cannot be seen in tables.
 */
export interface ComputeVerdict {
  /** Accelerator interfaces that the library or its dependencies use or implement. Empty: it computes on the CPU only. */
  readonly accelerators: readonly LibraryAcceleratorName[];
  /** Sentences that support the verdict, without a full stop. */
  readonly reasons: readonly string[];
  /** Sentences on names that look like evidence but are not. */
  readonly notes: readonly string[];
}

/** Names of symbols of one kind, as the symbol table has them. */
export interface SymbolGroup {
  readonly exported: readonly string[];
  readonly imported: readonly string[];
}

/** The kinds of symbols that are counted. */
export type SymbolGroupName = "bitnet" | "llama" | "cuda" | "quantization";

/** How the loader finds a library. `beside the file`: it is in the same folder, which the loader does not search. */
export type FoundBy = "rpath" | "LD_LIBRARY_PATH" | "runpath" | "loader cache" | "default folder" | "path" | "beside the file";

/** A library that must be loaded first. */
export interface NeededLibrary {
  readonly name: string;
  /** Absolute path of the library. Undefined: missing, or not searched. */
  readonly path: string | undefined;
  readonly foundBy: FoundBy | undefined;
  /** "not checked": the file is for another operating system or architecture, or the loader of this operating system is not modelled. */
  readonly status: "found" | "missing" | "not checked";
  /**
   * For a missing library: a file with its name in the search path that the loader skips, since it is for another architecture. Absent if there is no
   * such file.
   */
  readonly passedOver?: { readonly path: string; readonly architecture: string };
}

/** A library that is needed by another one that the file needs. */
export interface IndirectNeed extends NeededLibrary {
  /** Name of the library that needs it. */
  readonly neededBy: string;
}

/** A version of symbols that the loader must find. */
export interface VersionRequirement extends RequiredVersion {
  /** Whether the library found on this machine defines it. Undefined: no library was found to look into. */
  readonly isProvided: boolean | undefined;
}

/** A symbol version that a dependency requires, and that no library on this machine defines. */
export interface IndirectVersion {
  readonly library: string;
  readonly version: string;
  /** Name of the library that requires the version. */
  readonly neededBy: string;
}

/** The highest required version of one family (GLIBC, GLIBCXX, ...), and this machine's. */
export interface VersionSummary {
  /** Full name of the highest required version: "GLIBC_2.34". */
  readonly required: string;
  /** Highest version of the family that this machine has: "2.36". Undefined: no library was found to look into. */
  readonly here: string | undefined;
  readonly isProvided: boolean | undefined;
}

/** Whether this program could load the library, by its tables. Loading may still fail, and its ABI is not looked at. */
export interface Fit {
  readonly fits: boolean;
  /** Sentences without a full stop; empty if it fits. */
  readonly problems: readonly string[];
}

/** The facts of the file's own tables, without its symbols. */
export type BinaryFacts = Omit<BinaryFile, "symbols" | "requiredVersions" | "needed">;

/** The contract under which a library would be used, and how many of its functions the file exports. Libraries that it needs may export the others. */
export interface ContractCoverage {
  readonly name: ContractName;
  /** Number of functions that the contract requires. */
  readonly required: number;
  readonly exported: number;
}

/** A kernel of the registry that a library exports as a function. */
export interface OfferedKernel {
  /** Kernel id as listed by `inferyard kernels`, such as "Q4_K_GGML_CPU". */
  readonly id: string;
  /** Name of the exported function. */
  readonly symbol: string;
}

/** Kind and requirements of a native library. */
export interface LibraryAnalysis {
  /** The path as the user wrote it. */
  readonly path: string;
  readonly file: BinaryFacts;
  readonly classes: readonly LibraryClass[];
  readonly verdict: ComputeVerdict;
  /** Number of symbols exported and imported. */
  readonly symbolCounts: { readonly exported: number; readonly imported: number };
  readonly symbols: Readonly<Record<SymbolGroupName, SymbolGroup>>;
  /** Kernels of the registry that the library exports. */
  readonly kernels: readonly OfferedKernel[];
  readonly needs: readonly NeededLibrary[];
  /** Libraries that the found libraries need in addition to `needs`, breadth first, each name once. Not determined for files of other systems. */
  readonly indirectNeeds: readonly IndirectNeed[];
  readonly versions: readonly VersionRequirement[];
  /** Symbol versions that dependencies require and that are missing on this machine. */
  readonly missingVersions: readonly IndirectVersion[];
  readonly versionSummaries: readonly VersionSummary[];
  readonly fit: Fit;
  /** Undefined: no contract is written for such a library. Whether it is kept is proved by `validateLibrary` alone. */
  readonly contract: ContractCoverage | undefined;
}
