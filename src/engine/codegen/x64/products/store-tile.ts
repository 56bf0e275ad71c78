/** The end of a tile of sums: residual and activation, and its store. */
import type { MaskRegister, Memory, Register, Vector } from "../assembler/operands.ts";
import { activationProgram } from "../lanewise/activation.ts";
import { emitLanes } from "../lanewise/emit-lanes.ts";
import type { FloatCode } from "../float-code.ts";
import type { Epilogue } from "../../wasm/kernels/matmul/epilogue.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";

/** Mask register of the last vector of a row. Programs on lanes use k2. */
const tailMask = 1;

/** The columns of a tile, the last vector of which may be partial. Loads and stores access no element beyond them. */
export class TileColumns {
  /** Vectors of a row. */
  readonly vectors: number;
  /** Mask register with the lanes of the last vector, where that is partial and the processor has such registers. */
  readonly tailMask: MaskRegister = tailMask;
  readonly #code: FloatCode;
  /** Lanes of the last vector. */
  readonly #lastLanes: number;
  readonly #lanes: number;

  constructor(code: FloatCode, columns: number) {
    this.#code = code;
    this.#lanes = code.asm.target.bits / 32;
    this.vectors = Math.ceil(columns / this.#lanes);
    this.#lastLanes = columns - (this.vectors - 1) * this.#lanes;
  }

  /** Emits what loads and stores of a partial vector need; `free` is any register that may change. Nothing for whole vectors. */
  prepare(free: Register): void {
    const { asm } = this.#code;
    if (!this.#isPartial || !asm.target.hasEvex) return;
    asm.loadImmediate(free, 2 ** this.#lastLanes - 1);
    asm.vector("kmovw", tailMask, free);
  }

  load(to: Vector, vector: number, from: Memory): void {
    const { asm, vectors } = this.#code;
    if (!this.#isTail(vector)) asm.vector("vmovups", to, from);
    else if (asm.target.hasEvex) asm.vector("vmovups", to, from, { mask: tailMask, zeroing: true });
    else
      vectors.with(1, ([mask = 0]) => {
        this.#loadMask(mask);
        asm.vector("vmaskmovps", to, mask, from);
      });
  }

  store(to: Memory, vector: number, from: Vector): void {
    const { asm, vectors } = this.#code;
    if (!this.#isTail(vector)) asm.vector("vmovupsStore", to, from);
    else if (asm.target.hasEvex) asm.vector("vmovupsStore", to, from, { mask: tailMask });
    else
      vectors.with(1, ([mask = 0]) => {
        this.#loadMask(mask);
        asm.vector("vmaskmovpsStore", to, mask, from);
      });
  }

  /** Adds a vector of memory. */
  add(to: Vector, vector: number, from: Memory): void {
    const { asm, vectors } = this.#code;
    if (!this.#isTail(vector)) asm.vector("vaddps", to, to, from);
    else
      vectors.with(1, ([loaded = 0]) => {
        this.load(loaded, vector, from);
        asm.vector("vaddps", to, to, loaded);
      });
  }

  get #isPartial(): boolean {
    return this.#lastLanes < this.#lanes;
  }

  #isTail(vector: number): boolean {
    return this.#isPartial && vector === this.vectors - 1;
  }

  #loadMask(to: Vector): void {
    const { asm } = this.#code;
    asm.vector("vmovups", to, asm.integers(...indices(this.#lanes).map((lane) => (lane < this.#lastLanes ? -1 : 0))));
  }
}

/** A tile in registers and where it goes. */
export interface StoredTile extends Epilogue {
  readonly sums: readonly (readonly Vector[])[];
  readonly columns: TileColumns;
  /** Address of the first row of C, and of the residual. */
  readonly c: Register;
  readonly residualAt: Register;
  /** Registers that may change. */
  readonly free: readonly [Register, Register, Register];
  readonly rowBytes: number;
}

/** Emits residual, activation and stores. Activations other than ReLU run in a loop over the stored rows, so that their code is there once. */
export function emitStoreTile(code: FloatCode, tile: StoredTile): void {
  const { asm, vectors } = code;
  const { sums, columns, c, residualAt, rowBytes, activation, residual } = tile;
  const program = activation === "relu" ? undefined : activationProgram(activation);
  const isCheap = program === undefined;
  const isLate = residual === "after-activation";
  const place = (base: Register, row: number, vector: number): Memory => ({
    base,
    displacement: row * rowBytes + vector * (asm.target.bits / 32) * floatBytes,
  });
  sums.forEach((row, r) =>
    row.forEach((sum, v) => {
      if (residual === "before-activation") columns.add(sum, v, place(residualAt, r, v));
      if (activation === "relu") code.clampToZero(sum);
      if (isCheap && isLate) columns.add(sum, v, place(residualAt, r, v));
      columns.store(place(c, r, v), v, sum);
    }),
  );
  if (program === undefined) return;
  const [counter, output, added] = tile.free;
  asm.move(output, c);
  if (isLate) asm.move(added, residualAt);
  asm.loadImmediate(counter, sums.length);
  // The registers of the sums serve as temporaries.
  const stored = sums.flat();
  vectors.release(...stored.toReversed());
  asm.countDown(counter, () => {
    for (const v of indices(columns.vectors)) {
      const x = vectors.take();
      columns.load(x, v, place(output, 0, v));
      const result = emitLanes(code, program, [x], vectors);
      vectors.release(x);
      if (isLate) columns.add(result, v, place(added, 0, v));
      columns.store(place(output, 0, v), v, result);
      vectors.release(result);
    }
    asm.add(output, rowBytes);
    if (isLate) asm.add(added, rowBytes);
  });
  for (const register of stored) vectors.takeNamed(register);
}
