/**
 * Tiles of one to four rows of products with quantized weights and activations of 16 bits, which are bound by reading the weights: one panel is read from its
 * beginning to its end. A vector of 64 bytes holds the codes of its 8 columns for two steps of k, one in each half; see `block-codes.ts`.
 */
import { activationGroup, lowPlaneBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { blockStepBytes, groupSteps, stepPairs } from "../../wasm/kernels/blocks/block-codes.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import { ScaledBlockTile, type TileRows } from "./scaled-block-tile.ts";
import { type GroupPlace, type WideTileContext, SumRegisters, emitPairIndices, emitPrefetch } from "./wide-tile.ts";

const vectorBytes = 32;
/** The registers from 24 on hold indices of pairs of activations. */
const [factor, high, minimum, scale, shifted, code, low, highMask, mask, firstIndices] = [15, 16, 17, 18, 19, 20, 21, 22, 23, 24];
/** Mask register of the upper half of a vector of 16-bit lanes. */
const upperHalf = 2;
const narrow = { bits: 256 } as const;
const broadcast = { bits: 256, broadcast: true } as const;

/** Registers of a tile, from 0 to 14. */
class TileRegisters implements TileRows {
  readonly rows: number;
  readonly sums: SumRegisters;

  constructor(rows: number) {
    this.rows = rows;
    this.sums = new SumRegisters(rows, 4 * rows + 1, rows === 1 ? 2 : 1);
  }

  part(row: number): Vector {
    return this.rows + row;
  }

  /** The activations of a group. */
  activations(row: number): Vector {
    return 2 * this.rows + row;
  }

  total(row: number): Vector | Memory {
    return this.rows < 4 ? 3 * this.rows + row : { base: "rsp", displacement: row * vectorBytes };
  }

  minima(row: number): Vector | Memory {
    return this.rows < 4 ? this.#rest + row : { base: "rsp", displacement: (4 + row) * vectorBytes };
  }

  get #rest(): number {
    return this.rows === 1 ? 4 : 4 * this.rows;
  }
}

/** Generates the tiles; registers as in `ScaledBlockTile`. */
export class FewRowsTile extends ScaledBlockTile<TileRegisters> {
  readonly stackBytes: number;
  /** Neighbouring steps that one vector of codes holds. */
  readonly #stepsOfVector: 1 | 2;

  constructor(context: WideTileContext) {
    super(context, { scale, minimum, code, low, shifted }, 256);
    this.stackBytes = context.layout.hasGroupScales ? 8 * vectorBytes : 0;
    this.#stepsOfVector = groupSteps(context.layout) === 1 ? 1 : 2;
  }

  /** Masks of the lower and the upper bits of codes, and the indices of the pairs of activations of each vector of codes. */
  emitConstants(): void {
    const { asm, layout } = this.context;
    const { lowBits, highBits } = layout;
    const splat = (to: Vector, bits: number): void => asm.vector("vpbroadcastd", to, asm.integers(bits * 0x1_0001));
    if (lowBits < 8) splat(mask, 2 ** lowBits - 1);
    if (highBits > 0) {
      splat(highMask, (2 ** highBits - 1) << lowBits);
      asm.loadImmediate("rax", -65536); // bits 16 to 31
      asm.vector("kmovd", upperHalf, "rax");
    }
    const pairs = lowBits === 8 ? 1 : stepPairs(layout);
    const first = indices(activationGroup / 2).filter((pair) => Math.floor(pair / pairs) % 2 === 0);
    emitPairIndices(asm, firstIndices, first, pairs);
  }

  protected assign(rows: number): TileRegisters {
    return new TileRegisters(rows);
  }

  protected emitActivations(tile: TileRegisters): void {
    if (this.#stepsOfVector === 1) return;
    for (const row of indices(tile.rows)) this.context.asm.vector("vmovups", tile.activations(row), this.activation(row, 0));
  }

  protected emitGroup(tile: TileRegisters, place: GroupPlace): void {
    const { asm, layout } = this.context;
    const firstPair = (place.half * layout.groupElements) / 2;
    emitPrefetch(asm, place.group, layout.groupBytes);
    tile.sums.emitClear(asm);
    if (this.#stepsOfVector === 1)
      this.#emitCodes(place, (pair) => {
        for (const row of indices(tile.rows))
          asm.vector("vpdpwssd", tile.sums.at(row, pair), code, this.activation(row, 4 * (firstPair + pair)), broadcast);
      });
    else {
      const taken = firstPair / 2;
      this.#emitCodes(place, (_pair, index) => {
        for (const row of indices(tile.rows)) {
          asm.vector("vpermd", factor, firstIndices + taken + index, tile.activations(row));
          asm.vector("vpdpwssd", tile.sums.at(row, index), code, factor);
        }
      });
    }
    tile.sums.emitJoin(asm);
    if (this.#stepsOfVector === 2)
      for (const row of indices(tile.rows)) {
        asm.vector("vextracti64x4", shifted, row, 1);
        asm.vector("vpaddd", row, row, shifted, narrow);
      }
    this.emitScaledSums(tile, place);
  }

  /** Generates each vector of codes into the register `code`, and calls `use` with its first pair of k and its number. */
  #emitCodes({ group }: GroupPlace, use: (pair: number, index: number) => void): void {
    const { asm, layout } = this.context;
    const { lowBits, highBits, groupHeaderBytes, groupElements } = layout;
    const codes = group + groupHeaderBytes;
    if (lowBits === 8) {
      const pairBytes = 2 * tileColumns;
      for (const index of indices(groupElements / 4)) {
        asm.vector("vpmovsxbw", code, { base: "r15", displacement: codes + 2 * index * pairBytes });
        use(2 * index, index);
      }
      return;
    }
    const bits = this.#stepsOfVector === 2 ? 512 : 256;
    const pairs = stepPairs(layout);
    if (highBits > 0) {
      const at = { base: "r15", displacement: codes + lowPlaneBytes(layout) } as const;
      if (bits === 256) asm.vector("vmovups", high, at, { bits });
      else {
        asm.vector("vbroadcastf64x4", high, at);
        asm.vector("vpsrlw", high, high, pairs * highBits, { mask: upperHalf });
      }
    }
    for (const vector of indices(groupSteps(layout) / this.#stepsOfVector)) {
      const step = vector * this.#stepsOfVector;
      asm.vector("vmovups", low, { base: "r15", displacement: codes + step * blockStepBytes(layout) }, { bits });
      for (const within of indices(pairs)) {
        const pair = step * pairs + within;
        if (within > 0) asm.vector("vpsrlw", code, low, within * lowBits, { bits });
        if (within < pairs - 1) asm.vector("vpand", code, within > 0 ? code : low, mask, { bits }); // the uppermost field needs no mask
        if (highBits > 0) {
          const distance = pair * highBits - lowBits;
          if (distance > 0) asm.vector("vpsrlw", shifted, high, distance, { bits });
          if (distance < 0) asm.vector("vpsllw", shifted, high, -distance, { bits });
          // code | (bits & mask): the table of the function of code, bits and mask.
          asm.vector("vpternlogd", code, distance === 0 ? high : shifted, highMask, 0xf8, { bits });
        }
        use(pair, vector * pairs + within);
      }
    }
  }

  protected emitLoad(to: Vector, displacement: number): void {
    this.context.asm.vector("vmovups", to, { base: "r15", displacement }, narrow);
  }

  protected emitLoadBytes(displacement: number): void {
    const { asm, layout } = this.context;
    const convert = (name: "vpmovsxbd" | "vpmovzxbd", to: Vector, from: number): void => {
      asm.vector(name, to, { base: "r15", displacement: from }, narrow);
      asm.vector("vcvtdq2ps", to, to, narrow);
    };
    convert("vpmovsxbd", scale, displacement);
    if (layout.hasMins) convert("vpmovzxbd", minimum, displacement + tileColumns);
  }
}
