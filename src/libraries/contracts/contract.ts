/** What a native library must keep to be used: functions that it exports, versions, and layouts of its structs. */

/** The libraries that a contract is written for. */
export type ContractName = "llama" | "ggml" | "onnxruntime" | "pjrt" | "bitnet";

/** A contract as data. */
export interface LibraryContract {
  readonly name: ContractName;
  /** The library as its makers write it. */
  readonly title: string;
  /** Classes of `analyzeLibrary` that the contract is for. */
  readonly classes: readonly string[];
  /** Functions that must be exported: of each entry one, since releases name them differently. */
  readonly required: readonly (readonly string[])[];
  /** Functions that may be exported, and the feature of each. */
  readonly optional: Readonly<Record<string, string>>;
  /** Proof of the binary interface. */
  readonly abi: string;
}

/** Entries of `required`: separated by spaces, and the names of one by |. */
export function toNames(...lines: readonly string[]): readonly (readonly string[])[] {
  return lines.flatMap((line) => line.split(" ")).map((entry) => entry.split("|"));
}

/** The entries for which a library exports no name. */
export function missingFunctions(contract: LibraryContract, has: (name: string) => boolean): readonly (readonly string[])[] {
  return contract.required.filter((names) => !names.some(has));
}
