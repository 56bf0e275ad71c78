/** Copies a panel of at most 8 columns of a strided matrix into contiguous rows, the order in which the micro-kernel reads it. */
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { shuffle32, v128 } from "../../assembler/vector.ts";
import type { Size } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount, vectorBytes } from "../loops/lanes.ts";

/** The panel to copy: `depth` rows of `columns` 32-bit elements. */
export interface Panel {
  /** Number of rows: k. Must be above 0 if it is an expression. */
  readonly depth: Size;
  readonly columns: number;
  readonly from: I32;
  /** Target address, with room for `depth` rows of whole vectors, rounded up to a multiple of four. */
  readonly to: I32;
  /** Distance in elements between neighbouring rows of the source. */
  readonly rowStride: number;
  readonly columnStride: number;
}

/** Generates the copy: row by row, by transposition, or element by element, depending on the strides. */
export function copyPanel(f: FunctionBuilder, panel: Panel): void {
  if (panel.depth === 0) return;
  if (panel.columnStride === 1) copyRows(f, panel);
  else if (panel.rowStride === 1) transpose(f, panel);
  else gather(f, panel);
}

const getVectors = (panel: Panel): number => Math.ceil(panel.columns / laneCount);

function copyRows(f: FunctionBuilder, panel: Panel): void {
  const source = f.value(panel.from);
  const target = f.value(panel.to);
  f.repeat(panel.depth, () => {
    for (const vector of indices(getVectors(panel)))
      f.run(v128.store(target, v128.load(source, vector * vectorBytes), vector * vectorBytes));
    f.increase(source, panel.rowStride * floatBytes);
    f.increase(target, getVectors(panel) * vectorBytes);
  });
}

/** Transposes blocks of 4 x 4: four loads, eight shuffles, four stores. */
function transpose(f: FunctionBuilder, panel: Panel): void {
  const source = f.value(panel.from);
  const target = f.value(panel.to);
  const rowBytes = getVectors(panel) * vectorBytes;
  const { depth } = panel;
  const fours = typeof depth === "number" ? Math.ceil(depth / laneCount) : i32.shrU(i32.add(depth, i32.const(3)), i32.const(2));
  f.repeat(fours, () => {
    for (const vector of indices(getVectors(panel))) {
      const columns = indices(laneCount).map((lane) => {
        const column = Math.min(vector * laneCount + lane, panel.columns - 1); // lanes beyond the last column are never used
        return f.value(v128.load(source, column * panel.columnStride * floatBytes));
      });
      transposed(f, columns).forEach((row, k) => f.run(v128.store(target, row, k * rowBytes + vector * vectorBytes)));
    }
    f.increase(source, laneCount * floatBytes);
    f.increase(target, laneCount * rowBytes);
  });
}

/** Transposes a 4 x 4 matrix of 32-bit elements: takes its four rows and returns its four columns. */
export function transposed(f: FunctionBuilder, rows: readonly Local<"v128">[]): Local<"v128">[] {
  const [a, b, c, d] = rows;
  if (a === undefined || b === undefined || c === undefined || d === undefined) return [];
  const lowAB = f.value(shuffle32(a, b, [0, 4, 1, 5]));
  const highAB = f.value(shuffle32(a, b, [2, 6, 3, 7]));
  const lowCD = f.value(shuffle32(c, d, [0, 4, 1, 5]));
  const highCD = f.value(shuffle32(c, d, [2, 6, 3, 7]));
  return [
    f.value(shuffle32(lowAB, lowCD, [0, 1, 4, 5])),
    f.value(shuffle32(lowAB, lowCD, [2, 3, 6, 7])),
    f.value(shuffle32(highAB, highCD, [0, 1, 4, 5])),
    f.value(shuffle32(highAB, highCD, [2, 3, 6, 7])),
  ];
}

function gather(f: FunctionBuilder, panel: Panel): void {
  const source = f.value(panel.from);
  const target = f.value(panel.to);
  f.repeat(panel.depth, () => {
    for (const column of indices(panel.columns))
      f.run(i32.store(target, i32.load(source, column * panel.columnStride * floatBytes), column * floatBytes));
    f.increase(source, panel.rowStride * floatBytes);
    f.increase(target, getVectors(panel) * vectorBytes);
  });
}
