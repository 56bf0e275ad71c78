/** Copies the inputs of a window at neighbouring output positions of one row to scratch memory as [channels * window height * window width][columns] (im2col). */
import { at } from "../../../../contract/checked.ts";
import type { ResolvedWindow } from "../../wasm/kernels/convolution/window.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import type { FunctionFrame } from "../functions/function-frame.ts";
import type { VectorUnit } from "../functions/vector-unit.ts";

/** What is copied. */
interface PatchShape {
  readonly window: ResolvedWindow;
  readonly isPointwise: boolean;
  readonly channels: number;
}

/** Comparisons of lanes as unsigned integers: below. */
const below = 1;
/** Lane orders of shuffles: the even lanes of two vectors. */
const evenLanes = 0x88;
const middleSwapped = 0xd8;
/** Mask registers for the columns of a window. k0 means no mask, and k1 masks the last vector of a row. */
const maskRegisters = [2, 3, 4, 5, 6, 7] as const;

/** Generates copies of patches. Lanes outside of the row become 0. */
export class PatchCopy {
  readonly #unit: VectorUnit;
  readonly #shape: PatchShape;
  /** Masks of the lanes inside of the row, by the position of their first lane from the first column of the patch. */
  readonly #masks: ReadonlyMap<number, Memory>;

  /** Reserves memory of the frame for units of up to `maxVectors` vectors. */
  constructor(unit: VectorUnit, frame: FunctionFrame, shape: PatchShape, maxVectors: number) {
    this.#unit = unit;
    this.#shape = shape;
    const steps = shape.isPointwise ? [] : this.#loads(maxVectors).flatMap(({ parts }) => parts);
    const maskBytes = unit.hasEvex ? 8 : unit.bytes;
    this.#masks = new Map([...new Set(steps)].map((step) => [step, frame.reserve(maskBytes)]));
  }

  /**
   * Generates the copy for `vectors` vectors of columns from panel rbp of row r12 of the image r13 to rsi. The tail of the unit masks the last vector.
   * Changes rax, rcx, rdx, rdi, rsi, r8 to r11, and vectors.
   */
  emit(vectors: number): void {
    if (this.#shape.isPointwise) this.#emitPointwise(vectors);
    else this.#emitWindow(vectors);
  }

  #emitPointwise(vectors: number): void {
    const { asm, bytes } = this.#unit;
    const { window, channels } = this.#shape;
    asm.multiply("rdi", "rbp", tileColumns * floatBytes);
    asm.add("rdi", "r13");
    asm.loadImmediate("rcx", channels);
    asm.countDown("rcx", () => {
      for (const vector of indices(vectors)) {
        const from = { base: "rdi", displacement: vector * bytes } as const;
        if (vector === vectors - 1) this.#unit.loadTail(vector, from);
        else asm.vector("vmovups", vector, from);
        asm.vector("vmovupsStore", { base: "rsi", displacement: vector * bytes }, vector);
      }
      asm.add("rdi", window.input[0] * window.input[1] * floatBytes);
      asm.add("rsi", vectors * bytes);
    });
  }

  /** The vectors of a row of the window: columns of the window by vectors of positions. `parts`: positions of the vectors that each is made of. */
  #loads(vectors: number): readonly { readonly parts: readonly number[] }[] {
    const { lanes } = this.#unit;
    const { size, dilations, strides } = this.#shape.window;
    return indices(size[1]).flatMap((x) =>
      indices(vectors).map((vector) => {
        const first = x * dilations[1] + vector * lanes * strides[1];
        return { parts: strides[1] === 2 ? [first, first + lanes] : [first] };
      }),
    );
  }

  #emitWindow(vectors: number): void {
    const { asm, bytes } = this.#unit;
    const { window, channels } = this.#shape;
    const { strides, pads, size, input, dilations } = window;
    const loads = this.#loads(vectors);
    const registers = this.#emitMasks(loads.flatMap(({ parts }) => parts));
    const rowBytes = input[1] * floatBytes;
    // rdx: the first row of the patch in the input; rdi: its first element, which may be outside.
    asm.multiply("rdx", "r12", strides[0]);
    asm.add("rdx", -pads[0]);
    asm.multiply("rdi", "rbp", tileColumns * strides[1] * floatBytes);
    asm.add("rdi", "r13");
    asm.add("rdi", -pads[1] * floatBytes);
    asm.multiply("rax", "rdx", rowBytes);
    asm.add("rdi", "rax");
    const zero = this.#unit.vectors - 1;
    asm.clear(zero);
    asm.loadImmediate("rcx", channels);
    asm.countDown("rcx", () => {
      asm.move("r10", "rdi");
      asm.move("r9", "rdx");
      asm.loadImmediate("r8", size[0]);
      asm.countDown("r8", () => {
        const [outside, end] = [asm.label(), asm.label()];
        asm.integer("cmp", "r9", input[0]);
        asm.jump(outside, "ae"); // unsigned: negative rows are large
        for (const [index, { parts }] of loads.entries()) {
          this.#emitLoad(parts, registers);
          asm.vector("vmovupsStore", { base: "rsi", displacement: index * bytes }, 0);
        }
        asm.jump(end);
        asm.bind(outside);
        for (const index of loads.keys()) asm.vector("vmovupsStore", { base: "rsi", displacement: index * bytes }, zero);
        asm.bind(end);
        asm.add("rsi", loads.length * bytes);
        asm.add("r10", dilations[0] * rowBytes);
        asm.add("r9", dilations[0]);
      });
      asm.add("rdi", input[0] * rowBytes);
    });
  }

  /** Loads a vector of positions into register 0. */
  #emitLoad(parts: readonly number[], registers: ReadonlyMap<number, number>): void {
    const { asm, hasEvex } = this.#unit;
    const { strides } = this.#shape.window;
    const first = at(parts, 0);
    if (strides[1] > 2) {
      const memory = { base: "r10", indices: laneSteps, scale: 4, displacement: first * floatBytes } as const;
      asm.clear(0);
      if (hasEvex) {
        this.#emitMaskRegister(first, gatherMask);
        asm.vector("vgatherdpsMask", 0, memory, { mask: gatherMask });
      } else {
        asm.vector("vmovups", 1, this.#mask(first));
        asm.vector("vgatherdps", 0, memory, 1);
      }
      return;
    }
    for (const [index, part] of parts.entries()) {
      const from = { base: "r10", displacement: part * floatBytes } as const;
      if (hasEvex) {
        const known = registers.get(part);
        if (known === undefined) this.#emitMaskRegister(part, gatherMask);
        asm.vector("vmovups", index, from, { mask: known ?? gatherMask, zeroing: true });
      } else {
        asm.vector("vmovups", 2, this.#mask(part));
        asm.vector("vmaskmovps", index, 2, from);
      }
    }
    if (parts.length === 1) return;
    if (hasEvex) asm.vector("vpermt2ps", 0, laneSteps, 1);
    else {
      asm.vector("vshufps", 0, 0, 1, evenLanes);
      asm.vector("vpermpd", 0, 0, middleSwapped);
    }
  }

  /** Computes the masks of the lanes inside of the row, and keeps the first ones in mask registers. Sets the vector `laneSteps`. */
  #emitMasks(steps: readonly number[]): ReadonlyMap<number, number> {
    const { asm, lanes, hasEvex } = this.#unit;
    const { strides, pads, input } = this.#shape.window;
    const laneStride = strides[1] > 2 ? strides[1] : 1;
    const [left, place, other] = [4, 5, 6] as const;
    asm.multiply("rax", "rbp", tileColumns * strides[1]);
    asm.add("rax", -pads[1]);
    asm.vector("vmovd", left, "rax");
    asm.vector("vpbroadcastd", left, left);
    asm.vector("vpaddd", left, left, asm.integers(...indices(lanes).map((lane) => lane * laneStride)));
    const registers = new Map<number, number>();
    for (const step of new Set(steps)) {
      if (hasEvex) {
        asm.vector("vpaddd", place, left, this.#unit.splat(step), { broadcast: true });
        const register = strides[1] > 2 ? undefined : maskRegisters[registers.size];
        const inside = register === undefined || register === gatherMask ? gatherMask : register;
        asm.vector("vpcmpudMask", inside, place, this.#unit.splat(input[1]), below, { broadcast: true });
        if (inside !== gatherMask) registers.set(step, inside);
        else {
          asm.vector("kmovwToRegister", "rax", gatherMask);
          asm.store(this.#mask(step), "rax");
        }
        continue;
      }
      asm.vector("vpaddd", place, left, this.#unit.splat(step));
      asm.vector("vpcmpgtd", other, place, this.#unit.splat(-1));
      asm.vector("vmovups", 7, this.#unit.splat(input[1]));
      asm.vector("vpcmpgtd", place, 7, place);
      asm.vector("vpand", place, place, other);
      asm.vector("vmovupsStore", this.#mask(step), place);
    }
    if (strides[1] > 1) asm.vector("vmovups", laneSteps, asm.integers(...indices(lanes).map((lane) => lane * strides[1])));
    return registers;
  }

  #emitMaskRegister(step: number, to: number): void {
    const { asm } = this.#unit;
    asm.load("rax", this.#mask(step));
    asm.vector("kmovw", to, "rax");
  }

  #mask(step: number): Memory {
    const place = this.#masks.get(step);
    if (place === undefined) throw new RangeError(`no memory is reserved for the mask of position ${step}`);
    return place;
  }
}

/** The vector of distances between lanes: for even lanes of two vectors, and for gathers. */
const laneSteps: Vector = 3;
/** The mask register that is loaded before each use. */
const gatherMask = 7;
