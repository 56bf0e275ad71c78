/** Instruction sets that kernels need, in order, and whether a machine has them. */
import type { MachineFacts } from "../contract/backend.ts";

/**
 * Instruction sets that kernels require, in ascending order. "scalar" requires none. The levels of x86-64 and WebAssembly form one order, since both are
 * available on x86-64; NEON belongs to arm64. "CUDA" is a GPU.
 */
export const kernelLevels = [
  "scalar",
  "wasm-simd128",
  "wasm-relaxed-simd",
  "SSE4.2",
  "AVX2",
  "AVX-512",
  "AVX-512 VNNI",
  "NEON",
  "NEON dotprod",
  "CUDA",
] as const;

/** Levels of x86-64 that machine code is generated for, in ascending order. Each includes the instruction sets of those before it. */
export const x64Levels: readonly ["AVX2", "AVX-512", "AVX-512 VNNI"] = ["AVX2", "AVX-512", "AVX-512 VNNI"];

/** Levels at which the machine code of products with block-quantized weights differs. */
export const blockLevels: readonly ["AVX2", "AVX-512 VNNI"] = ["AVX2", "AVX-512 VNNI"];

/** A level of `x64Levels`. */
export type X64Level = (typeof x64Levels)[number];

/** The levels by the values of the setting `machineCode`, which may also be "off". */
export const machineCodeLevels: Readonly<Record<"avx2" | "avx512" | "avx512vnni", X64Level>> = {
  avx2: "AVX2",
  avx512: "AVX-512",
  avx512vnni: "AVX-512 VNNI",
};

/** The lower one of a level and a setting of `machineCode`. Default of the setting: no limit. */
export function limitLevel(level: X64Level, setting: keyof typeof machineCodeLevels | undefined): X64Level {
  const limit = setting === undefined ? level : machineCodeLevels[setting];
  return levelRank(limit) < levelRank(level) ? limit : level;
}

/** A level of `kernelLevels`. */
export type KernelLevel = (typeof kernelLevels)[number];

/** Facts about a machine for the selection. Plain data. */
export interface KernelMachine {
  /** Processor architecture as Node.js names it: "x64", "arm64". */
  readonly architecture: string;
  /** Instruction sets of the processor, as `CpuFacts.features` names them. */
  readonly features: readonly string[];
  /** WebAssembly features of this process. */
  readonly wasm: { readonly simd: boolean; readonly relaxedSimd: boolean };
  /** Whether there is an NVIDIA GPU; otherwise the reason, without a full stop. */
  readonly cuda: true | string;
  /** Whether machine code can be called; otherwise the reason, without a full stop. */
  readonly machineCode: true | string;
  /** The highest level of machine code that the settings of a model allow. Default: any. */
  readonly maxMachineLevel?: X64Level;
}

/** Instruction sets of a processor that a level needs, as `CpuFacts.features` names them. */
const processorLevels: Partial<
  Readonly<Record<KernelLevel, { readonly architecture: "x64" | "arm64"; readonly needs: readonly string[] }>>
> = {
  "SSE4.2": { architecture: "x64", needs: ["SSE4.2"] },
  AVX2: { architecture: "x64", needs: ["AVX2", "FMA"] },
  "AVX-512": { architecture: "x64", needs: ["AVX-512 F", "AVX-512 BW", "AVX-512 VL"] },
  "AVX-512 VNNI": { architecture: "x64", needs: ["AVX-512 F", "AVX-512 BW", "AVX-512 VL", "AVX-512 VNNI"] },
  NEON: { architecture: "arm64", needs: ["NEON"] },
  "NEON dotprod": { architecture: "arm64", needs: ["NEON", "DOTPROD"] },
};

/** The highest level of `x64Levels` that a processor with these instruction sets has; undefined if it has none. */
export function highestX64Level(features: readonly string[]): X64Level | undefined {
  return x64Levels.findLast((level) => processorLevels[level]?.needs.every((each) => features.includes(each)) === true);
}

/** Position of a level in the order: a higher one needs more. */
export function levelRank(level: KernelLevel): number {
  return kernelLevels.indexOf(level);
}

/** Why a machine does not have a level, as a sentence without a full stop; undefined if it has it. */
export function levelRefusal(level: KernelLevel, { architecture, features, wasm, cuda }: KernelMachine): string | undefined {
  const processor = processorLevels[level];
  if (processor !== undefined) {
    if (architecture !== processor.architecture)
      return `this is an ${getName(architecture)} machine, not an ${getName(processor.architecture)} one`;
    const missing = processor.needs.filter((each) => !features.includes(each));
    return missing.length === 0 ? undefined : `the processor has no ${missing.join(", no ")}`;
  }
  if (level === "CUDA") return cuda === true ? undefined : cuda;
  if (level === "scalar") return undefined;
  if (level === "wasm-simd128") return wasm.simd ? undefined : "WebAssembly has no SIMD in this process";
  return wasm.relaxedSimd ? undefined : "WebAssembly has no relaxed SIMD in this process";
}

/** The facts of a machine that selection reads. `machineCode`: see `KernelMachine`. */
export function kernelMachine(
  { architecture, cpu, accelerators, absent }: MachineFacts,
  wasm: KernelMachine["wasm"],
  machineCode: KernelMachine["machineCode"],
): KernelMachine {
  const hasCuda = accelerators.some(({ device }) => device.type === "cuda");
  return {
    architecture,
    features: cpu.features.value,
    wasm: { simd: wasm.simd, relaxedSimd: wasm.relaxedSimd },
    cuda: hasCuda || (absent["cuda"] ?? "no NVIDIA GPU was found"),
    machineCode,
  };
}

function getName(architecture: string): string {
  return architecture === "x64" ? "x86-64" : architecture;
}
