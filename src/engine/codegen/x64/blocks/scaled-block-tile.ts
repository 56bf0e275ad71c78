/**
 * What tiles with activations of 16 bits share, whether a vector has the columns of one panel or of two: the loops over super-blocks and groups, and the scales and
 * minima of sums.
 */
import { activationGroup, activationGroupBytes, activationScaleOffset } from "../../wasm/kernels/blocks/block-layout.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import {
  type GroupPlace,
  type WideTile,
  type WideTileContext,
  emitWideStores,
  forEachPlainGroup,
  sumOffset,
} from "./wide-tile.ts";

/** Bytes of the scales, or of the minima, of a panel. */
const scaleBytes = tileColumns * 4;

/** Registers of a tile. The integer sums are in the first ones, in the order of the rows. */
export interface TileRows {
  readonly rows: number;
  /** Sums of a super-block; the totals if groups have no scales of their own. */
  part(row: number): Vector;
  total(row: number): Vector | Memory;
  /** Sums of the minima of a super-block. */
  minima(row: number): Vector | Memory;
}

/** Registers that each group changes. */
export interface GroupRegisters {
  readonly scale: Vector;
  readonly minimum: Vector;
  readonly code: Vector;
  readonly low: Vector;
  readonly shifted: Vector;
}

/** Generates tiles. Registers: rax activations, r15 weights, r10 counts super-blocks, r13 groups of 32 activations. */
export abstract class ScaledBlockTile<Tile extends TileRows> implements WideTile {
  abstract readonly stackBytes: number;
  protected readonly context: WideTileContext;
  readonly #registers: GroupRegisters;
  /** Width of the sums of a row. */
  readonly #width: { readonly bits: 256 | 512 };

  constructor(context: WideTileContext, registers: GroupRegisters, bits: 256 | 512) {
    this.context = context;
    this.#registers = registers;
    this.#width = { bits };
  }

  abstract emitConstants(): void;

  protected abstract assign(rows: number): Tile;

  /** Generates the loads of the activations of 32 k that several groups use. */
  protected abstract emitActivations(tile: Tile): void;

  /** Generates the integer sums of a group, and `emitScaledSums`. */
  protected abstract emitGroup(tile: Tile, place: GroupPlace): void;

  /** Generates the load of scales or minima in float32, `displacement` bytes from r15. */
  protected abstract emitLoad(to: Vector, displacement: number): void;

  /** Generates the load of scales and minima of 8 bits, as float32. */
  protected abstract emitLoadBytes(displacement: number): void;

  emit(rows: number): void {
    const { asm, request, layout } = this.context;
    const { superElements, hasGroupScales, headerBytes, superBytes } = layout;
    const tile = this.assign(rows);
    for (const row of indices(rows)) {
      asm.clear(tile.part(row));
      if (hasGroupScales) this.#set(tile.total(row), tile.part(row));
    }
    asm.move("rax", "rbp");
    asm.move("r15", "rsi");
    const elements = Math.max(superElements, activationGroup);
    asm.loadImmediate("r10", request.k / elements);
    asm.countDown("r10", () => {
      if (hasGroupScales) {
        asm.add("r15", headerBytes);
        this.#emitScaledGroups(tile);
        return;
      }
      for (const index of indices(elements / activationGroup)) {
        this.emitActivations(tile);
        forEachPlainGroup(layout, index, (place) => this.emitGroup(tile, place));
        asm.add("rax", activationGroupBytes);
      }
      asm.add("r15", superBytes * (elements / superElements));
    });
    if (hasGroupScales) for (const row of indices(rows)) asm.vector("vmovups", tile.part(row), tile.total(row), this.#width);
    emitWideStores(asm, request, rows, (row) => tile.part(row));
  }

  /** A super-block whose groups have scales of 8 bits, as integer factors of its own. */
  #emitScaledGroups(tile: Tile): void {
    const { asm, layout } = this.context;
    const { superElements, superBytes, groupElements, groupBytes, hasMins } = layout;
    const { scale, minimum, code, low } = this.#registers;
    const halves = activationGroup / groupElements;
    for (const row of indices(tile.rows)) {
      asm.clear(tile.part(row));
      if (hasMins) this.#set(tile.minima(row), tile.part(row));
    }
    asm.loadImmediate("r13", superElements / activationGroup);
    asm.countDown("r13", () => {
      this.emitActivations(tile);
      for (const half of indices(halves)) this.emitGroup(tile, { header: undefined, group: half * groupBytes, half });
      asm.add("r15", halves * groupBytes);
      asm.add("rax", activationGroupBytes);
    });
    this.emitLoad(scale, -superBytes);
    if (hasMins) this.emitLoad(minimum, scaleBytes - superBytes);
    for (const row of indices(tile.rows)) {
      asm.vector("vmulps", code, scale, tile.part(row), this.#width);
      asm.vector("vaddps", low, code, tile.total(row), this.#width);
      if (hasMins) {
        asm.vector("vmulps", code, minimum, tile.minima(row), this.#width);
        asm.vector("vsubps", low, low, code, this.#width);
      }
      this.#set(tile.total(row), low);
    }
  }

  /** Adds the integer sums of a group, which are in the first registers, with their scales and minima. */
  protected emitScaledSums(tile: Tile, place: GroupPlace): void {
    const { asm, layout } = this.context;
    const { hasMins, smallestCode } = layout;
    const { header, group } = place;
    const { scale, minimum, code, shifted } = this.#registers;
    const broadcast = { ...this.#width, broadcast: true } as const;
    // Codes lack the smallest code, which the sum of the activations makes up for.
    if (smallestCode !== 0) {
      asm.vector("vpbroadcastd", code, asm.integers(smallestCode), this.#width);
      for (const row of indices(tile.rows)) {
        asm.vector("vpmulld", shifted, code, this.activation(row, sumOffset(layout, place)), broadcast);
        asm.vector("vpaddd", row, row, shifted, this.#width);
      }
    }
    if (header === undefined) this.emitLoadBytes(group);
    else {
      this.emitLoad(scale, header);
      if (hasMins) this.emitLoad(minimum, header + scaleBytes);
    }
    for (const row of indices(tile.rows)) {
      const activationScale = this.activation(row, activationScaleOffset);
      asm.vector("vcvtdq2ps", row, row, this.#width);
      asm.vector("vmulps", code, scale, activationScale, broadcast);
      asm.vector("vmulps", code, row, code, this.#width);
      asm.vector("vaddps", tile.part(row), tile.part(row), code, this.#width);
      if (!hasMins) continue;
      asm.vector("vcvtdq2ps", shifted, this.activation(row, sumOffset(layout, place)), broadcast);
      asm.vector("vmulps", shifted, shifted, activationScale, broadcast);
      asm.vector("vmulps", shifted, minimum, shifted, this.#width);
      if (header === undefined) {
        asm.vector("vaddps", shifted, shifted, tile.minima(row), this.#width);
        this.#set(tile.minima(row), shifted);
      } else asm.vector("vsubps", tile.part(row), tile.part(row), shifted, this.#width);
    }
  }

  #set(to: Vector | Memory, from: Vector): void {
    const { asm } = this.context;
    if (typeof to === "number") asm.vector("vmovups", to, from, this.#width);
    else asm.vector("vmovupsStore", to, from, this.#width);
  }

  /** Memory of the activations of a row, or of what follows them, `offset` bytes from rax. */
  protected activation(row: number, offset: number): Memory {
    return { base: "rax", displacement: row * this.context.rowBytes + offset };
  }
}
