/**
 * Tiles of products with quantized weights and activations of 16 bits. One vector holds the codes of the 16 columns of two panels for two neighbouring k, in 16-bit
 * lanes, once they are unpacked: see `block-codes.ts`.
 */
import { lowPlaneBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { blockStepBytes, groupSteps, stepPairs } from "../../wasm/kernels/blocks/block-codes.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import { ScaledBlockTile, type TileRows } from "./scaled-block-tile.ts";
import {
  type GroupPlace,
  type WideTileContext,
  SumRegisters,
  emitLoadBoth,
  emitPrefetchBoth,
  inSecond,
  maxTileRows,
} from "./wide-tile.ts";

const vectorBytes = 64;
const [low, code, shifted, scale, minimum, high, highMask, mask] = [24, 25, 26, 27, 28, 29, 30, 31] as const;

/** Registers of a tile. Sums of minima and totals are on the stack where there are too many rows. */
class TileRegisters implements TileRows {
  readonly rows: number;
  readonly sums: SumRegisters;

  constructor(rows: number) {
    this.rows = rows;
    this.sums = new SumRegisters(rows, 4 * rows, rows <= 4 ? 2 : 1);
  }

  part(row: number): Vector {
    return this.rows + row;
  }

  total(row: number): Vector | Memory {
    return this.rows <= 4 ? 2 * this.rows + row : { base: "rsp", displacement: row * vectorBytes };
  }

  minima(row: number): Vector | Memory {
    return this.rows <= 4 ? 3 * this.rows + row : { base: "rsp", displacement: (maxTileRows + row) * vectorBytes };
  }
}

/** Generates the tiles; registers as in `ScaledBlockTile`. */
export class WideBlockTile extends ScaledBlockTile<TileRegisters> {
  readonly stackBytes: number;

  constructor(context: WideTileContext) {
    super(context, { scale, minimum, code, low, shifted }, 512);
    this.stackBytes = context.layout.hasGroupScales ? 2 * maxTileRows * vectorBytes : 0;
  }

  /** Masks of the lower and the upper bits of codes. */
  emitConstants(): void {
    const { asm, layout } = this.context;
    const { lowBits, highBits } = layout;
    const splat = (to: Vector, bits: number): void => asm.vector("vpbroadcastd", to, asm.integers(bits * 0x1_0001));
    if (lowBits === 8) return;
    splat(mask, 2 ** lowBits - 1);
    if (highBits > 0) splat(highMask, (2 ** highBits - 1) << lowBits);
  }

  protected assign(rows: number): TileRegisters {
    return new TileRegisters(rows);
  }

  protected emitActivations(): void {} // products read them from memory

  protected emitGroup(tile: TileRegisters, place: GroupPlace): void {
    const { asm, layout } = this.context;
    emitPrefetchBoth(this.context, place.group, layout.groupBytes);
    tile.sums.emitClear(asm);
    this.#emitCodes(place, (pair) => {
      const offset = (place.half * layout.groupElements + 2 * pair) * 2;
      for (const row of indices(tile.rows))
        asm.vector("vpdpwssd", tile.sums.at(row, pair), code, this.activation(row, offset), { broadcast: true });
    });
    tile.sums.emitJoin(asm);
    this.emitScaledSums(tile, place);
  }

  /** Generates the codes of each pair of k into the register `code`, and calls `use`. */
  #emitCodes({ group }: GroupPlace, use: (pair: number) => void): void {
    const { asm, layout } = this.context;
    const { lowBits, highBits, groupHeaderBytes, groupElements } = layout;
    const codes = group + groupHeaderBytes;
    if (lowBits === 8) {
      for (const pair of indices(groupElements / 2)) {
        const displacement = codes + pair * 2 * tileColumns;
        asm.vector("vmovups", code, { base: "r15", displacement }, { bits: 128 });
        asm.vector("vinserti128", code, code, inSecond(displacement), 1, { bits: 256 });
        asm.vector("vpmovsxbw", code, code);
        use(pair);
      }
      return;
    }
    if (highBits > 0) emitLoadBoth(asm, high, codes + lowPlaneBytes(layout));
    const pairs = stepPairs(layout);
    for (const step of indices(groupSteps(layout))) {
      emitLoadBoth(asm, low, codes + step * blockStepBytes(layout));
      for (const within of indices(pairs)) {
        const pair = step * pairs + within;
        if (within > 0) asm.vector("vpsrlw", code, low, within * lowBits);
        if (within < pairs - 1) asm.vector("vpand", code, within > 0 ? code : low, mask); // the uppermost field needs no mask
        if (highBits > 0) this.#emitUpperBits(pair * highBits - lowBits);
        use(pair);
      }
    }
  }

  /** Adds the upper bits to `code`: those that lie `distance` bits above their place, or below it. */
  #emitUpperBits(distance: number): void {
    const { asm } = this.context;
    if (distance > 0) asm.vector("vpsrlw", shifted, high, distance);
    if (distance < 0) asm.vector("vpsllw", shifted, high, -distance);
    // code | (bits & mask): the table of the function of code, bits and mask.
    asm.vector("vpternlogd", code, distance === 0 ? high : shifted, highMask, 0xf8);
  }

  protected emitLoad(to: Vector, displacement: number): void {
    emitLoadBoth(this.context.asm, to, displacement);
  }

  protected emitLoadBytes(displacement: number): void {
    const { asm, layout } = this.context;
    asm.vector("vmovups", scale, { base: "r15", displacement }, { bits: 128 });
    asm.vector("vmovups", code, inSecond(displacement), { bits: 128 });
    if (layout.hasMins) {
      asm.vector("vpunpckhqdq", minimum, scale, code, { bits: 128 });
      asm.vector("vpmovzxbd", minimum, minimum);
      asm.vector("vcvtdq2ps", minimum, minimum);
    }
    asm.vector("vpunpcklqdq", scale, scale, code, { bits: 128 });
    asm.vector("vpmovsxbd", scale, scale);
    asm.vector("vcvtdq2ps", scale, scale);
  }
}
