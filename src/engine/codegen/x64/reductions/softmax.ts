/** Softmax of rows as machine code, in the passes of the WebAssembly kernel `softmax`: mask and maximum, exponentials and their sum, result. */
import { at, required } from "../../../../contract/checked.ts";
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { f32x4, v128 } from "../../wasm/assembler/vector.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import { clampedExp } from "../../wasm/math/exponential.ts";
import { log } from "../../wasm/math/logarithm.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import { RegisterPool } from "../assembler/register-pool.ts";
import { FunctionFrame } from "../functions/function-frame.ts";
import { VectorUnit } from "../functions/vector-unit.ts";
import { emitLanes } from "../lanewise/emit-lanes.ts";
import { type EmitLanes, type LaneProgram, laneProgram } from "../lanewise/lane-program.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { forRow, inRow, loadRow, reduceLanes, setRowLength, storeRow } from "./row-loop.ts";

/** Rows of softmax or log-softmax. */
export interface SoftmaxRows {
  readonly logarithm: boolean;
  /** Remainder of the row length modulo 4. */
  readonly rest: number;
  /** Number of axes of the rows, and stride of the mask along the row, 0 or 1. Undefined: there is no mask. */
  readonly mask: { readonly axes: number; readonly step: number } | undefined;
}

/** Lower bound of the arguments of `clampedExp`. Exponentials below are 0. */
const minExponent = -87;
const [maximum, sum, x, free, infinity] = [0, 1, 2, 3, 4] as const;

/**
 * Generates a function of the number of 4 elements in a row; if there is a mask, size and stride of each axis; x, the mask if there is one, y, the first row and the end
 * of the rows. Registers: rbx rows that are left, r13 row of x, r14 row of y, r15 row of the mask.
 */
export function machineSoftmax(rows: SoftmaxRows, level: X64Level): MachineFunction {
  return new SoftmaxFunction(rows, level).emit();
}

/** e to the power of the difference of two vectors; exactly 0 below the range of the function, as WebAssembly's: see `softmax.ts` there. */
const powerOfDifference: EmitLanes = (f, inputs) => {
  const difference = f.value(f32x4.sub(at(inputs, 0), at(inputs, 1)));
  return v128.andnot(clampedExp(f, difference), f32x4.lt(difference, f32x4.const(minExponent)));
};

function lanesOf(inputs: number, emit: EmitLanes): LaneProgram {
  return required(laneProgram(inputs, emit), "a program on lanes");
}

class SoftmaxFunction {
  readonly #unit: VectorUnit;
  readonly #frame: FunctionFrame;
  readonly #rows: SoftmaxRows;
  readonly #coordinates: readonly Memory[];
  readonly #rowBytes: Memory;
  readonly #power = lanesOf(2, powerOfDifference);
  readonly #log = lanesOf(1, (f, inputs) => log(f, at(inputs, 0)));

  constructor(rows: SoftmaxRows, level: X64Level) {
    this.#rows = rows;
    this.#unit = new VectorUnit(level);
    this.#frame = new FunctionFrame(this.#unit.asm);
    this.#coordinates = indices(rows.mask?.axes ?? 0).map(() => this.#frame.reserve());
    this.#rowBytes = this.#frame.reserve();
  }

  #argument(name: string): Memory {
    const { mask } = this.#rows;
    const axes = indices(mask?.axes ?? 0).flatMap((axis) => [`size${axis}`, `stride${axis}`]);
    const names = ["vectors", ...axes, "x", ...(mask === undefined ? [] : ["mask"]), "y", "from", "to"];
    return this.#frame.argument(names.indexOf(name));
  }

  emit(): MachineFunction {
    const { asm } = this.#unit;
    const { mask } = this.#rows;
    const end = asm.label();
    this.#frame.enter();
    asm.load("rbx", this.#argument("to"));
    asm.integer("sub", "rbx", this.#argument("from"));
    asm.jump(end, "le");
    asm.load("rax", this.#argument("vectors"));
    asm.shift("shl", "rax", 2);
    asm.add("rax", this.#rows.rest);
    asm.multiply("rdx", "rax", floatBytes);
    asm.store(this.#rowBytes, "rdx");
    setRowLength(this.#unit);
    asm.load("rax", this.#argument("from"));
    asm.multiply("rax", "rax", "rdx");
    for (const [register, name] of [
      ["r13", "x"],
      ["r14", "y"],
    ] as const) {
      asm.load(register, this.#argument(name));
      asm.add(register, "rax");
    }
    if (mask !== undefined) this.#emitFirstMask(mask.axes);
    asm.vector("vbroadcastss", infinity, asm.floats(Number.NEGATIVE_INFINITY));
    asm.countDown("rbx", () => {
      this.#emitRow();
      for (const register of ["r13", "r14"] as const) asm.integer("add", register, this.#rowBytes);
      if (mask !== undefined) this.#emitNextMask(mask.axes);
    });
    asm.bind(end);
    this.#frame.leave();
    return asm.machineFunction;
  }

  /** Sets r15 and the coordinates to those of the first row. Each coordinate is the number of times that the rows of its index fit. */
  #emitFirstMask(axes: number): void {
    const { asm } = this.#unit;
    asm.load("rax", this.#argument("from"));
    asm.load("r15", this.#argument("mask"));
    for (const axis of indices(axes)) {
      asm.loadImmediate("rcx", 1);
      for (const inner of indices(axes).slice(axis + 1)) {
        asm.load("rdx", this.#argument(`size${inner}`));
        asm.multiply("rcx", "rcx", "rdx");
      }
      asm.loadImmediate("rdx", 0);
      this.#emitStrideBytes(axis);
      const found = asm.label();
      const start = asm.here();
      asm.integer("cmp", "rax", "rcx");
      asm.jump(found, "b");
      asm.integer("sub", "rax", "rcx");
      asm.add("rdx", 1);
      asm.add("r15", "r8");
      asm.jump(start);
      asm.bind(found);
      asm.store(at(this.#coordinates, axis), "rdx");
    }
  }

  /** Sets r8 to the distance of the mask along an axis. */
  #emitStrideBytes(axis: number): void {
    const { asm } = this.#unit;
    asm.load("r8", this.#argument(`stride${axis}`));
    asm.shift("shl", "r8", Math.log2(floatBytes));
  }

  #emitNextMask(axes: number): void {
    const { asm } = this.#unit;
    const done = asm.label();
    for (const axis of indices(axes).toReversed()) {
      this.#emitStrideBytes(axis);
      asm.add("r15", "r8");
      asm.load("rax", at(this.#coordinates, axis));
      asm.add("rax", 1);
      asm.store(at(this.#coordinates, axis), "rax");
      asm.load("rcx", this.#argument(`size${axis}`));
      asm.integer("cmp", "rax", "rcx");
      asm.jump(done, "b");
      asm.loadImmediate("rax", 0);
      asm.store(at(this.#coordinates, axis), "rax");
      asm.multiply("r8", "r8", "rcx");
      asm.integer("sub", "r15", "r8");
    }
    asm.bind(done);
  }

  #emitRow(): void {
    const { asm } = this.#unit;
    const unit = this.#unit;
    const { mask, logarithm } = this.#rows;
    const from = mask === undefined ? "r13" : "r14";
    asm.copy(maximum, infinity);
    forRow(unit, (isTail) => {
      loadRow(unit, x, inRow("r13"), isTail);
      if (mask !== undefined) {
        if (mask.step === 0) asm.vector("vbroadcastss", free, { base: "r15", displacement: 0 });
        else loadRow(unit, free, inRow("r15"), isTail);
        asm.vector("vaddps", x, x, free);
        storeRow(unit, inRow("r14"), x, isTail);
      }
      if (isTail) unit.mergeTail(x, x, infinity);
      asm.vector("vmaxps", maximum, x, maximum); // NaN is not the maximum: the second operand is kept
    });
    reduceLanes(unit, "vmaxps", maximum, free);
    asm.clear(sum);
    forRow(unit, (isTail) => {
      loadRow(unit, x, inRow(from), isTail);
      const power = this.#emit(this.#power, [x, maximum]);
      if (isTail) {
        asm.clear(free);
        unit.mergeTail(power, power, free);
      }
      if (!logarithm) storeRow(unit, inRow("r14"), power, isTail);
      asm.vector("vaddps", sum, sum, power);
    });
    reduceLanes(unit, "vaddps", sum, free);
    if (logarithm) asm.copy(sum, this.#emit(this.#log, [sum]));
    else {
      asm.vector("vbroadcastss", free, asm.floats(1));
      asm.vector("vdivps", sum, free, sum);
    }
    forRow(unit, (isTail) => {
      loadRow(unit, x, inRow(logarithm ? from : "r14"), isTail);
      if (logarithm) asm.vector("vsubps", x, x, maximum);
      asm.vector(logarithm ? "vsubps" : "vmulps", x, x, sum);
      storeRow(unit, inRow("r14"), x, isTail);
    });
  }

  /** Generates a program in registers after those of the row. */
  #emit(lanes: LaneProgram, inputs: readonly Vector[]): Vector {
    const others = indices(this.#unit.vectors).filter((register) => register > infinity);
    return emitLanes(this.#unit, lanes, inputs, new RegisterPool<Vector>("vector", others));
  }
}
