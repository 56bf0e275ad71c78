/**
 * Tiles of products with quantized weights and activations of 16 bits. One vector holds the codes of 8 columns for two neighbouring k, in 16-bit lanes, once they
 * are unpacked: see `block-codes.ts`.
 */
import {
  activationGroup,
  activationGroupBytes,
  activationScaleOffset,
  activationSumOffsets,
  lowPlaneBytes,
} from "../../wasm/kernels/blocks/block-layout.ts";
import { groupSteps, blockStepBytes, stepPairs } from "../../wasm/kernels/blocks/block-codes.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import { type TileContext, type TileEmitter, emitStores } from "./tile-emitter.ts";

/** Vector registers: sums of a group, sums of a super-block (which are the totals if groups have no scales of their own), and others. */
const computeSum = (row: number): Vector => row;
const getPart = (row: number): Vector => 4 + row;
const [low, code, factor, scale, minimum, high, highMask, mask] = [8, 9, 10, 11, 12, 13, 14, 15] as const;
const vectorBytes = 32;
const maxRows = 4;

/** Where a group of codes begins, and its scales, in bytes from r15. */
interface GroupPlace {
  /** Scales and minima of the columns in float32. Undefined: groups have their own in 8 bits, at the beginning of the group. */
  readonly header: number | undefined;
  readonly group: number;
  /** Which group of 16 among the 32 activations at rax; 0 for groups of 32. */
  readonly half: number;
}

/** Registers: rax activations, r15 weights, r10 counts super-blocks, r13 groups of 32 activations. */
export class BlockTile implements TileEmitter {
  /** The smallest code, and if groups have scales of their own the totals and the sums of minima of each row. */
  readonly stackBytes: number;
  readonly #context: TileContext;

  constructor(context: TileContext) {
    this.#context = context;
    this.stackBytes = 8 + (context.layout.hasGroupScales ? 2 * maxRows * vectorBytes : 0);
  }

  /** Masks of the lower and the upper bits of codes. */
  emitConstants(): void {
    const asm = this.#context.asm;
    const { lowBits, highBits, smallestCode } = this.#context.layout;
    asm.loadImmediate("rax", smallestCode);
    asm.store(this.#smallestCode, "rax");
    if (lowBits === 8) return;
    asm.vector("vpcmpeqw", code, code, code);
    asm.vector("vpsrlw", mask, code, 16 - lowBits);
    if (highBits === 0) return;
    asm.vector("vpsrlw", highMask, code, 16 - highBits);
    asm.vector("vpsllw", highMask, highMask, lowBits);
  }

  emit(rows: number): void {
    const asm = this.#context.asm;
    const { k } = this.#context.request;
    const { superElements, hasGroupScales, headerBytes, superBytes } = this.#context.layout;
    for (const row of indices(rows)) asm.clear(getPart(row));
    if (hasGroupScales) for (const row of indices(rows)) asm.vector("vmovupsStore", this.#total(row), getPart(row));
    asm.move("rax", "rbp");
    asm.move("r15", "rsi");
    const elements = Math.max(superElements, activationGroup);
    asm.loadImmediate("r10", k / elements);
    asm.countDown("r10", () => {
      if (hasGroupScales) {
        asm.add("r15", headerBytes);
        this.#emitScaledGroups(rows);
        return;
      }
      for (const index of indices(elements / activationGroup)) this.#emitPlainGroup(rows, index);
      asm.add("r15", superBytes * (elements / superElements));
    });
    if (hasGroupScales) for (const row of indices(rows)) asm.vector("vmovups", getPart(row), this.#total(row));
    emitStores(asm, this.#context.request, rows, getPart);
  }

  /** A super-block whose groups have scales of 8 bits, as integer factors of its own. */
  #emitScaledGroups(rows: number): void {
    const asm = this.#context.asm;
    const { superElements, superBytes, groupElements, groupBytes, hasMins } = this.#context.layout;
    const halves = activationGroup / groupElements;
    for (const row of indices(rows)) {
      asm.clear(getPart(row));
      if (hasMins) asm.vector("vmovupsStore", this.#minima(row), getPart(row));
    }
    asm.loadImmediate("r13", superElements / activationGroup);
    asm.countDown("r13", () => {
      for (const half of indices(halves)) this.#emitGroup(rows, { header: undefined, group: half * groupBytes, half });
      asm.add("r15", halves * groupBytes);
      asm.add("rax", activationGroupBytes);
    });
    const header = { base: "r15", displacement: -superBytes } as const;
    for (const row of indices(rows)) {
      asm.vector("vmovups", low, this.#total(row));
      asm.vector("vmulps", code, getPart(row), header);
      asm.vector("vaddps", low, low, code);
      if (hasMins) {
        asm.vector("vmovups", code, this.#minima(row));
        asm.vector("vmulps", code, code, { ...header, displacement: vectorBytes - superBytes });
        asm.vector("vsubps", low, low, code);
      }
      asm.vector("vmovupsStore", this.#total(row), low);
    }
  }

  /** One group of 32 activations, and the group or the two groups of codes that it multiplies, or two super-blocks of 16. */
  #emitPlainGroup(rows: number, index: number): void {
    const { superElements, superBytes, headerBytes, groupElements, groupBytes } = this.#context.layout;
    const halves = activationGroup / groupElements;
    for (const half of indices(halves)) {
      const isSuperBlock = superElements < activationGroup;
      const header = isSuperBlock ? half * superBytes : 0;
      const group = header + headerBytes + (isSuperBlock ? 0 : (index * halves + half) * groupBytes);
      this.#emitGroup(rows, { header, group, half });
    }
    this.#context.asm.add("rax", activationGroupBytes);
  }

  #emitGroup(rows: number, place: GroupPlace): void {
    const asm = this.#context.asm;
    const { smallestCode } = this.#context.layout;
    // Codes lack the smallest code, which the sum of the activations makes up for.
    if (smallestCode !== 0) asm.vector("vpbroadcastd", minimum, this.#smallestCode);
    for (const row of indices(rows)) {
      if (smallestCode === 0) asm.clear(computeSum(row));
      else {
        asm.vector("vpbroadcastd", computeSum(row), this.#activation(row, this.#sumOffset(place)));
        asm.vector("vpmulld", computeSum(row), computeSum(row), minimum);
      }
    }
    this.#emitCodes(place, (pair) => {
      const offset = (place.half * this.#context.layout.groupElements + 2 * pair) * 2;
      for (const row of indices(rows)) {
        asm.vector("vpbroadcastd", factor, this.#activation(row, offset));
        asm.vector("vpmaddwd", factor, code, factor);
        asm.vector("vpaddd", computeSum(row), computeSum(row), factor);
      }
    });
    this.#emitScales(rows, place);
  }

  /** Generates the codes of each pair of k into the register `code`, and calls `use`. */
  #emitCodes({ group }: GroupPlace, use: (pair: number) => void): void {
    const asm = this.#context.asm;
    const { lowBits, highBits, groupHeaderBytes, groupElements } = this.#context.layout;
    const codes = group + groupHeaderBytes;
    if (lowBits === 8) {
      for (const pair of indices(groupElements / 2)) {
        asm.vector("vpmovsxbw", code, { base: "r15", displacement: codes + pair * 2 * tileColumns });
        use(pair);
      }
      return;
    }
    if (highBits > 0) asm.vector("vmovups", high, { base: "r15", displacement: codes + lowPlaneBytes(this.#context.layout) });
    const pairs = stepPairs(this.#context.layout);
    for (const step of indices(groupSteps(this.#context.layout))) {
      asm.vector("vmovups", low, { base: "r15", displacement: codes + step * blockStepBytes(this.#context.layout) });
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
    const asm = this.#context.asm;
    if (distance > 0) asm.vector("vpsrlw", scale, high, distance);
    if (distance < 0) asm.vector("vpsllw", scale, high, -distance);
    asm.vector("vpand", scale, distance === 0 ? high : scale, highMask);
    asm.vector("vpor", code, code, scale);
  }

  /** Adds the scaled sums of a group, and subtracts the minima. */
  #emitScales(rows: number, place: GroupPlace): void {
    const asm = this.#context.asm;
    const { hasMins } = this.#context.layout;
    const { header, group } = place;
    if (header === undefined) {
      asm.vector("vpmovsxbd", scale, { base: "r15", displacement: group });
      asm.vector("vcvtdq2ps", scale, scale);
      if (hasMins) {
        asm.vector("vpmovzxbd", minimum, { base: "r15", displacement: group + tileColumns });
        asm.vector("vcvtdq2ps", minimum, minimum);
      }
    } else {
      asm.vector("vmovups", scale, { base: "r15", displacement: header });
      if (hasMins) asm.vector("vmovups", minimum, { base: "r15", displacement: header + vectorBytes });
    }
    for (const row of indices(rows)) {
      asm.vector("vbroadcastss", factor, this.#activation(row, activationScaleOffset));
      asm.vector("vcvtdq2ps", computeSum(row), computeSum(row));
      asm.vector("vmulps", code, scale, factor);
      asm.vector("vmulps", code, computeSum(row), code);
      asm.vector("vaddps", getPart(row), getPart(row), code);
      if (!hasMins) continue;
      asm.vector("vpbroadcastd", code, this.#activation(row, this.#sumOffset(place)));
      asm.vector("vcvtdq2ps", code, code);
      asm.vector("vmulps", code, code, factor);
      asm.vector("vmulps", code, minimum, code);
      if (header === undefined) {
        asm.vector("vaddps", code, code, this.#minima(row));
        asm.vector("vmovupsStore", this.#minima(row), code);
      } else asm.vector("vsubps", getPart(row), getPart(row), code);
    }
  }

  #activation(row: number, offset: number): Memory {
    return { base: "rax", displacement: row * this.#context.rowBytes + offset };
  }

  /** Byte offset of the sum of the activations of a group. */
  #sumOffset({ half }: GroupPlace): number {
    const [first, second, all] = activationSumOffsets;
    if (this.#context.layout.groupElements === activationGroup) return all;
    return half === 0 ? first : second;
  }

  get #smallestCode(): Memory {
    return { base: "rsp", displacement: this.stackBytes - 8 };
  }

  #total(row: number): Memory {
    return { base: "rsp", displacement: row * vectorBytes };
  }

  #minima(row: number): Memory {
    return { base: "rsp", displacement: (maxRows + row) * vectorBytes };
  }
}
