/** Ids of kernels that are written by rule. The registry's own ids stand in its table. */
import type { Device } from "../backend.ts";

/** Id under which operations that the interpreter computes are counted. */
export const interpreterId = "Interpreter";

/** Id under which calls of llama.cpp are counted: its kernels cannot be told apart from outside. */
export function llamaKernelId({ type }: Device): string {
  return `Llama_${type.toUpperCase()}`;
}

/** Id of the generated WebAssembly kernel that multiplies weights in blocks of a type as they lie. */
export function blockKernelId(type: string): string {
  return `${type === "I2_S" ? "I2S_QK256" : type}_Wasm`;
}

/** Names of generated kernel families whose id is not made of the family's name. */
const familyNames: Readonly<Record<string, string>> = {
  matmul: "F32",
  "batched-matmul": "F32_Batched",
  "byte-matmul": "INT8",
  "integer-matmul": "INT8_INT16",
};

/** Id of a family of generated WebAssembly kernels: "top-k" is "TopK_Wasm"; products have the type of their weights, "F32_Wasm". */
export function familyKernelId(family: string): string {
  const name = familyNames[family] ?? family.replace(/(?:^|-)(\w)/g, (_match, first: string) => first.toUpperCase());
  return `${name}_Wasm`;
}
