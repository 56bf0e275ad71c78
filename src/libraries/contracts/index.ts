/** Contracts of native libraries: data alone, no library is loaded. */
import { bitnetContract } from "./bitnet.ts";
import type { ContractName, LibraryContract } from "./contract.ts";
import { ggmlContract } from "./ggml.ts";
import { llamaContract } from "./llama/contract.ts";
import { onnxruntimeContract } from "./onnxruntime.ts";
import { pjrtContract } from "./pjrt.ts";

export { type ContractName, type LibraryContract, missingFunctions } from "./contract.ts";
export { type KnownLayout, type KnownValue, knownLayout } from "./known-layout.ts";
export { type LlamaLayout, llamaLayouts } from "./llama/contract.ts";
export { typeTraits } from "./ggml.ts";
export { apiBase } from "./onnxruntime.ts";
export { pjrtApi } from "./pjrt.ts";

/** Contracts of all libraries that can be validated. */
export const contracts: Readonly<Record<ContractName, LibraryContract>> = {
  llama: llamaContract,
  ggml: ggmlContract,
  onnxruntime: onnxruntimeContract,
  pjrt: pjrtContract,
  bitnet: bitnetContract,
};

/** The contract that a library of these classes (of `analyzeLibrary`, the first first) is held to. Undefined: none is written for it. */
export function contractFor(classes: readonly string[]): LibraryContract | undefined {
  return classes.map((name) => Object.values(contracts).find((contract) => contract.classes.includes(name))).find(Boolean);
}
