/** Fused chains of elementwise operations as machine code, on the rows and pieces of the WebAssembly kernel `elementwise`, whose steps become a program on lanes. */
import { at } from "../../../../contract/checked.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Axis } from "../../wasm/kernels/loops/axes.ts";
import { type RegisterValue, needsTwoVectors, registerType } from "../../wasm/kernels/elementwise/registers.ts";
import { type ElementwiseRequest, type ElementwiseType, laneBytes } from "../../wasm/kernels/elementwise/request.ts";
import { emitStep } from "../../wasm/kernels/elementwise/steps.ts";
import type { Memory, Register, Vector } from "../assembler/operands.ts";
import { RegisterPool, RegistersExhausted } from "../assembler/register-pool.ts";
import { FunctionFrame } from "../functions/function-frame.ts";
import { VectorUnit } from "../functions/vector-unit.ts";
import { emitLanes } from "../lanewise/emit-lanes.ts";
import { type LaneProgram, laneProgram } from "../lanewise/lane-program.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { hasLanes, loadElementVector, storeElementVector } from "./element-access.ts";

/** A chain over a collapsed shape. The strides of an axis are those of the inputs, then that of the output. */
export interface ElementwiseLoops extends Pick<ElementwiseRequest, "inputs" | "steps" | "output"> {
  /** Axes around the rows. With none the one row is divided into pieces of `blockElements`; otherwise a piece is a row. */
  readonly outer: readonly Axis[];
  /** Strides of the inputs and the output along a row: 0 or 1. */
  readonly strides: readonly number[];
  readonly blockElements: number;
}

/** Registers of the addresses of inputs and output in a row. */
const operandRegisters = ["rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11"] as const satisfies readonly Register[];

/** Generates a function of the row size, the inputs, the output, the first piece and the end of the pieces. Undefined where WebAssembly computes the chain. */
export function machineElementwise(loops: ElementwiseLoops, level: X64Level): MachineFunction | undefined {
  const unit = new VectorUnit(level);
  const { inputs, output, strides } = loops;
  const types = [...inputs.map(({ type }) => type), output];
  if (types.length > operandRegisters.length) return undefined;
  if (!types.every((type, operand) => hasLanes(type, at(strides, operand), unit.hasEvex))) return undefined;
  const program = readProgram(loops);
  if (program === undefined) return undefined;
  try {
    return new ElementwiseFunction(loops, types, program, unit).emit();
  } catch (error) {
    if (error instanceof RegistersExhausted) return undefined; // a chain of many values
    throw error;
  }
}

/** The steps as a program; undefined if a value has two lanes of 32 bits, or a step calls the host. */
function readProgram({ inputs, steps }: ElementwiseLoops): LaneProgram | undefined {
  const castsWide = steps.some((step) => step.op === "cast" && needsTwoVectors(registerType(step.to)));
  const isWide = steps.some((step) => step.op === "constant" && needsTwoVectors(step.type));
  if (castsWide || isWide) return undefined;
  return laneProgram(inputs.length, (f, vectors) => {
    const values: RegisterValue[] = vectors.map((vector, index) => ({
      type: registerType(at(inputs, index).type),
      parts: [vector],
    }));
    const constants = new Map<number, number>();
    for (const step of steps) {
      if (step.op === "constant") constants.set(values.length, step.value);
      values.push(emitStep(f, step, values, constants));
    }
    return at(at(values, values.length - 1).parts, 0);
  });
}

/** Registers: rbx rows that are left, rax element of the row, rbp end of the elements. */
class ElementwiseFunction {
  readonly #unit: VectorUnit;
  readonly #frame: FunctionFrame;
  readonly #loops: ElementwiseLoops;
  readonly #types: readonly ElementwiseType[];
  readonly #program: LaneProgram;
  /** Coordinates of the row, and addresses of its operands. */
  readonly #coordinates: readonly Memory[];
  readonly #rows: readonly Memory[];

  constructor(loops: ElementwiseLoops, types: readonly ElementwiseType[], program: LaneProgram, unit: VectorUnit) {
    this.#unit = unit;
    this.#frame = new FunctionFrame(unit.asm);
    this.#loops = loops;
    this.#types = types;
    this.#program = program;
    this.#coordinates = loops.outer.map(() => this.#frame.reserve());
    this.#rows = types.map(() => this.#frame.reserve());
  }

  emit(): MachineFunction {
    const { asm } = this.#unit;
    const { outer, blockElements } = this.#loops;
    const [size, from, to] = [0, this.#types.length + 1, this.#types.length + 2].map((index) => this.#frame.argument(index)) as [
      Memory,
      Memory,
      Memory,
    ];
    const end = asm.label();
    this.#frame.enter();
    asm.load("rbx", to);
    asm.integer("sub", "rbx", from);
    asm.jump(end, "le");
    if (outer.length === 0) {
      for (const [operand, register] of this.#operands()) asm.load(register, this.#frame.argument(operand + 1));
      asm.load("rax", from);
      asm.multiply("rax", "rax", blockElements);
      asm.load("rbp", to);
      asm.multiply("rbp", "rbp", blockElements);
      asm.load("r12", size);
      asm.integer("cmp", "rbp", "r12");
      asm.moveIf("a", "rbp", "r12");
      this.#emitRow();
    } else {
      this.#emitFirstRow(from);
      asm.countDown("rbx", () => {
        for (const [operand, register] of this.#operands()) asm.load(register, at(this.#rows, operand));
        asm.loadImmediate("rax", 0);
        asm.load("rbp", size);
        this.#emitRow();
        this.#emitNextRow();
      });
    }
    asm.bind(end);
    this.#frame.leave();
    return asm.machineFunction;
  }

  #operands(): readonly (readonly [operand: number, register: Register])[] {
    return this.#types.map((_, operand) => [operand, at(operandRegisters, operand)]);
  }

  /** Distance in bytes between neighbours along an axis. */
  #step(axis: Axis, operand: number): number {
    return at(axis.strides, operand) * laneBytes[at(this.#types, operand)];
  }

  /** Sets coordinates and addresses to those of the first row, by subtraction: each coordinate is below the size of its axis. */
  #emitFirstRow(from: Memory): void {
    const { asm } = this.#unit;
    const { outer } = this.#loops;
    for (const [operand, register] of this.#operands()) asm.load(register, this.#frame.argument(operand + 1));
    asm.load("rax", from);
    for (const [index, axis] of outer.entries()) {
      const rows = outer.slice(index + 1).reduce((all, { size }) => all * size, 1);
      asm.loadImmediate("rbp", 0);
      const found = asm.label();
      const start = asm.here();
      asm.integer("cmp", "rax", rows);
      asm.jump(found, "b");
      asm.integer("sub", "rax", rows);
      asm.add("rbp", 1);
      for (const [operand, register] of this.#operands()) asm.add(register, this.#step(axis, operand));
      asm.jump(start);
      asm.bind(found);
      asm.store(at(this.#coordinates, index), "rbp");
    }
    for (const [operand, register] of this.#operands()) asm.store(at(this.#rows, operand), register);
  }

  #emitNextRow(): void {
    const { asm } = this.#unit;
    const { outer } = this.#loops;
    const done = asm.label();
    for (const [operand, register] of this.#operands()) asm.load(register, at(this.#rows, operand));
    for (const [index, axis] of [...outer.entries()].toReversed()) {
      for (const [operand, register] of this.#operands()) asm.add(register, this.#step(axis, operand));
      asm.load("rax", at(this.#coordinates, index));
      asm.add("rax", 1);
      asm.store(at(this.#coordinates, index), "rax");
      asm.integer("cmp", "rax", axis.size);
      asm.jump(done, "b");
      if (index === 0) break;
      asm.loadImmediate("rax", 0);
      asm.store(at(this.#coordinates, index), "rax");
      for (const [operand, register] of this.#operands()) asm.add(register, -this.#step(axis, operand) * axis.size);
    }
    asm.bind(done);
    for (const [operand, register] of this.#operands()) asm.store(at(this.#rows, operand), register);
  }

  /** Generates the loop over the elements rax to rbp of a row. Changes r12 and r13. */
  #emitRow(): void {
    const { asm, lanes } = this.#unit;
    const [tail, done] = [asm.label(), asm.label()];
    asm.integer("sub", "rbp", "rax");
    asm.integer("cmp", "rbp", lanes);
    asm.jump(tail, "l");
    const start = asm.here();
    this.#emitVectors(false);
    asm.add("rax", lanes);
    asm.integer("sub", "rbp", lanes);
    asm.integer("cmp", "rbp", lanes);
    asm.jump(start, "ge");
    asm.bind(tail);
    asm.integer("cmp", "rbp", 0);
    asm.jump(done, "le");
    asm.move("r12", "rbp");
    this.#unit.setTail("r12", "r13");
    this.#emitVectors(true);
    asm.bind(done);
  }

  #emitVectors(isTail: boolean): void {
    const pool = new RegisterPool<Vector>("vector", indices(this.#unit.vectors));
    const inputs = this.#loops.inputs.map(({ type }, operand) => {
      const register = pool.take();
      const isOne = at(this.#loops.strides, operand) === 0;
      loadElementVector(this.#unit, type, register, this.#element(operand, isOne), isOne ? "one" : isTail ? "tail" : "all");
      return register;
    });
    const result = emitLanes(this.#unit, this.#program, inputs, pool);
    storeElementVector(this.#unit, this.#loops.output, this.#element(this.#loops.inputs.length, false), result, isTail);
  }

  #element(operand: number, isOne: boolean): Memory {
    const base = at(operandRegisters, operand);
    const scale = laneBytes[at(this.#types, operand)] as 1 | 2 | 4;
    return isOne ? { base, displacement: 0 } : { base, displacement: 0, index: "rax", scale };
  }
}
