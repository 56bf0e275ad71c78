/**
 * Instruction sets that matter for inference, by the name that each operating system uses. Facts list them in the order of
 * these tables. Sources: Linux arch/x86/include/asm/cpufeatures.h and arch/arm64/kernel/cpuinfo.c; Apple's "Determining
 * instruction set characteristics"; Microsoft's processthreadsapi IsProcessorFeaturePresent and winnt.h.
 */

interface InstructionSet {
  readonly name: string;
  /** Name in the `flags` (x86) or `Features` (Arm) line of /proc/cpuinfo. */
  readonly linux?: string;
  /** Names under `hw.optional` in sysctl. */
  readonly mac?: readonly string[];
  /** Argument of IsProcessorFeaturePresent. Windows has none for FMA, F16C and most of AVX-512. */
  readonly windows?: number;
}

const x86Sets: readonly InstructionSet[] = [
  { name: "SSE4.2", linux: "sse4_2", mac: ["sse4_2"], windows: 38 },
  { name: "AVX", linux: "avx", mac: ["avx1_0"], windows: 39 },
  { name: "F16C", linux: "f16c", mac: ["f16c"] },
  { name: "FMA", linux: "fma", mac: ["fma"] },
  { name: "AVX2", linux: "avx2", mac: ["avx2_0"], windows: 40 },
  { name: "AVX-VNNI", linux: "avx_vnni" },
  { name: "AVX-512 F", linux: "avx512f", mac: ["avx512f"], windows: 41 },
  { name: "AVX-512 BW", linux: "avx512bw", mac: ["avx512bw"] },
  { name: "AVX-512 VL", linux: "avx512vl", mac: ["avx512vl"] },
  { name: "AVX-512 VNNI", linux: "avx512_vnni", mac: ["avx512vnni"] },
  { name: "AVX-512 BF16", linux: "avx512_bf16" },
  { name: "AVX-512 FP16", linux: "avx512_fp16" },
  { name: "AMX-TILE", linux: "amx_tile" },
  { name: "AMX-INT8", linux: "amx_int8" },
  { name: "AMX-BF16", linux: "amx_bf16" },
];

const armSets: readonly InstructionSet[] = [
  { name: "NEON", linux: "asimd", mac: ["AdvSIMD", "neon"], windows: 19 },
  { name: "FP16", linux: "asimdhp", mac: ["arm.FEAT_FP16"], windows: 67 },
  { name: "DOTPROD", linux: "asimddp", mac: ["arm.FEAT_DotProd"], windows: 43 },
  { name: "I8MM", linux: "i8mm", mac: ["arm.FEAT_I8MM"], windows: 66 },
  { name: "BF16", linux: "bf16", mac: ["arm.FEAT_BF16"], windows: 68 },
  { name: "SVE", linux: "sve", windows: 46 },
  { name: "SVE2", linux: "sve2", windows: 47 },
  { name: "SME", linux: "sme", mac: ["arm.FEAT_SME"], windows: 70 },
  { name: "SME2", linux: "sme2", mac: ["arm.FEAT_SME2"], windows: 71 },
];

/** All arguments for IsProcessorFeaturePresent. */
export const windowsFeatureNumbers: readonly number[] = [...x86Sets, ...armSets].flatMap(({ windows }) => windows ?? []);

/**
 * Instruction sets from the text of /proc/cpuinfo. The kernel lists only what every processor supports, so the first entry is
 * sufficient.
 */
export function linuxFeatures(cpuinfo: string, architecture: string): readonly string[] {
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1] ?? "";
  const words = new Set(line.trim().split(/\s+/));
  return named(architecture, ({ linux }) => linux !== undefined && words.has(linux));
}

/** Instruction sets from the output of `sysctl hw.optional`. */
export function macFeatures(sysctl: string, architecture: string): readonly string[] {
  const set = new Set([...sysctl.matchAll(/^hw\.optional\.(\S+): 1$/gm)].map(([, name]) => name));
  return named(architecture, ({ mac }) => mac?.some((name) => set.has(name)) ?? false);
}

/** Instruction sets from the arguments for which IsProcessorFeaturePresent returned true. */
export function windowsFeatures(numbers: readonly number[], architecture: string): readonly string[] {
  return named(architecture, ({ windows }) => windows !== undefined && numbers.includes(windows));
}

/** Names of all instruction sets that are detected on an architecture. `architecture`: name as in Node.js, such as "x64". */
export function knownFeatures(architecture: string): readonly string[] {
  return named(architecture, () => true);
}

function named(architecture: string, has: (set: InstructionSet) => boolean): readonly string[] {
  const sets = architecture.startsWith("arm") ? armSets : x86Sets;
  return sets.filter(has).map(({ name }) => name);
}
