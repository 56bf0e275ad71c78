/** Layer normalization and root mean square normalization of rows as machine code, in the passes of the WebAssembly kernel `norm`. Sums are added in another order. */
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { floatBytes } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory } from "../assembler/operands.ts";
import { FunctionFrame } from "../functions/function-frame.ts";
import { VectorUnit } from "../functions/vector-unit.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { forRow, inRow, loadRow, reduceLanes, setRowLength, storeRow } from "./row-loop.ts";

/** Rows of `columns` elements, with the factors and terms of the columns if there are any. */
export interface NormRows {
  readonly columns: number;
  readonly epsilon: number;
  readonly gamma: boolean;
  readonly beta: boolean;
  /** Whether the mean is subtracted first. */
  readonly isCentred: boolean;
}

const [mean, factor, sum, x, free] = [0, 1, 2, 3, 4] as const;

/** Generates a function of x, gamma and beta if there are any, y, the first row and the end of the rows. */
export function machineNorm({ columns, epsilon, gamma, beta, isCentred }: NormRows, level: X64Level): MachineFunction {
  const unit = new VectorUnit(level);
  const { asm } = unit;
  const frame = new FunctionFrame(asm);
  const names = ["x", ...(gamma ? ["gamma"] : []), ...(beta ? ["beta"] : []), "y", "from", "to"];
  const argument = (name: string): Memory => frame.argument(names.indexOf(name));
  const end = asm.label();
  frame.enter();
  asm.load("rbx", argument("to"));
  asm.integer("sub", "rbx", argument("from"));
  asm.jump(end, "le");
  asm.load("rax", argument("from"));
  asm.multiply("rax", "rax", columns * floatBytes);
  for (const [register, name] of [
    ["r13", "x"],
    ["r14", "y"],
  ] as const) {
    asm.load(register, argument(name));
    asm.add(register, "rax");
  }
  if (gamma) asm.load("r10", argument("gamma"));
  if (beta) asm.load("r11", argument("beta"));
  asm.loadImmediate("rax", columns);
  setRowLength(unit);
  const share = asm.floats(1 / columns);
  asm.countDown("rbx", () => {
    if (isCentred) {
      asm.clear(sum);
      forRow(unit, (isTail) => {
        loadRow(unit, x, inRow("r13"), isTail);
        asm.vector("vaddps", sum, sum, x);
      });
      reduceLanes(unit, "vaddps", sum, free);
      asm.vector("vbroadcastss", mean, share);
      asm.vector("vmulps", mean, mean, sum);
    }
    asm.clear(sum);
    forRow(unit, (isTail) => {
      loadRow(unit, x, inRow("r13"), isTail);
      if (isCentred) asm.vector("vsubps", x, x, mean);
      if (isTail && isCentred) {
        asm.clear(free);
        unit.mergeTail(x, x, free);
      }
      asm.vector("vfmadd231ps", sum, x, x);
    });
    reduceLanes(unit, "vaddps", sum, free);
    asm.vector("vbroadcastss", free, share);
    asm.vector("vbroadcastss", factor, asm.floats(epsilon));
    asm.vector("vfmadd231ps", factor, sum, free);
    asm.vector("vsqrtps", factor, factor);
    asm.vector("vbroadcastss", free, asm.floats(1));
    asm.vector("vdivps", factor, free, factor);
    forRow(unit, (isTail) => {
      loadRow(unit, x, inRow("r13"), isTail);
      if (isCentred) asm.vector("vsubps", x, x, mean);
      asm.vector("vmulps", x, x, factor);
      if (gamma) {
        loadRow(unit, free, inRow("r10"), isTail);
        asm.vector("vmulps", x, x, free);
      }
      if (beta) {
        loadRow(unit, free, inRow("r11"), isTail);
        asm.vector("vaddps", x, x, free);
      }
      storeRow(unit, inRow("r14"), x, isTail);
    });
    for (const register of ["r13", "r14"] as const) asm.add(register, columns * floatBytes);
  });
  asm.bind(end);
  frame.leave();
  return asm.machineFunction;
}
