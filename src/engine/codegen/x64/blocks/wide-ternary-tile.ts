/** Tiles of products with ternary weights. One vector holds the codes of the 16 columns of two panels for 16 neighbouring k, 4 in each byte: see `ternary-rows.ts`. */
import { byteActivationGroupBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory } from "../assembler/operands.ts";
import {
  type WideTile,
  type WideTileContext,
  SumRegisters,
  emitLoadBoth,
  emitPrefetchBoth,
  emitWideStores,
} from "./wide-tile.ts";

/** Neighbouring k of a panel whose codes one vector holds. */
const vectorDepth = 16;
/** Bytes of these codes in one panel. */
const panelBytes = 32;
const codesPerByte = 4;
/** Neighbouring k that one dot product instruction multiplies. */
const dotDepth = 4;
/** Vectors of one iteration: super-blocks are multiples of 32. */
const loopVectors = 2;

const [packed, codes, scale, mask] = [24, 25, 26, 31] as const;

/** Registers: rax activations, r15 weights, r10 counts super-blocks, r13 vectors. */
export class WideTernaryTile implements WideTile {
  readonly stackBytes = 0;
  readonly #context: WideTileContext;

  constructor(context: WideTileContext) {
    this.#context = context;
  }

  /** Bytes of 3. */
  emitConstants(): void {
    const { asm } = this.#context;
    asm.vector("vpbroadcastd", mask, asm.integers(0x0303_0303));
  }

  emit(rows: number): void {
    const { asm, request, layout } = this.#context;
    const { superElements, headerBytes } = layout;
    const getTotal = (row: number): number => rows + row;
    const sums = new SumRegisters(rows, 2 * rows, rows <= 4 ? 2 : 1);
    for (const row of indices(rows)) asm.clear(getTotal(row));
    asm.move("rax", "rbp");
    asm.move("r15", "rsi");
    asm.loadImmediate("r10", request.k / superElements);
    asm.countDown("r10", () => {
      sums.emitClear(asm);
      emitLoadBoth(asm, scale, 0);
      asm.add("r15", headerBytes);
      asm.loadImmediate("r13", superElements / (loopVectors * vectorDepth));
      asm.countDown("r13", () => this.#emitProducts(rows, sums));
      sums.emitJoin(asm);
      // Codes are 0, 1 and 2 for -1, 0 and 1; the sum of the activations makes up for the difference.
      for (const row of indices(rows)) {
        asm.vector("vpsubd", row, row, this.#activation(row, 4), { broadcast: true });
        asm.vector("vcvtdq2ps", row, row);
        asm.vector("vmulps", codes, scale, this.#activation(row, 0), { broadcast: true });
        asm.vector("vmulps", row, row, codes);
        asm.vector("vaddps", getTotal(row), getTotal(row), row);
      }
      asm.add("rax", byteActivationGroupBytes(superElements) - superElements);
    });
    emitWideStores(asm, request, rows, getTotal);
  }

  /** The products of one iteration. */
  #emitProducts(rows: number, sums: SumRegisters): void {
    const { asm } = this.#context;
    emitPrefetchBoth(this.#context, 0, loopVectors * panelBytes);
    for (const vector of indices(loopVectors)) {
      emitLoadBoth(asm, packed, vector * panelBytes);
      for (const step of indices(codesPerByte)) {
        if (step > 0) asm.vector("vpsrlw", codes, packed, 2 * step);
        asm.vector("vpand", codes, step > 0 ? codes : packed, mask);
        for (const row of indices(rows)) {
          const factors = this.#activation(row, vector * vectorDepth + step * dotDepth);
          asm.vector("vpdpbusd", sums.at(row, step), codes, factors, { broadcast: true });
        }
      }
    }
    asm.add("rax", loopVectors * vectorDepth);
    asm.add("r15", loopVectors * panelBytes);
  }

  #activation(row: number, offset: number): Memory {
    return { base: "rax", displacement: row * this.#context.rowBytes + offset };
  }
}
