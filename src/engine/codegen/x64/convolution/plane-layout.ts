/** Copies of planes in scratch memory for sliding windows: with their pads, and with columns in the order in which windows with a stride read them. */
import type { ResolvedWindow } from "../../wasm/kernels/convolution/window.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory } from "../assembler/operands.ts";
import type { VectorUnit } from "../functions/vector-unit.ts";

/** Bytes after the plane that vectors at the end of the last row read. */
const slackBytes = 64;
/** Lane orders of shuffles: even and odd lanes of two vectors, and the middle 64-bit lanes exchanged. */
const evenLanes = 0x88;
const oddLanes = 0xdd;
const middleSwapped = 0xd8;

/** Where elements of a padded plane are: rows one after the other, and in each row the columns by their remainder modulo the stride. */
export class PlaneLayout {
  readonly window: ResolvedWindow;
  /** Columns with the same remainder modulo the stride. */
  readonly phaseColumns: number;

  constructor(window: ResolvedWindow) {
    this.window = window;
    this.phaseColumns = Math.ceil(window.padded[1] / window.strides[1]);
  }

  get rowBytes(): number {
    return this.window.strides[1] * this.phaseColumns * floatBytes;
  }

  /** Bytes of the copy, and of what vectors read after it. */
  get bytes(): number {
    return this.window.padded[0] * this.rowBytes + slackBytes;
  }

  /** Byte offset of a column in its row. */
  columnOffset(column: number): number {
    const stride = this.window.strides[1];
    return ((column % stride) * this.phaseColumns + Math.floor(column / stride)) * floatBytes;
  }

  /** Byte offset from the first input element of an output position to a tap of its window. Neighbouring positions are neighbours. */
  tapOffset(y: number, x: number): number {
    const { dilations } = this.window;
    return y * dilations[0] * this.rowBytes + this.columnOffset(x * dilations[1]);
  }

  /** Byte distance between the first input elements of output rows. */
  get outputRowBytes(): number {
    return this.window.strides[0] * this.rowBytes;
  }
}

/** Generates code that fills scratch memory at rdi, pads and all, with one value. Changes rdi, rcx and vector 0. */
export function fillPlane({ asm, bytes }: VectorUnit, layout: PlaneLayout, value: number): void {
  asm.vector("vbroadcastss", 0, asm.floats(value));
  const whole = Math.floor(layout.bytes / bytes);
  if (whole > 0) {
    asm.loadImmediate("rcx", whole);
    asm.countDown("rcx", () => {
      asm.vector("vmovupsStore", { base: "rdi", displacement: 0 }, 0);
      asm.add("rdi", bytes);
    });
  }
  const rest = layout.bytes - whole * bytes;
  for (const index of indices(rest / floatBytes)) asm.vector("vmovssStore", { base: "rdi", displacement: index * floatBytes }, 0);
}

/** Generates the copy of the plane at r13 into scratch memory at rdi whose pads are filled. Changes rax, rcx, rdi, rsi, r8, r9, the tail, and vectors. */
export function emitPlaneCopy(unit: VectorUnit, layout: PlaneLayout): void {
  const { asm, lanes, bytes } = unit;
  const { input, pads, strides } = layout.window;
  const isSplit = strides[1] === 2;
  const loaded = isSplit ? 2 * lanes : lanes;
  const whole = Math.floor(input[1] / loaded);
  const rest = input[1] % loaded;
  // Places of the first element of each phase; of the second where there is only one phase, it is not used.
  const [first, second] = [layout.columnOffset(pads[1]), layout.columnOffset(pads[1] + 1)];
  const to = (offset: number, vector: number): Memory => ({ base: "rsi", displacement: offset + vector * bytes });
  asm.add("rdi", pads[0] * layout.rowBytes);
  asm.move("r8", "r13");
  asm.loadImmediate("rcx", input[0]);
  const maxUnrolled = 8;
  asm.countDown("rcx", () => {
    asm.move("rsi", "rdi");
    const copy = (vector: number): void => {
      const from = { base: "r8", displacement: vector * (loaded / lanes) * bytes } as const;
      asm.vector("vmovups", 0, from);
      if (isSplit) {
        asm.vector("vmovups", 1, { ...from, displacement: from.displacement + bytes });
        splitLanes(unit);
        asm.vector("vmovupsStore", to(second, vector), 2);
      }
      asm.vector("vmovupsStore", to(first, vector), 0);
    };
    let copied = whole;
    if (whole <= maxUnrolled) for (const vector of indices(whole)) copy(vector);
    else {
      asm.loadImmediate("rax", whole);
      asm.countDown("rax", () => {
        copy(0);
        asm.add("r8", loaded * floatBytes);
        asm.add("rsi", bytes);
      });
      copied = 0;
    }
    if (rest > 0) copyRest(copied);
    asm.add("r8", (input[1] - (copied === whole ? 0 : whole * loaded)) * floatBytes);
    asm.add("rdi", layout.rowBytes);
  });

  function copyRest(vector: number): void {
    const from = { base: "r8", displacement: vector * (loaded / lanes) * bytes } as const;
    const tail = (count: number): void => {
      asm.loadImmediate("rax", count);
      unit.setTail("rax", "r9");
    };
    tail(Math.min(rest, lanes));
    unit.loadTail(0, from);
    if (!isSplit) {
      unit.storeTail(to(first, vector), 0);
      return;
    }
    tail(Math.max(0, rest - lanes));
    unit.loadTail(1, { ...from, displacement: from.displacement + bytes });
    splitLanes(unit);
    tail(Math.ceil(rest / 2));
    unit.storeTail(to(first, vector), 0);
    tail(Math.floor(rest / 2));
    unit.storeTail(to(second, vector), 2);
  }
}

/** Generates the split of vectors 0 and 1: even lanes to 0, odd lanes to 2. */
function splitLanes({ asm, hasEvex, lanes }: VectorUnit): void {
  if (hasEvex) {
    asm.vector("vmovups", 2, asm.integers(...indices(lanes).map((lane) => 2 * lane + 1)));
    asm.vector("vpermi2ps", 2, 0, 1);
    asm.vector("vmovups", 3, asm.integers(...indices(lanes).map((lane) => 2 * lane)));
    asm.vector("vpermi2ps", 3, 0, 1);
    asm.copy(0, 3);
    return;
  }
  asm.vector("vshufps", 2, 0, 1, oddLanes);
  asm.vector("vshufps", 0, 0, 1, evenLanes);
  for (const vector of [0, 2]) asm.vector("vpermpd", vector, vector, middleSwapped);
}
