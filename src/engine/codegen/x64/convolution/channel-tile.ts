/** The tile of a convolution whose lanes are channels: sums of some positions and one or two vectors of channels, kept in registers while the window is read. */
import type { Activation } from "../../../ir/operations.ts";
import { panelChannels } from "../../wasm/kernels/convolution/channel-panels.ts";
import type { ResolvedWindow } from "../../wasm/kernels/convolution/window.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import type { VectorUnit } from "../functions/vector-unit.ts";
import type { PaddedRows } from "./padded-rows.ts";
import { storeTransposed } from "./transpose-sums.ts";

/** Shapes and fused operations of one convolution. */
export interface ChannelLanesLoops {
  readonly window: ResolvedWindow;
  /** Input and output channels of one group. */
  readonly channels: number;
  readonly outputs: number;
  readonly groups: number;
  readonly bias: boolean;
  readonly activation: Activation;
}

/** Neighbouring output positions, which are computed at once: some of a row, or all of several rows. */
export interface TileSize {
  readonly rows: number;
  readonly columns: number;
  /** Channels of the block. */
  readonly channels: number;
}

/** Bytes of one row of the depth in a panel. */
export const panelRowBytes: number = panelChannels * floatBytes;
/** Masks of stores of the last positions of a tile, and of the last channels. */
const positionMask = 2;
const channelMask = 3;
/** Registers that sums do not take: for weights, inputs, and for their transposition. */
const otherRegisters = 4;

/** Generates tiles. Registers at the beginning of a tile: rdi weights of the block, rcx its bias, rsi input and rdx output of the first position. */
export class ChannelTile {
  readonly #unit: VectorUnit;
  readonly #loops: ChannelLanesLoops;
  readonly #rows: PaddedRows;
  readonly #depth: number;
  readonly #outPlane: number;
  readonly #registers: number;

  constructor(unit: VectorUnit, loops: ChannelLanesLoops, rows: PaddedRows) {
    this.#unit = unit;
    this.#loops = loops;
    this.#rows = rows;
    const { window, channels } = loops;
    this.#depth = channels * window.size[0] * window.size[1];
    this.#outPlane = window.output[0] * window.output[1] * floatBytes;
    this.#registers = unit.hasEvex ? 32 : 16;
  }

  #vectorsOf(channels: number): number {
    return Math.ceil(channels / this.#unit.lanes);
  }

  /** Positions of the largest tile. */
  maxPositions(channels: number): number {
    return Math.floor((this.#registers - otherRegisters) / this.#vectorsOf(channels));
  }

  /** Sets the mask of the positions of a tile that do not fill a vector. Changes r8. */
  emitPositionMask(positions: number): void {
    this.#emitMask(positionMask, positions % this.#unit.lanes);
  }

  /** Sets the mask of the channels of a block that do not fill a vector. Changes r8. */
  emitChannelMask(channels: number): void {
    this.#emitMask(channelMask, channels % this.#unit.lanes);
  }

  #emitMask(mask: number, lanes: number): void {
    const { asm, hasEvex } = this.#unit;
    if (!hasEvex || lanes === 0) return;
    asm.loadImmediate("r8", 2 ** lanes - 1);
    asm.vector("kmovw", mask, "r8");
  }

  /** Generates the code of one tile, after its masks are set. Changes r8 to r11 and all vectors. */
  emit({ rows, columns, channels }: TileSize): void {
    const { asm, lanes } = this.#unit;
    const vectors = this.#vectorsOf(channels);
    const sums = indices(rows * columns).map((position) => indices(vectors).map((vector) => position * vectors + vector));
    this.#emitStarts(channels, sums);
    this.#emitSums(columns, sums);
    const zero = this.#registers - 1;
    if (this.#loops.activation === "relu") {
      asm.clear(zero);
      // NaN stays NaN: the second operand is returned.
      for (const register of sums.flat()) asm.vector("vmaxps", register, zero, register);
    }
    for (const vector of indices(vectors)) {
      const stored = sums.map((each) => each[vector] ?? 0);
      const used = new Set([...stored, ...sums.flatMap((each) => each.slice(vector + 1))]);
      storeTransposed(
        this.#unit,
        {
          sums: stored,
          channels: Math.min(lanes, channels - vector * lanes),
          place: (channel, position) => ({
            base: "rdx",
            displacement: (vector * lanes + channel) * this.#outPlane + position * floatBytes,
          }),
        },
        indices(this.#registers).filter((register) => !used.has(register)),
        positionMask,
      );
    }
  }

  /** Generates the loops over channels and the window. `columns`: positions of a row. */
  #emitSums(columns: number, sums: readonly (readonly Vector[])[]): void {
    const { asm, hasEvex, bytes, lanes } = this.#unit;
    const { window, channels } = this.#loops;
    const vectors = sums[0]?.length ?? 0;
    const weight = (vector: number): Vector => this.#registers - 1 - vector;
    const factor = (position: number): Vector => this.#registers - 1 - vectors - (hasEvex ? position % 2 : 0);
    const input = (position: number, x: number): Memory => {
      const [row, column] = [Math.floor(position / columns), position % columns];
      const inRow = column * window.strides[1] + x * window.dilations[1];
      return { base: "r10", displacement: row * window.strides[0] * this.#rows.rowBytes + inRow * floatBytes };
    };
    asm.move("r10", "rsi");
    asm.move("r11", "rdi");
    const emitRow = (): void => {
      for (const x of indices(window.size[1])) {
        for (const vector of indices(vectors)) {
          const panels = Math.floor((vector * lanes) / panelChannels) * this.#depth * panelRowBytes;
          const displacement = panels + ((vector * bytes) % panelRowBytes) + x * panelRowBytes;
          asm.vector("vmovups", weight(vector), { base: "r11", displacement });
          // The weights of the next block, which the first tile would wait for.
          asm.prefetch("all", { base: "r11", displacement: displacement + vectors * this.#depth * panelRowBytes });
        }
        for (const [position, each] of sums.entries()) {
          if (vectors === 1 && hasEvex) {
            for (const sum of each) asm.vector("vfmadd231ps", sum, weight(0), input(position, x), { broadcast: true });
            continue;
          }
          asm.vector("vbroadcastss", factor(position), input(position, x));
          for (const [vector, sum] of each.entries()) asm.vector("vfmadd231ps", sum, weight(vector), factor(position));
        }
      }
      asm.add("r11", window.size[1] * panelRowBytes);
    };
    const dilatedRow = window.dilations[0] * this.#rows.rowBytes;
    asm.loadImmediate("r8", channels);
    asm.countDown("r8", () => {
      if (window.size[0] === 1) emitRow();
      else {
        asm.loadImmediate("r9", window.size[0]);
        asm.countDown("r9", () => {
          emitRow();
          asm.add("r10", dilatedRow);
        });
      }
      asm.add("r10", this.#rows.planeBytes - (window.size[0] === 1 ? 0 : window.size[0] * dilatedRow));
    });
  }

  /** Generates the first values of the sums: the bias, or 0. */
  #emitStarts(channels: number, sums: readonly (readonly Vector[])[]): void {
    const { asm, bytes, lanes, hasEvex } = this.#unit;
    const free = this.#registers - 1;
    for (const [vector, first] of (sums[0] ?? []).entries()) {
      const from = { base: "rcx", displacement: vector * bytes } as const;
      const isPartial = channels < (vector + 1) * lanes;
      if (!this.#loops.bias) asm.clear(first);
      else if (!isPartial) asm.vector("vmovups", first, from);
      else if (hasEvex) asm.vector("vmovups", first, from, { mask: channelMask, zeroing: true });
      else {
        asm.vector("vmovups", free, asm.integers(...indices(lanes).map((lane) => (lane < channels % lanes ? -1 : 0))));
        asm.vector("vmaskmovps", first, free, from);
      }
      for (const each of sums.slice(1)) asm.copy(each[vector] ?? 0, first);
    }
  }
}
