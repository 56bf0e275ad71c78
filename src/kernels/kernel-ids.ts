/** Ids of kernels that are written by rule. The registry's own ids stand in its table. */
import type { Device } from "../contract/backend.ts";
import { type X64Level, x64Levels } from "./simd-levels.ts";

/** Id under which operations that the interpreter computes are counted. */
export const interpreterId = "Interpreter";

/** Id of the gather of rows from a quantized table in plain TypeScript. */
export const gatherScalarId = "GatherRows_Scalar";

/** Id under which calls of llama.cpp are counted: its single kernels are not visible from outside. */
export function llamaKernelId({ type }: Device): string {
  return `Llama_${type.toUpperCase()}`;
}

/** Id of the generated WebAssembly kernel that multiplies weights in blocks of a type without unpacking. */
export function blockKernelId(type: string): string {
  return `${formatName(type)}_Wasm`;
}

/** Id of the kernel in x86-64 machine code that multiplies weights in blocks of a type. The kernels of TL1 and TL2 have the names of bitnet.cpp. */
export function machineKernelId(type: string, level: X64Level): string {
  const name = type === "TL1" || type === "TL2" ? `${type}_X86` : formatName(type);
  return `${name}_${level === "AVX2" ? "AVX2" : "AVX512"}`;
}

/** Id of the kernel in plain TypeScript that multiplies weights in blocks of a type. */
export function scalarKernelId(type: string): string {
  return `${formatName(type)}_Scalar`;
}

/** Id of ggml's own kernel for a type, on the CPU: "IQ2S_GGML_CPU" as other engines name it, "Q4_K_GGML_CPU" by rule. `native` does not call it. */
export function ggmlKernelId(type: string): string {
  return `${type === "IQ2_S" ? "IQ2S" : type}_GGML_CPU`;
}

/** "int4 of 32 with minimum" is "INT4_B32_MIN"; I2_S has the name that other engines give its kernels. */
function formatName(type: string): string {
  if (type === "I2_S") return "I2S_QK256";
  const scaled = /^int(\d+) of (\d+)( with minimum)?$/.exec(type);
  return scaled === null ? type : `INT${scaled[1]}_B${scaled[2]}${scaled[3] === undefined ? "" : "_MIN"}`;
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

const levelSuffixes: Readonly<Record<X64Level, string>> = { AVX2: "AVX2", "AVX-512": "AVX512", "AVX-512 VNNI": "AVX512VNNI" };

/** Id of a family of generated kernels in machine code: "F32_AVX512". */
export function machineFamilyId(family: string, level: X64Level): string {
  return familyKernelId(family).replace(/_Wasm$/, `_${levelSuffixes[level]}`);
}

/** Id of the WebAssembly kernel that takes the place of a kernel in machine code; the id itself if it is none. */
export function withoutMachineCode(id: string): string {
  return id.replace(/(?:_X86)?_AVX(?:2|512|512VNNI)$/, "_Wasm");
}

/** The level that an id of a kernel in machine code of a family names; undefined for other ids. */
export function getMachineLevel(id: string): X64Level | undefined {
  const suffix = /_(AVX\w+)$/.exec(id)?.[1];
  return x64Levels.find((level) => levelSuffixes[level] === suffix);
}

/** Whether a kernel name written by a user matches this id: `*` in it matches any characters, and case is ignored. */
export function namesKernel(name: string, id: string): boolean {
  const [start = "", ...others] = name.toLowerCase().split("*");
  const end = others.pop();
  let rest = id.toLowerCase();
  if (end === undefined) return rest === start;
  if (!rest.startsWith(start)) return false;
  rest = rest.slice(start.length);
  for (const part of others) {
    const at = rest.indexOf(part);
    if (at < 0) return false;
    rest = rest.slice(at + part.length);
  }
  return rest.endsWith(end);
}
