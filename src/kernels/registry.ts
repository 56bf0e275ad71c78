/** The kernel registry: every kernel for quantized weights that the field has a name for, built or not. Plain data. */
import { blockFormats } from "../formats/gguf/blocks/index.ts";
import { i2s } from "../formats/gguf/blocks/i2s.ts";
import type { BlockFormat } from "../formats/gguf/blocks/block-format.ts";
import { ternaryFormat } from "../formats/gguf/blocks/ternary.ts";
import { scaledBlocks, scaledBlockName, type ScaledBlockShape } from "../formats/scaled-blocks/block-formats.ts";
import type { KernelEntry } from "./kernel-entry.ts";
import { blockKernelId, ggmlKernelId, machineKernelId, namesKernel, scalarKernelId } from "./kernel-ids.ts";
import { type KernelLevel, blockLevels } from "./simd-levels.ts";

/** Five standard deviations of rounding to whole steps, which are equally distributed. */
const fiveDeviations = 5 / Math.sqrt(12);
/** Sums in float32 instead of float64. */
const roundedSums = 5e-6;
/** Activations of 16 bits. */
const roundedTo16Bits = fiveDeviations / 32_767 + roundedSums;
/** Activations of 8 bits. */
const roundedTo8Bits = fiveDeviations / 127 + roundedSums;
/** Products in float64 with one rounding to float32. */
const roundedOnce = 2e-6;
/** Columns that share a scale of activations, in generated code. */
const activationGroup = 32;

/** Columns of a panel of packed weights, which machine code computes together. */
const panelColumns = 8;

/** The formats that `native` packs weights to while it loads them. */
const packedShapes: readonly ScaledBlockShape[] = [
  { bits: 8, elements: 32, hasMins: false },
  { bits: 4, elements: 32, hasMins: false },
];

/**
 * Formats whose weights `native` multiplies without unpacking, by name. TL1 and TL2 are packed to blocks of 2 bits, whose length depends on the length of the
 * rows.
 */
export const multipliedFormats: Readonly<Record<string, BlockFormat>> = {
  I2_S: i2s,
  TL1: ternaryFormat(32),
  TL2: ternaryFormat(32),
  ...blockFormats,
  ...Object.fromEntries(packedShapes.map((shape) => [scaledBlockName(shape), scaledBlocks(shape)])),
};

/** The formats of blocks that weights of a type may be in. Default: the one of `multipliedFormats`. */
export function formatVariants(type: string, format: BlockFormat): readonly BlockFormat[] {
  return type === "TL1" || type === "TL2" ? ([32, 64, 128] as const).map(ternaryFormat) : [format];
}

/** The kernels that every block format has: generated machine code and WebAssembly, and the plain TypeScript that both are held against. */
export function kernelsOfFormat(type: string, format: BlockFormat): readonly KernelEntry[] {
  const isTernary = format.codeBits === 2 && format.smallestCode === -1 && format.groupElements === format.elements;
  const columnMultiple = Math.max(format.elements, activationGroup);
  const generated = {
    formats: [type],
    columnMultiple,
    activationGroup: isTernary ? format.elements : activationGroup,
    tolerance: isTernary ? roundedTo8Bits : roundedTo16Bits,
  };
  return [
    ...blockLevels.toReversed().map((level): KernelEntry => ({
      ...generated,
      id: machineKernelId(type, level),
      level,
      implementation: { kind: "machine", level },
      rowMultiple: panelColumns,
    })),
    { ...generated, id: blockKernelId(type), level: "wasm-simd128", implementation: { kind: "wasm" } },
    {
      id: scalarKernelId(type),
      formats: [type],
      level: "scalar",
      implementation: { kind: "scalar" },
      columnMultiple,
      activationGroup: 1,
      tolerance: roundedOnce,
    },
  ];
}

function notBuilt(id: string, format: string, level: KernelLevel, columnMultiple: number, reason: string): KernelEntry {
  return {
    id,
    formats: [format],
    level,
    implementation: { kind: "none", reason },
    columnMultiple,
    activationGroup: columnMultiple,
    tolerance: roundedTo8Bits,
  };
}

const armCode = "not built yet: no kernels of arm64";
const gpuCode = "not built yet: no CUDA kernels";
const ggmlCode = "not built: ggml's own products run on the targets llamacpp and library";

const others: readonly KernelEntry[] = [
  notBuilt("I2S_QK256_NEON", "I2_S", "NEON dotprod", 128, armCode),
  notBuilt("I2S_QK256_CUDA", "I2_S", "CUDA", 128, gpuCode),
  notBuilt("TL1_ARM_NEON", "TL1", "NEON dotprod", 32, armCode),
  notBuilt("IQ2S_GGML_CUDA", "IQ2_S", "CUDA", 256, gpuCode),
];

const llama = (id: string, level: KernelLevel): KernelEntry => ({
  id,
  formats: "any",
  level,
  implementation: { kind: "llama" },
  columnMultiple: 1,
  activationGroup: 256,
  tolerance: roundedTo8Bits,
});

/** All kernels, by format: for each format from the highest level to the lowest. */
export const kernelRegistry: readonly KernelEntry[] = [
  ...Object.entries(multipliedFormats).flatMap(([type, format]) => [
    ...others.filter(({ formats }) => formats.includes(type)),
    ...kernelsOfFormat(type, format),
    ...(Object.hasOwn(blockFormats, type)
      ? [notBuilt(ggmlKernelId(type), type, "scalar", Math.max(format.elements, activationGroup), ggmlCode)]
      : []),
  ]),
  ...others.filter(({ formats }) => Object.keys(multipliedFormats).every((type) => !formats.includes(type))),
  llama("Llama_CPU", "scalar"),
  llama("Llama_CUDA", "CUDA"),
];

/** The kernel with this id; undefined if there is none. */
export function kernelById(id: string, kernels: readonly KernelEntry[] = kernelRegistry): KernelEntry | undefined {
  return kernels.find((kernel) => kernel.id === id);
}

/** The kernels that a name written by a user matches: see `namesKernel`. */
export function kernelsNamed(name: string, kernels: readonly KernelEntry[] = kernelRegistry): readonly KernelEntry[] {
  return kernels.filter(({ id }) => namesKernel(name, id));
}
