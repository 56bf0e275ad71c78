/** Tiles of one to four rows of products with ternary weights: a vector holds the codes of the 8 columns of a panel for 32 neighbouring k, 16 in each half. */
import { byteActivationGroupBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory } from "../assembler/operands.ts";
import { type WideTile, type WideTileContext, SumRegisters, emitPairIndices, emitPrefetch, emitWideStores } from "./wide-tile.ts";

/** Neighbouring k of a vector of codes. Super-blocks are multiples of it. */
const vectorDepth = 32;
const vectorBytes = 64;
const codesPerByte = 4;

const [factor, scale, code, packed, mask, firstIndices] = [19, 20, 21, 22, 23, 24] as const;
const narrow = { bits: 256 } as const;
const broadcast = { bits: 256, broadcast: true } as const;

/** Registers: rax activations, r15 weights, r10 counts super-blocks, r13 vectors. */
export class FewRowsTernaryTile implements WideTile {
  readonly stackBytes = 0;
  readonly #context: WideTileContext;

  constructor(context: WideTileContext) {
    this.#context = context;
  }

  /** Bytes of 3, and the indices of fours of activations. */
  emitConstants(): void {
    const { asm } = this.#context;
    asm.vector("vpbroadcastd", mask, asm.integers(0x0303_0303));
    emitPairIndices(asm, firstIndices, indices(codesPerByte), codesPerByte);
  }

  emit(rows: number): void {
    const { asm, request, layout } = this.#context;
    const { superElements, headerBytes } = layout;
    const getTotal = (row: number): number => rows + row;
    const getActivations = (row: number): number => 2 * rows + row;
    const sums = new SumRegisters(rows, 3 * rows, rows === 1 ? 4 : 1);
    for (const row of indices(rows)) asm.clear(getTotal(row));
    asm.move("rax", "rbp");
    asm.move("r15", "rsi");
    asm.loadImmediate("r10", request.k / superElements);
    asm.countDown("r10", () => {
      sums.emitClear(asm);
      asm.vector("vmovups", scale, { base: "r15", displacement: 0 }, narrow);
      asm.add("r15", headerBytes);
      asm.loadImmediate("r13", superElements / vectorDepth);
      asm.countDown("r13", () => {
        emitPrefetch(asm, 0, vectorBytes);
        for (const row of indices(rows)) asm.vector("vbroadcastf64x4", getActivations(row), this.#activation(row, 0));
        asm.vector("vmovups", packed, { base: "r15", displacement: 0 });
        for (const step of indices(codesPerByte)) {
          if (step > 0) asm.vector("vpsrlw", code, packed, 2 * step);
          asm.vector("vpand", code, step > 0 ? code : packed, mask);
          for (const row of indices(rows)) {
            asm.vector("vpermd", factor, firstIndices + step, getActivations(row));
            asm.vector("vpdpbusd", sums.at(row, step), code, factor);
          }
        }
        asm.add("rax", vectorDepth);
        asm.add("r15", vectorBytes);
      });
      sums.emitJoin(asm);
      for (const row of indices(rows)) {
        asm.vector("vextracti64x4", code, row, 1);
        asm.vector("vpaddd", row, row, code, narrow);
        // Codes are 0, 1 and 2 for -1, 0 and 1; the sum of the activations makes up for the difference.
        asm.vector("vpsubd", row, row, this.#activation(row, 4), broadcast);
        asm.vector("vcvtdq2ps", row, row, narrow);
        asm.vector("vmulps", code, scale, this.#activation(row, 0), broadcast);
        asm.vector("vmulps", row, row, code, narrow);
        asm.vector("vaddps", getTotal(row), getTotal(row), row, narrow);
      }
      asm.add("rax", byteActivationGroupBytes(superElements) - superElements);
    });
    emitWideStores(asm, request, rows, getTotal);
  }

  #activation(row: number, offset: number): Memory {
    return { base: "rax", displacement: row * this.#context.rowBytes + offset };
  }
}
