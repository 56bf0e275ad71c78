/** Copies a panel of at most 16 columns of a strided matrix into contiguous rows of 16. */
import { at } from "../../../../contract/checked.ts";
import { widePanelColumns } from "../../wasm/kernels/matmul/weight-packing.ts";
import { floatBytes, indices, laneCount, vectorBytes } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory, Register } from "../assembler/operands.ts";
import type { FloatCode } from "../float-code.ts";

/** The panel to copy. Strides are in elements. */
export interface PanelCopy {
  readonly columns: number;
  readonly rowStride: number;
  readonly columnStride: number;
  /** Source, target and number of rows (above 0), which change, and a register that may. */
  readonly registers: { readonly from: Register; readonly to: Register; readonly depth: Register; readonly free: Register };
}

const rowBytes = widePanelColumns * floatBytes;

/** Emits the copy. Where neighbouring rows are neighbours in memory, blocks of 4 rows and 4 columns are transposed. Columns behind the last one get its values. */
export function emitPanelCopy(code: FloatCode, panel: PanelCopy): void {
  const { asm } = code;
  const { rowStride, columnStride, columns, registers } = panel;
  const { from, to, depth, free } = registers;
  const column = (index: number): Memory => ({
    base: from,
    displacement: Math.min(index, columns - 1) * columnStride * floatBytes,
  });
  const end = asm.label();
  if (rowStride === 1) {
    const [start, rest] = [asm.label(), asm.label()];
    asm.integer("sub", depth, laneCount);
    asm.jump(rest, "b");
    asm.bind(start);
    for (let first = 0; first < columns; first += laneCount)
      emitTransposed(
        code,
        indices(laneCount).map((lane) => column(first + lane)),
        (row) => ({
          base: to,
          displacement: row * rowBytes + (first / laneCount) * vectorBytes,
        }),
      );
    asm.add(from, laneCount * floatBytes);
    asm.add(to, laneCount * rowBytes);
    asm.integer("sub", depth, laneCount);
    asm.jump(start, "ae");
    asm.bind(rest);
    asm.add(depth, laneCount);
    asm.jump(end, "z");
  }
  asm.countDown(depth, () => {
    for (const index of indices(widePanelColumns)) {
      asm.load(free, column(index), 32);
      asm.store({ base: to, displacement: index * floatBytes }, free, 32);
    }
    asm.add(from, rowStride * floatBytes);
    asm.add(to, rowBytes);
  });
  asm.bind(end);
}

/** Loads 4 columns of 4 elements and stores 4 rows. */
function emitTransposed({ asm, vectors }: FloatCode, columns: readonly Memory[], row: (index: number) => Memory): void {
  const half = { bits: 128 } as const;
  vectors.with(6, (taken) => {
    const [a, b, c, d, low, high] = indices(6).map((index) => at(taken, index)) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (const [index, register] of [a, b, c, d].entries()) asm.vector("vmovups", register, at(columns, index), half);
    asm.vector("vunpcklps", low, a, b, half);
    asm.vector("vunpckhps", a, a, b, half);
    asm.vector("vunpcklps", high, c, d, half);
    asm.vector("vunpckhps", c, c, d, half);
    asm.vector("vunpcklpd", b, low, high, half);
    asm.vector("vunpckhpd", d, low, high, half);
    asm.vector("vmovupsStore", row(0), b, half);
    asm.vector("vmovupsStore", row(1), d, half);
    asm.vector("vunpcklpd", b, a, c, half);
    asm.vector("vunpckhpd", d, a, c, half);
    asm.vector("vmovupsStore", row(2), b, half);
    asm.vector("vmovupsStore", row(3), d, half);
  });
}
