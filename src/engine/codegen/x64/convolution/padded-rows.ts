/** Input rows with their pads in scratch memory, [channels][rows][columns], for some output rows (a strip) at a time. Without pads the input itself is read. */
import type { ResolvedWindow } from "../../wasm/kernels/convolution/window.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import type { VectorUnit } from "../functions/vector-unit.ts";

/** Bytes of the copied rows of a strip: a part of the L2 cache. */
const maxStripBytes = 384 * 1024;
const cacheLine = 64;
/** Vectors of a row that are copied without a loop. */
const maxUnrolled = 8;
const zeroVector: Vector = 0;
const dataVector: Vector = 1;
const maskVector: Vector = 2;
const copyMask = 2;

/** Where the padded rows of a strip are. */
export class PaddedRows {
  readonly #window: ResolvedWindow;
  readonly #channels: number;
  /** Most output rows of a strip. */
  readonly stripRows: number;
  /** Distance between input rows. */
  readonly rowBytes: number;
  /** Distance between channels. */
  readonly planeBytes: number;
  /** 0 if the input itself is read. */
  readonly scratchBytes: number;

  constructor(window: ResolvedWindow, channels: number) {
    this.#window = window;
    this.#channels = channels;
    const { input, output, pads, strides } = window;
    if (pads.every((pad) => pad === 0)) {
      this.stripRows = output[0];
      this.rowBytes = input[1] * floatBytes;
      this.planeBytes = input[0] * this.rowBytes;
      this.scratchBytes = 0;
      return;
    }
    this.rowBytes = this.#columns * floatBytes;
    const rowsWithin = (bytes: number): number => Math.floor(bytes / (channels * this.rowBytes));
    const most = Math.max(1, Math.floor((rowsWithin(maxStripBytes) - this.#inputRows(1)) / strides[0]) + 1);
    this.stripRows = Math.ceil(output[0] / Math.ceil(output[0] / Math.min(output[0], most)));
    // An odd number of cache lines, so that channels do not meet in the same few sets of a cache.
    const lines = Math.ceil((this.#inputRows(this.stripRows) * this.rowBytes) / cacheLine);
    this.planeBytes = (lines | 1) * cacheLine;
    this.scratchBytes = channels * this.planeBytes + cacheLine; // whole vectors are written behind the last row
  }

  /** Columns that are read below all output columns. */
  get #columns(): number {
    const { output, strides, size, dilations } = this.#window;
    return (output[1] - 1) * strides[1] + (size[1] - 1) * dilations[1] + 1;
  }

  #inputRows(outputRows: number): number {
    const { strides, size, dilations } = this.#window;
    return (outputRows - 1) * strides[0] + (size[0] - 1) * dilations[0] + 1;
  }

  /** Generates the copy of the rows below rax output rows from row r12 on, of the image r13, to rdi. Changes rax, rcx, rdx, rsi, rdi, r8 to r11, and vectors. */
  emitCopy(unit: VectorUnit): void {
    const { asm, bytes, lanes, hasEvex } = unit;
    const { input, strides, pads } = this.#window;
    const inputRowBytes = input[1] * floatBytes;
    // r11: input rows; r10: the first, which may be negative; rsi: its place in the input.
    asm.multiply("r11", "rax", strides[0]);
    asm.add("r11", this.#inputRows(1) - strides[0]);
    asm.multiply("r10", "r12", strides[0]);
    asm.add("r10", -pads[0]);
    asm.multiply("rsi", "r10", inputRowBytes);
    asm.add("rsi", "r13");
    asm.add("rsi", -pads[1] * floatBytes);
    asm.clear(zeroVector);
    const masks = indices(Math.ceil(this.#columns / lanes)).map((vector) =>
      indices(lanes).map((lane) => {
        const column = vector * lanes + lane - pads[1];
        return column >= 0 && column < input[1];
      }),
    );
    const isWhole = (mask: readonly boolean[] | undefined): boolean => mask?.every(Boolean) === true;
    const firstWhole = masks.findIndex((mask) => isWhole(mask));
    const wholeCount = masks.filter((mask) => isWhole(mask)).length;
    const copyVector = (vector: number, mask: readonly boolean[]): void => {
      const from: Memory = { base: "rax", displacement: vector * bytes };
      const to: Memory = { base: "rdx", displacement: vector * bytes };
      if (mask.every((inside) => !inside)) {
        asm.vector("vmovupsStore", to, zeroVector);
        return;
      }
      if (isWhole(mask)) asm.vector("vmovups", dataVector, from);
      else if (hasEvex) {
        asm.loadImmediate(
          "r9",
          mask.reduce((bits, inside, lane) => bits + (inside ? 2 ** lane : 0), 0),
        );
        asm.vector("kmovw", copyMask, "r9");
        asm.vector("vmovups", dataVector, from, { mask: copyMask, zeroing: true });
      } else {
        asm.vector("vmovups", maskVector, asm.integers(...mask.map((inside) => (inside ? -1 : 0))));
        asm.vector("vmaskmovps", dataVector, maskVector, from);
      }
      asm.vector("vmovupsStore", to, dataVector);
    };
    const emitVectors = (copies: (vector: number) => void): void => {
      for (const vector of masks.keys()) {
        if (wholeCount <= maxUnrolled || vector < firstWhole || vector >= firstWhole + wholeCount) copies(vector);
        else if (vector === firstWhole) {
          // A loop over the whole vectors, in the middle of the row.
          asm.loadImmediate("r9", wholeCount * bytes);
          const start = asm.here();
          asm.integer("sub", "r9", bytes);
          copies(vector);
          asm.jump(start, "ne");
        }
      }
    };
    asm.loadImmediate("rcx", this.#channels);
    asm.countDown("rcx", () => {
      asm.move("rdx", "rdi");
      asm.move("rax", "rsi");
      asm.move("r8", "r11");
      asm.countDown("r8", () => {
        const [outside, end] = [asm.label(), asm.label()];
        asm.integer("cmp", "r10", input[0]);
        asm.jump(outside, "ae"); // unsigned: negative rows are large
        emitVectors((vector) => {
          const isLooped = wholeCount > maxUnrolled && vector === firstWhole;
          if (!isLooped) copyVector(vector, masks[vector] ?? []);
          else {
            asm.vector("vmovups", dataVector, { base: "rax", index: "r9", displacement: vector * bytes });
            asm.vector("vmovupsStore", { base: "rdx", index: "r9", displacement: vector * bytes }, dataVector);
          }
        });
        asm.jump(end);
        asm.bind(outside);
        emitVectors((vector) => {
          const isLooped = wholeCount > maxUnrolled && vector === firstWhole;
          asm.vector(
            "vmovupsStore",
            { base: "rdx", ...(isLooped ? { index: "r9" as const } : {}), displacement: vector * bytes },
            zeroVector,
          );
        });
        asm.bind(end);
        asm.add("rdx", this.rowBytes);
        asm.add("rax", inputRowBytes);
        asm.add("r10", 1);
      });
      asm.integer("sub", "r10", "r11");
      asm.add("rsi", input[0] * inputRowBytes);
      asm.add("rdi", this.planeBytes);
    });
  }
}
