/**
 * Tiles of products with quantized weights and activations of 16 bits. One vector holds the codes of the 16 columns of two panels for two neighbouring k, in 16-bit
 * lanes, once they are unpacked: see `block-codes.ts`.
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
  emitLoadBoth,
  emitPrefetchBoth,
  emitWideStores,
  forEachPlainGroup,
  inSecond,
  maxTileRows,
  sumOffset,
} from "./wide-tile.ts";

const vectorBytes = 64;
/** Bytes of the scales, or of the minima, of a panel. */
const scaleBytes = tileColumns * 4;
const [low, code, shifted, scale, minimum, high, highMask, mask] = [24, 25, 26, 27, 28, 29, 30, 31] as const;

/** Registers of a tile. Sums of minima and totals are on the stack where there are too many rows. */
class TileRegisters {
  readonly rows: number;
  readonly sums: SumRegisters;

  constructor(rows: number) {
    this.rows = rows;
    this.sums = new SumRegisters(rows, 4 * rows, rows <= 4 ? 2 : 1);
  }

  /** Sums of a super-block; the totals if groups have no scales of their own. */
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

/** Registers: rax activations, r15 weights, r10 counts super-blocks, r13 groups of 32 activations. */
export class WideBlockTile implements WideTile {
  readonly stackBytes: number;
  readonly #context: WideTileContext;

  constructor(context: WideTileContext) {
    this.#context = context;
    this.stackBytes = context.layout.hasGroupScales ? 2 * maxTileRows * vectorBytes : 0;
  }

  /** Masks of the lower and the upper bits of codes. */
  emitConstants(): void {
    const { asm, layout } = this.#context;
    const { lowBits, highBits } = layout;
    const splat = (to: Vector, bits: number): void => asm.vector("vpbroadcastd", to, asm.integers(bits * 0x1_0001));
    if (lowBits === 8) return;
    splat(mask, 2 ** lowBits - 1);
    if (highBits > 0) splat(highMask, (2 ** highBits - 1) << lowBits);
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
        forEachPlainGroup(layout, index, (place) => this.#emitGroup(tile, place));
        asm.add("rax", activationGroupBytes);
      }
      asm.add("r15", superBytes * (elements / superElements));
    });
    if (hasGroupScales) for (const row of indices(rows)) asm.vector("vmovups", tile.part(row), tile.total(row));
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
      for (const half of indices(halves)) this.#emitGroup(tile, { header: undefined, group: half * groupBytes, half });
      asm.add("r15", halves * groupBytes);
      asm.add("rax", activationGroupBytes);
    });
    emitLoadBoth(asm, scale, -superBytes);
    if (hasMins) emitLoadBoth(asm, minimum, scaleBytes - superBytes);
    for (const row of indices(tile.rows)) {
      asm.vector("vmulps", code, scale, tile.part(row));
      asm.vector("vaddps", low, code, tile.total(row));
      if (hasMins) {
        asm.vector("vmulps", code, minimum, tile.minima(row));
        asm.vector("vsubps", low, low, code);
      }
      this.#set(tile.total(row), low);
    }
  }

  #emitGroup(tile: TileRegisters, place: GroupPlace): void {
    const { asm, layout } = this.#context;
    emitPrefetchBoth(this.#context, place.group, layout.groupBytes);
    tile.sums.emitClear(asm);
    this.#emitCodes(place, (pair) => {
      const offset = (place.half * layout.groupElements + 2 * pair) * 2;
      for (const row of indices(tile.rows))
        asm.vector("vpdpwssd", tile.sums.at(row, pair), code, this.#activation(row, offset), { broadcast: true });
    });
    tile.sums.emitJoin(asm);
    // Codes lack the smallest code, which the sum of the activations makes up for.
    if (layout.smallestCode !== 0) {
      asm.vector("vpbroadcastd", code, asm.integers(layout.smallestCode));
      for (const row of indices(tile.rows)) {
        asm.vector("vpmulld", shifted, code, this.#activation(row, sumOffset(layout, place)), { broadcast: true });
        asm.vector("vpaddd", row, row, shifted);
      }
    }
    this.#emitScales(tile, place);
  }

  /** Generates the codes of each pair of k into the register `code`, and calls `use`. */
  #emitCodes({ group }: GroupPlace, use: (pair: number) => void): void {
    const { asm, layout } = this.#context;
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
    const { asm } = this.#context;
    if (distance > 0) asm.vector("vpsrlw", shifted, high, distance);
    if (distance < 0) asm.vector("vpsllw", shifted, high, -distance);
    // code | (bits & mask): the table of the function of code, bits and mask.
    asm.vector("vpternlogd", code, distance === 0 ? high : shifted, highMask, 0xf8);
  }

  /** Adds the scaled sums of a group, and the minima. */
  #emitScales(tile: TileRegisters, place: GroupPlace): void {
    const { asm, layout } = this.#context;
    const { hasMins } = layout;
    const { header, group } = place;
    if (header === undefined) {
      asm.vector("vmovups", scale, { base: "r15", displacement: group }, { bits: 128 });
      asm.vector("vmovups", code, inSecond(group), { bits: 128 });
      if (hasMins) {
        asm.vector("vpunpckhqdq", minimum, scale, code, { bits: 128 });
        asm.vector("vpmovzxbd", minimum, minimum);
        asm.vector("vcvtdq2ps", minimum, minimum);
      }
      asm.vector("vpunpcklqdq", scale, scale, code, { bits: 128 });
      asm.vector("vpmovsxbd", scale, scale);
      asm.vector("vcvtdq2ps", scale, scale);
    } else {
      emitLoadBoth(asm, scale, header);
      if (hasMins) emitLoadBoth(asm, minimum, header + scaleBytes);
    }
    const broadcast = { broadcast: true };
    for (const row of indices(tile.rows)) {
      const activationScale = this.#activation(row, activationScaleOffset);
      asm.vector("vcvtdq2ps", row, row);
      asm.vector("vmulps", code, scale, activationScale, broadcast);
      asm.vector("vmulps", code, row, code);
      asm.vector("vaddps", tile.part(row), tile.part(row), code);
      if (!hasMins) continue;
      asm.vector("vcvtdq2ps", shifted, this.#activation(row, sumOffset(layout, place)), broadcast);
      asm.vector("vmulps", shifted, shifted, activationScale, broadcast);
      asm.vector("vmulps", shifted, minimum, shifted);
      if (header === undefined) {
        asm.vector("vaddps", shifted, shifted, tile.minima(row));
        this.#set(tile.minima(row), shifted);
      } else asm.vector("vsubps", tile.part(row), tile.part(row), shifted);
    }
  }

  #set(to: Vector | Memory, from: Vector): void {
    const { asm } = this.#context;
    if (typeof to === "number") asm.copy(to, from);
    else asm.vector("vmovupsStore", to, from);
  }

  #activation(row: number, offset: number): Memory {
    return { base: "rax", displacement: row * this.#context.rowBytes + offset };
  }
}
