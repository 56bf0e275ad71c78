/** Tiles of products with quantized weights: the sums of some rows and the 16 columns of two panels. */
import { type BlockLayout, activationGroup, activationSumOffsets } from "../../wasm/kernels/blocks/block-layout.ts";
import type { BlockMatmulRequest } from "../../wasm/kernels/blocks/block-matmul.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Assembler } from "../assembler/assembler.ts";
import type { MaskRegister, Memory, Vector } from "../assembler/operands.ts";

/** Most rows of a tile: their sums and parts fill 24 of 32 vector registers. */
export const maxTileRows = 12;

/** Mask register with the columns of the output: 16, or 8 where there is one panel. */
export const columnMask: MaskRegister = 1;

/**
 * Generates code for tiles. Registers at the beginning of a tile: rsi weights of the first panel, r12 distance of the second in bytes, rdx bias of their columns, rbp
 * activations, rbx output, r14 residual of the first row. A tile may change rax, r10, r13, r15 and all vectors except the constants.
 */
export interface WideTile {
  /** Bytes at the stack pointer that tiles use. A multiple of 8. */
  readonly stackBytes: number;
  /** Generates the code that sets constants in vector registers. */
  emitConstants(): void;
  /** Generates the code that computes and stores a tile of `rows` rows, from 1 to `maxTileRows`. */
  emit(rows: number): void;
}

/** What tiles are generated for. */
export interface WideTileContext {
  readonly asm: Assembler;
  readonly request: BlockMatmulRequest;
  readonly layout: BlockLayout;
  /** Bytes of a row of quantized activations. */
  readonly rowBytes: number;
  /** Bytes of a panel of weights. */
  readonly panelBytes: number;
}

/** Vector registers of integer sums. Few rows have several sums each, since one sum after the other would wait for its predecessor. */
export class SumRegisters {
  readonly #rows: number;
  /** Sums of a row. */
  readonly #chains: number;
  readonly #others: Vector;

  /** `chains` sums for each of `rows` rows: registers from 0 on, then from `others` on. */
  constructor(rows: number, others: Vector, chains: number) {
    this.#rows = rows;
    this.#chains = chains;
    this.#others = others;
  }

  /** The register of a row for its product number `index`. */
  at(row: number, index: number): Vector {
    const chain = index % this.#chains;
    return chain === 0 ? row : this.#others + row * (this.#chains - 1) + chain - 1;
  }

  /** Sets all sums to 0. */
  emitClear(asm: Assembler): void {
    for (const row of indices(this.#rows)) for (const chain of indices(this.#chains)) asm.clear(this.at(row, chain));
  }

  /** Adds the sums of each row in register `row`. */
  emitJoin(asm: Assembler): void {
    for (const row of indices(this.#rows))
      for (const chain of indices(this.#chains)) if (chain > 0) asm.vector("vpaddd", row, row, this.at(row, chain));
  }
}

/** Where a group of codes begins, and its scales, in bytes from r15. */
export interface GroupPlace {
  /** Scales and minima of the columns in float32. Undefined: groups have their own in 8 bits, at the beginning of the group. */
  readonly header: number | undefined;
  readonly group: number;
  /** Which group of 16 among the 32 activations at rax; 0 for groups of 32. */
  readonly half: number;
}

/** Calls `use` for the group or the two groups, or two super-blocks of 16, that 32 activations multiply, in formats without scales of groups. */
export function forEachPlainGroup(layout: BlockLayout, index: number, use: (place: GroupPlace) => void): void {
  const { superElements, superBytes, headerBytes, groupElements, groupBytes } = layout;
  const halves = activationGroup / groupElements;
  for (const half of indices(halves)) {
    const isSuperBlock = superElements < activationGroup;
    const header = isSuperBlock ? half * superBytes : 0;
    const group = header + headerBytes + (isSuperBlock ? 0 : (index * halves + half) * groupBytes);
    use({ header, group, half });
  }
}

/** Byte offset of the sum of the activations of a group. */
export function sumOffset({ groupElements }: BlockLayout, { half }: GroupPlace): number {
  const [first, second, all] = activationSumOffsets;
  if (groupElements === activationGroup) return all;
  return half === 0 ? first : second;
}

/** Generates vectors of indices from register `to` on: number `first` in the lower half of the lanes, and `first + distance` in the upper half. */
export function emitPairIndices(asm: Assembler, to: Vector, first: readonly number[], distance: number): void {
  const lanes = indices(16);
  for (const [index, number] of first.entries())
    asm.vector("vmovups", to + index, asm.integers(...lanes.map((lane) => number + (lane < 8 ? 0 : distance))));
}

/** Generates the load of 32 bytes of both panels, `displacement` bytes from r15 and from r15 + r12, into the halves of a vector. */
export function emitLoadBoth(asm: Assembler, to: Vector, displacement: number): void {
  asm.vector("vmovups", to, { base: "r15", displacement }, { bits: 256 });
  asm.vector("vinserti64x4", to, to, inSecond(displacement), 1);
}

/** Bytes of a line of caches. */
const lineBytes = 64;
/** How far ahead weights are fetched: what main memory delivers in about the time that it takes to answer. Fetches past the end of the weights do no harm. */
const prefetchBytes = 8192;

/** Generates fetches of the lines of weights of which those at `from` to `from + bytes` from r15 are read now. */
export function emitPrefetch(asm: Assembler, from: number, bytes: number): void {
  for (let at = 0; at < bytes; at += lineBytes) asm.prefetch("all", { base: "r15", displacement: prefetchBytes + from + at });
}

/** The same for two panels, of which the next pairs are fetched. */
export function emitPrefetchBoth({ asm, panelBytes }: WideTileContext, from: number, bytes: number): void {
  const pairBytes = 2 * panelBytes;
  const ahead = Math.ceil(prefetchBytes / pairBytes) * pairBytes + from;
  for (let at = 0; at < bytes; at += lineBytes) {
    asm.prefetch("all", { base: "r15", displacement: ahead + at });
    asm.prefetch("all", inSecond(ahead + at));
  }
}

/** Memory of the second panel. */
export function inSecond(displacement: number): Memory {
  return { base: "r15", index: "r12", displacement };
}

/** Generates the code that adds bias and residual to the sums of rows and stores them. */
export function emitWideStores(
  asm: Assembler,
  { n, bias, residual }: BlockMatmulRequest,
  rows: number,
  sumOf: (row: number) => Vector,
): void {
  const loaded = { mask: columnMask, zeroing: true };
  for (const row of indices(rows)) {
    const sum = sumOf(row);
    const displacement = row * n * 4;
    if (bias === true) asm.vector("vaddps", sum, sum, { base: "rdx", displacement: 0 }, loaded);
    if (residual !== undefined && residual !== "none") asm.vector("vaddps", sum, sum, { base: "r14", displacement }, loaded);
    asm.vector("vmovupsStore", { base: "rbx", displacement }, sum, { mask: columnMask });
  }
}
