/** Stores the sums of a tile, whose lanes are channels, as rows of neighbouring positions: blocks of 4 x 4 lanes are transposed in registers. */
import { at } from "../../../../contract/checked.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import type { MaskRegister, Memory, Vector } from "../assembler/operands.ts";
import type { VectorUnit } from "../functions/vector-unit.ts";

/** Positions of one 4 x 4 block. */
const blockSize = 4;
const lowHalves = 0x44;
const highHalves = 0xee;
const evenBlocks = 0x88;
const oddBlocks = 0xdd;

/** Sums of one vector of channels. */
export interface TileSums {
  /** The register of each position. All are changed. */
  readonly sums: readonly Vector[];
  /** Channels that are stored: the first of the vector's lanes. */
  readonly channels: number;
  /** The place of a channel's sum at a position of the tile. */
  place(channel: number, position: number): Memory;
}

/** Generates the stores of the sums. `free`: registers that may be changed: at least 4 in EVEX, otherwise 1 and as many as there are unused positions of the last block. */
export function storeTransposed(unit: VectorUnit, tile: TileSums, free: readonly Vector[], mask: MaskRegister): void {
  if (unit.hasEvex) new WideStore(unit, tile, free, mask).emit();
  else storeBlocks(unit, tile, [...free]);
}

/** Two steps of butterflies on 4 registers: `pairs` of the first two and of the last two, then `joins` of the results. Returns registers of the results in order, and the free one. */
function butterfly(
  [a, b, c, d]: readonly [Vector, Vector, Vector, Vector],
  free: Vector,
  pairs: readonly [Emit, Emit],
  joins: readonly [Emit, Emit],
): { readonly results: readonly [Vector, Vector, Vector, Vector]; readonly free: Vector } {
  pairs[0](free, a, b);
  pairs[1](a, a, b);
  pairs[0](b, c, d);
  pairs[1](c, c, d);
  joins[0](d, free, b);
  joins[1](free, free, b);
  joins[0](b, a, c);
  joins[1](a, a, c);
  return { results: [d, free, b, a], free: c };
}

type Emit = (to: Vector, first: Vector, second: Vector) => void;

/** Transposes the 4 x 4 blocks of 4 registers: result k has lanes k, k + 4, ... of all. */
function transposeBlocks(
  { asm }: VectorUnit,
  four: readonly [Vector, Vector, Vector, Vector],
  free: Vector,
): ReturnType<typeof butterfly> {
  return butterfly(
    four,
    free,
    [(...all) => asm.vector("vunpcklps", ...all), (...all) => asm.vector("vunpckhps", ...all)],
    [(...all) => asm.vector("vunpcklpd", ...all), (...all) => asm.vector("vunpckhpd", ...all)],
  );
}

/** Transposes 16 x 16 lanes: the positions become lanes. */
class WideStore {
  readonly #unit: VectorUnit;
  readonly #tile: TileSums;
  readonly #free: Vector[];
  readonly #mask: MaskRegister;

  constructor(unit: VectorUnit, tile: TileSums, free: readonly Vector[], mask: MaskRegister) {
    this.#unit = unit;
    this.#tile = tile;
    this.#free = [...free];
    this.#mask = mask;
  }

  emit(): void {
    const { sums } = this.#tile;
    const { lanes } = this.#unit;
    for (let first = 0; first < sums.length; first += lanes) this.#emitPositions(first, sums.slice(first, first + lanes));
  }

  /** Up to 16 positions: groups of 4, each transposed, then blocks of the same channels joined. */
  #emitPositions(first: number, sums: readonly Vector[]): void {
    const { asm, lanes } = this.#unit;
    const { channels } = this.#tile;
    const groups = indices(Math.ceil(sums.length / blockSize)).map((group) => {
      const four = indices(blockSize).map((index) => sums[group * blockSize + index] ?? this.#take());
      const { results, free } = transposeBlocks(this.#unit, four as [Vector, Vector, Vector, Vector], this.#take());
      this.#free.push(free);
      return results;
    });
    const store = (channel: number, register: Vector): void => {
      if (channel >= channels) return;
      const to = this.#tile.place(channel, first);
      if (sums.length === lanes) asm.vector("vmovupsStore", to, register);
      else asm.vector("vmovupsStore", to, register, { mask: this.#mask });
    };
    for (const channel of indices(blockSize)) {
      const four = indices(blockSize).map((group) => groups[group]?.[channel] ?? this.#take());
      const shuffle =
        (order: number): Emit =>
        (...all) =>
          asm.vector("vshuff32x4", ...all, order);
      const { results, free } = butterfly(
        four as [Vector, Vector, Vector, Vector],
        this.#take(),
        [shuffle(lowHalves), shuffle(highHalves)],
        [shuffle(evenBlocks), shuffle(oddBlocks)],
      );
      for (const [block, register] of results.entries()) store(block * blockSize + channel, register);
      this.#free.push(free, ...results);
    }
  }

  #take(): Vector {
    const register = this.#free.pop();
    if (register === undefined) throw new RangeError("too few vector registers are free for a transposition");
    return register;
  }
}

/** Transposes and stores 4 positions at a time, 4 channels from each half of a vector. */
function storeBlocks(unit: VectorUnit, { sums, channels, place }: TileSums, free: Vector[]): void {
  const { asm } = unit;
  const half = { bits: 128 } as const;
  for (let first = 0; first < sums.length; first += blockSize) {
    const positions = Math.min(blockSize, sums.length - first);
    const four = indices(blockSize).map((index) => sums[first + index] ?? at(free, index - positions + 1));
    const { results, free: rest } = transposeBlocks(unit, four as [Vector, Vector, Vector, Vector], at(free, 0));
    for (const [index, register] of results.entries()) {
      for (const upper of [1, 0]) {
        const channel = index + upper * blockSize;
        if (channel >= channels) continue;
        const from = upper === 1 ? rest : register;
        if (upper === 1) asm.vector("vextractf128", from, register, 1);
        const to = place(channel, first);
        if (positions === blockSize) asm.vector("vmovupsStore", to, from, half);
        else if (positions === 1) asm.vector("vmovssStore", to, from);
        else {
          asm.vector("vmovsdStore", to, from);
          if (positions === 2) continue;
          asm.vector("vmovhlps", from, from, from);
          asm.vector("vmovssStore", place(channel, first + 2), from);
        }
      }
    }
    free[0] = rest;
  }
}
