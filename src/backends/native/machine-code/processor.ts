/** Instruction sets of the processor that the operating system lets programs use. */
import type { LoaderAddon } from "./loader-addon.ts";

/** State that the operating system saves for programs, as bits of the extended control register 0: of vectors with 256 bits, and with 512. */
const [avxState, avx512State] = [0x06, 0xe6];

/** Where the instruction cpuid reports an instruction set. */
interface FeatureBit {
  /** Name as `CpuFacts.features` has it. */
  readonly name: string;
  readonly leaf: number;
  readonly subleaf?: number;
  readonly register: "eax" | "ebx" | "ecx" | "edx";
  readonly bit: number;
  /** Bits of `xgetbv` that must be set. Default: none. */
  readonly state?: number;
}

const registerNumbers = { eax: 0, ebx: 1, ecx: 2, edx: 3 };

/** Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID; AMD64 Architecture Programmer's Manual, volume 3, appendix E. */
const featureBits: readonly FeatureBit[] = [
  { name: "SSE4.2", leaf: 1, register: "ecx", bit: 20 },
  { name: "AVX", leaf: 1, register: "ecx", bit: 28, state: avxState },
  { name: "F16C", leaf: 1, register: "ecx", bit: 29, state: avxState },
  { name: "FMA", leaf: 1, register: "ecx", bit: 12, state: avxState },
  { name: "AVX2", leaf: 7, register: "ebx", bit: 5, state: avxState },
  { name: "AVX-VNNI", leaf: 7, subleaf: 1, register: "eax", bit: 4, state: avxState },
  { name: "AVX-512 F", leaf: 7, register: "ebx", bit: 16, state: avx512State },
  { name: "AVX-512 BW", leaf: 7, register: "ebx", bit: 30, state: avx512State },
  { name: "AVX-512 VL", leaf: 7, register: "ebx", bit: 31, state: avx512State },
  { name: "AVX-512 VNNI", leaf: 7, register: "ecx", bit: 11, state: avx512State },
  { name: "AVX-512 BF16", leaf: 7, subleaf: 1, register: "eax", bit: 5, state: avx512State },
  { name: "AVX-512 FP16", leaf: 7, register: "edx", bit: 23, state: avx512State },
];

/** The instructions that report on a processor. */
export type ProcessorInstructions = Pick<LoaderAddon, "cpuid" | "xgetbv">;

/** Instruction sets that programs can use here, as `CpuFacts.features` names them: the processor has them, and the operating system saves their registers. */
export function readProcessorFeatures({ cpuid, xgetbv }: ProcessorInstructions): readonly string[] {
  const read = (leaf: number, subleaf: number): Uint32Array => {
    const registers = Uint32Array.of(leaf, subleaf, 0, 0);
    cpuid(registers);
    return registers;
  };
  const [maxLeaf = 0] = read(0, 0);
  const savesExtendedState = isSet(read(1, 0)[registerNumbers.ecx], 27);
  const saved = Uint32Array.of(0, 0);
  if (savesExtendedState) xgetbv(saved);
  const [state = 0] = saved;
  return featureBits
    .filter(({ leaf, subleaf = 0, register, bit, state: needed = 0 }) => {
      if (leaf > maxLeaf || (state & needed) !== needed) return false;
      if (subleaf > 0 && subleaf > (read(leaf, 0)[registerNumbers.eax] ?? 0)) return false;
      return isSet(read(leaf, subleaf)[registerNumbers[register]], bit);
    })
    .map(({ name }) => name);
}

function isSet(register: number | undefined, bit: number): boolean {
  return (((register ?? 0) >>> bit) & 1) === 1;
}
