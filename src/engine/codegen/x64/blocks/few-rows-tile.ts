/**
 * Tiles of one to four rows of products with quantized weights and activations of 16 bits, which are bound by reading the weights: one panel is read from its
 * beginning to its end. A vector of 64 bytes holds the codes of its 8 columns for two steps of k, one in each half; see `block-codes.ts`.
 */
import {
  activationGroup,
  activationGroupBytes,
  activationScaleOffset,
  lowPlaneBytes,
} from "../../wasm/kernels/blocks/block-layout.ts";
import { blockStepBytes, groupSteps, stepPairs } from "../../wasm/kernels/blocks/block-codes.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import {
  type GroupPlace,
  type WideTile,
  type WideTileContext,
  SumRegisters,
  emitPairIndices,
  emitPrefetch,
  emitWideStores,
  forEachPlainGroup,
  sumOffset,
} from "./wide-tile.ts";

const vectorBytes = 32;
/** Bytes of the scales, or of the minima, of a panel. */
const scaleBytes = tileColumns * 4;
/** The registers from 24 on hold indices of pairs of activations. */
const [factor, high, minimum, scale, shifted, code, low, highMask, mask, firstIndices] = [15, 16, 17, 18, 19, 20, 21, 22, 23, 24];
/** Mask register of the upper half of a vector of 16-bit lanes. */
const upperHalf = 2;
const narrow = { bits: 256 } as const;
const broadcast = { bits: 256, broadcast: true } as const;

/** Registers of a tile, from 0 to 14. */
class TileRegisters {
  readonly rows: number;
  readonly sums: SumRegisters;

  constructor(rows: number) {
    this.rows = rows;
    this.sums = new SumRegisters(rows, 4 * rows + 1, rows === 1 ? 2 : 1);
  }

  /** Sums of a super-block; the totals if groups have no scales of their own. */
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

/** Registers: rax activations, r15 weights, r10 counts super-blocks, r13 groups of 32 activations. */
export class FewRowsTile implements WideTile {
  readonly stackBytes: number;
  readonly #context: WideTileContext;
  /** Neighbouring steps that one vector of codes holds. */
  readonly #stepsOfVector: 1 | 2;

  constructor(context: WideTileContext) {
    this.#context = context;
    this.stackBytes = context.layout.hasGroupScales ? 8 * vectorBytes : 0;
    this.#stepsOfVector = groupSteps(context.layout) === 1 ? 1 : 2;
  }

  /** Masks of the lower and the upper bits of codes, and the indices of the pairs of activations of each vector of codes. */
  emitConstants(): void {
    const { asm, layout } = this.#context;
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

  emit(rows: number): void {
    const { asm, request, layout } = this.#context;
    const { superElements, hasGroupScales, headerBytes, superBytes } = layout;
    const tile = new TileRegisters(rows);
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
        this.#emitActivations(tile);
        forEachPlainGroup(layout, index, (place) => this.#emitGroup(tile, place));
        asm.add("rax", activationGroupBytes);
      }
      asm.add("r15", superBytes * (elements / superElements));
    });
    if (hasGroupScales) for (const row of indices(rows)) asm.vector("vmovups", tile.part(row), tile.total(row), narrow);
    emitWideStores(asm, request, rows, (row) => tile.part(row));
  }

  /** A super-block whose groups have scales of 8 bits, as integer factors of its own. */
  #emitScaledGroups(tile: TileRegisters): void {
    const { asm, layout } = this.#context;
    const { superElements, superBytes, groupElements, groupBytes, hasMins } = layout;
    const halves = activationGroup / groupElements;
    for (const row of indices(tile.rows)) {
      asm.clear(tile.part(row));
      if (hasMins) this.#set(tile.minima(row), tile.part(row));
    }
    asm.loadImmediate("r13", superElements / activationGroup);
    asm.countDown("r13", () => {
      this.#emitActivations(tile);
      for (const half of indices(halves)) this.#emitGroup(tile, { header: undefined, group: half * groupBytes, half });
      asm.add("r15", halves * groupBytes);
      asm.add("rax", activationGroupBytes);
    });
    asm.vector("vmovups", scale, { base: "r15", displacement: -superBytes }, narrow);
    if (hasMins) asm.vector("vmovups", minimum, { base: "r15", displacement: scaleBytes - superBytes }, narrow);
    for (const row of indices(tile.rows)) {
      asm.vector("vmulps", code, scale, tile.part(row), narrow);
      asm.vector("vaddps", low, code, tile.total(row), narrow);
      if (hasMins) {
        asm.vector("vmulps", code, minimum, tile.minima(row), narrow);
        asm.vector("vsubps", low, low, code, narrow);
      }
      this.#set(tile.total(row), low);
    }
  }

  #emitActivations(tile: TileRegisters): void {
    if (this.#stepsOfVector === 1) return;
    for (const row of indices(tile.rows)) this.#context.asm.vector("vmovups", tile.activations(row), this.#activation(row, 0));
  }

  #emitGroup(tile: TileRegisters, place: GroupPlace): void {
    const { asm, layout } = this.#context;
    const firstPair = (place.half * layout.groupElements) / 2;
    emitPrefetch(asm, place.group, layout.groupBytes);
    tile.sums.emitClear(asm);
    if (this.#stepsOfVector === 1)
      this.#emitCodes(place, (pair) => {
        for (const row of indices(tile.rows))
          asm.vector("vpdpwssd", tile.sums.at(row, pair), code, this.#activation(row, 4 * (firstPair + pair)), broadcast);
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
    // Codes lack the smallest code, which the sum of the activations makes up for.
    if (layout.smallestCode !== 0) {
      asm.vector("vpbroadcastd", code, asm.integers(layout.smallestCode), narrow);
      for (const row of indices(tile.rows)) {
        asm.vector("vpmulld", shifted, code, this.#activation(row, sumOffset(layout, place)), broadcast);
        asm.vector("vpaddd", row, row, shifted, narrow);
      }
    }
    this.#emitScales(tile, place);
  }

  /** Generates each vector of codes into the register `code`, and calls `use` with its first pair of k and its number. */
  #emitCodes({ group }: GroupPlace, use: (pair: number, index: number) => void): void {
    const { asm, layout } = this.#context;
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

  /** Adds the scaled sums of a group, and the minima. */
  #emitScales(tile: TileRegisters, place: GroupPlace): void {
    const { asm, layout } = this.#context;
    const { hasMins } = layout;
    const { header, group } = place;
    if (header === undefined) {
      asm.vector("vpmovsxbd", scale, { base: "r15", displacement: group }, narrow);
      asm.vector("vcvtdq2ps", scale, scale, narrow);
      if (hasMins) {
        asm.vector("vpmovzxbd", minimum, { base: "r15", displacement: group + tileColumns }, narrow);
        asm.vector("vcvtdq2ps", minimum, minimum, narrow);
      }
    } else {
      asm.vector("vmovups", scale, { base: "r15", displacement: header }, narrow);
      if (hasMins) asm.vector("vmovups", minimum, { base: "r15", displacement: header + scaleBytes }, narrow);
    }
    for (const row of indices(tile.rows)) {
      const activationScale = this.#activation(row, activationScaleOffset);
      asm.vector("vcvtdq2ps", row, row, narrow);
      asm.vector("vmulps", code, scale, activationScale, broadcast);
      asm.vector("vmulps", code, row, code, narrow);
      asm.vector("vaddps", tile.part(row), tile.part(row), code, narrow);
      if (!hasMins) continue;
      asm.vector("vcvtdq2ps", shifted, this.#activation(row, sumOffset(layout, place)), broadcast);
      asm.vector("vmulps", shifted, shifted, activationScale, broadcast);
      asm.vector("vmulps", shifted, minimum, shifted, narrow);
      if (header === undefined) {
        asm.vector("vaddps", shifted, shifted, tile.minima(row), narrow);
        this.#set(tile.minima(row), shifted);
      } else asm.vector("vsubps", tile.part(row), tile.part(row), shifted, narrow);
    }
  }

  #set(to: Vector | Memory, from: Vector): void {
    const { asm } = this.#context;
    if (typeof to === "number") asm.vector("vmovups", to, from, narrow);
    else asm.vector("vmovupsStore", to, from, narrow);
  }

  #activation(row: number, offset: number): Memory {
    return { base: "rax", displacement: row * this.#context.rowBytes + offset };
  }
}
