/** Tiles of products with ternary weights. One vector holds the codes of 8 columns for 16 neighbouring k, 4 in each byte: see `ternary-rows.ts`. */
import { byteActivationGroupBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import { type TileContext, type TileEmitter, emitStores } from "./tile-emitter.ts";

/** Neighbouring k of a panel whose codes one vector holds. */
const vectorDepth = 16;
const vectorBytes = 32;
const codesPerByte = 4;
/** Neighbouring k that one dot product instruction multiplies. */
const dotDepth = 4;

/** Vector registers: totals, sums of a super-block, and others. */
const getTotal = (row: number): Vector => row;
const computeSum = (row: number): Vector => 4 + row;
const [packed, codes, factor, scale, mask, ones] = [8, 9, 10, 11, 14, 15] as const;

export class TernaryTile implements TileEmitter {
  readonly stackBytes = 0;
  readonly #context: TileContext;

  constructor(context: TileContext) {
    this.#context = context;
  }

  /** 16-bit ones, and bytes of 3. */
  emitConstants(): void {
    const asm = this.#context.asm;
    asm.vector("vpcmpeqw", ones, ones, ones);
    asm.vector("vpabsb", mask, ones);
    asm.vector("vpaddb", codes, mask, mask);
    asm.vector("vpaddb", mask, codes, mask);
    asm.vector("vpsrlw", ones, ones, 15);
  }

  emit(rows: number): void {
    const asm = this.#context.asm;
    const { superElements, superBytes } = this.#context.layout;
    for (const row of indices(rows)) asm.clear(getTotal(row));
    asm.move("rax", "rbp");
    asm.move("r15", "rsi");
    asm.loadImmediate("r10", this.#context.request.k / superElements);
    asm.countDown("r10", () => {
      this.#emitProducts(rows);
      this.#emitScales(rows);
      asm.add("rax", byteActivationGroupBytes(superElements));
      asm.add("r15", superBytes);
    });
    emitStores(asm, this.#context.request, rows, getTotal);
  }

  #activation(row: number, offset: number): Memory {
    return { base: "rax", displacement: row * this.#context.rowBytes + offset };
  }

  /** The sums of the products of one super-block, in 16 bits, which hold them. */
  #emitProducts(rows: number): void {
    const asm = this.#context.asm;
    const { superElements, headerBytes } = this.#context.layout;
    for (const row of indices(rows)) asm.clear(computeSum(row));
    for (const step of indices(superElements / vectorDepth)) {
      asm.vector("vmovups", packed, { base: "r15", displacement: headerBytes + step * vectorBytes });
      for (const code of indices(codesPerByte)) {
        if (code > 0) asm.vector("vpsrlw", codes, packed, 2 * code);
        asm.vector("vpand", codes, code > 0 ? codes : packed, mask);
        for (const row of indices(rows)) {
          const factors = this.#activation(row, step * vectorDepth + code * dotDepth);
          asm.vector("vpbroadcastd", factor, factors);
          asm.vector("vpmaddubsw", factor, codes, factor);
          asm.vector("vpaddw", computeSum(row), computeSum(row), factor);
        }
      }
    }
  }

  /** Adds the scaled sums to the totals. Codes are 0, 1 and 2 for -1, 0 and 1; the sum of the activations makes up for the difference. */
  #emitScales(rows: number): void {
    const asm = this.#context.asm;
    const { superElements } = this.#context.layout;
    for (const row of indices(rows)) {
      const sum = computeSum(row);
      asm.vector("vpmaddwd", sum, sum, ones);
      asm.vector("vpbroadcastd", factor, this.#activation(row, superElements + 4));
      asm.vector("vpsubd", sum, sum, factor);
      asm.vector("vcvtdq2ps", sum, sum);
      asm.vector("vbroadcastss", scale, this.#activation(row, superElements));
      asm.vector("vmulps", scale, scale, { base: "r15", displacement: 0 });
      asm.vector("vmulps", sum, sum, scale);
      asm.vector("vaddps", getTotal(row), getTotal(row), sum);
    }
  }
}
