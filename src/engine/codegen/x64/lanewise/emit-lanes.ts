/** Machine code of programs on lanes: registers are assigned in one pass, and constants are operands in memory. */
import { at, required } from "../../../../contract/checked.ts";
import type { ConstantMemory, MaskRegister, Vector } from "../assembler/operands.ts";
import type { RegisterPool } from "../assembler/register-pool.ts";
import type { LaneUnit } from "../functions/vector-unit.ts";
import {
  type SingleInstruction,
  compared,
  floatPredicates,
  integerPredicates,
  comparesLanes,
  isSingleInstruction,
  laneBits,
  orderedPredicate,
  roundings,
  shifts,
  singleInstructions,
  ternaryTables,
  unorderedPredicate,
} from "./lane-instructions.ts";
import type { LaneComparison, LaneProgram, LaneValue } from "./lane-program.ts";

type Operation = Extract<LaneValue, { readonly kind: "operation" }>;
type Operand = Vector | ConstantMemory;

/**
 * Generates the code of a program and returns the register of its result, which is taken out of `pool` and belongs to the caller. Input registers keep their values.
 * Changes mask register 2. Throws RangeError if the pool has too few registers.
 */
export function emitLanes(unit: LaneUnit, program: LaneProgram, inputs: readonly Vector[], pool: RegisterPool<Vector>): Vector {
  return new LaneEmitter(unit, program, inputs, pool).emit();
}

class LaneEmitter {
  readonly #unit: LaneUnit;
  readonly #program: LaneProgram;
  readonly #inputs: readonly Vector[];
  readonly #pool: RegisterPool<Vector>;
  /** Uses of each value that are not emitted yet. */
  readonly #uses: number[];
  /** Comparisons that only choose between values, so that they are computed there, without a vector. */
  readonly #masks: ReadonlySet<number>;
  readonly #registers = new Map<number, Vector>();

  constructor(unit: LaneUnit, program: LaneProgram, inputs: readonly Vector[], pool: RegisterPool<Vector>) {
    this.#unit = unit;
    this.#program = program;
    this.#inputs = inputs;
    this.#pool = pool;
    this.#uses = program.values.map(() => 0);
    this.#use(program.result);
    this.#masks = new Set([...program.values.keys()].filter((index) => this.#onlyChooses(index)));
  }

  emit(): Vector {
    const { values, result } = this.#program;
    for (const [index, value] of values.entries()) {
      if (value.kind !== "operation" || at(this.#uses, index) === 0 || this.#masks.has(index)) continue;
      this.#registers.set(index, this.#operation(value));
    }
    const operand = this.#operand(result);
    const isOwn = at(values, result).kind === "operation";
    if (isOwn && typeof operand === "number") return operand;
    const copy = this.#pool.take();
    this.#unit.asm.vector("vmovups", copy, this.#loaded(operand));
    return copy;
  }

  /** Counts the uses of a value and of what it is computed from, once for each. */
  #use(index: number): void {
    this.#uses[index] = at(this.#uses, index) + 1;
    if (at(this.#uses, index) > 1) return;
    const value = at(this.#program.values, index);
    if (value.kind === "operation") for (const operand of value.operands) this.#use(operand);
  }

  /** Whether a value is a comparison, and each use of it chooses between values. */
  #onlyChooses(index: number): boolean {
    const value = at(this.#program.values, index);
    if (value.kind !== "operation" || !comparesLanes(value.operation) || index === this.#program.result) return false;
    return this.#program.values.every(
      (user, place) =>
        user.kind !== "operation" ||
        at(this.#uses, place) === 0 ||
        !user.operands.includes(index) ||
        (user.operation === "bitselect" &&
          user.operands[2] === index &&
          user.operands[0] !== index &&
          user.operands[1] !== index),
    );
  }

  /** A value as the last operand of an instruction. */
  #operand(index: number): Operand {
    const value = at(this.#program.values, index);
    if (value.kind === "input") return at(this.#inputs, value.index);
    if (value.kind === "constant") return this.#constant(value.bits);
    return required(this.#registers.get(index), "the register of a value");
  }

  #constant(bits: number): ConstantMemory {
    return this.#unit.splat(bits);
  }

  /** Options of an instruction whose last operand is this one. */
  #form(operand: Operand): { readonly broadcast?: true } {
    return typeof operand === "object" && this.#unit.hasEvex ? { broadcast: true } : {};
  }

  /** An operand for an instruction that copies no elements of memory to all lanes: a constant as a whole vector. */
  #loaded(operand: Operand): Operand {
    if (typeof operand === "number" || !this.#unit.hasEvex) return operand;
    const free = this.#pool.take();
    this.#unit.asm.vector("vbroadcastss", free, operand);
    this.#pool.release(free);
    return free;
  }

  /** Calls `use` with the operand in a register, which is free again afterwards. */
  #inRegister(index: number, use: (register: Vector) => Vector): Vector {
    const operand = this.#operand(index);
    if (typeof operand === "number") return use(operand);
    return this.#pool.with(1, ([register]) => {
      const to = required(register, "a register");
      this.#unit.asm.vector(this.#unit.hasEvex ? "vbroadcastss" : "vmovups", to, operand);
      return use(to);
    });
  }

  /** Ends one use of each operand: registers whose value is not used again are free. */
  #release(operands: readonly number[]): void {
    for (const index of operands) {
      const uses = at(this.#uses, index) - 1;
      this.#uses[index] = uses;
      const register = this.#registers.get(index);
      if (uses === 0 && register !== undefined) {
        this.#pool.release(register);
        this.#registers.delete(index);
      }
    }
  }

  /** Takes the register of a result after the operands of an instruction that reads them all before it writes are released. */
  #after(operands: readonly number[], emit: (to: Vector) => void): Vector {
    this.#release(operands);
    const to = this.#pool.take();
    emit(to);
    return to;
  }

  #operation(value: Operation): Vector {
    const { operation, operands, immediate } = value;
    const { asm, hasEvex } = this.#unit;
    const [a = 0, b = 0] = operands;
    const unary = (emit: (to: Vector, from: Vector) => void): Vector =>
      this.#inRegister(a, (from) => this.#after(operands, (to) => emit(to, from)));
    if (isSingleInstruction(operation)) return this.#single(operation, operands);
    if (comparesLanes(operation)) return this.#comparison(value);
    switch (operation) {
      case "not":
        return unary((to, from) => this.#withConstant("vpxor", to, from, laneBits.all));
      case "f32.neg":
        return unary((to, from) => this.#withConstant("vpxor", to, from, laneBits.sign));
      case "f32.abs":
        return unary((to, from) => this.#withConstant("vpand", to, from, laneBits.magnitude));
      case "f32.sqrt":
        return unary((to, from) => asm.vector("vsqrtps", to, from));
      case "f32.convert":
        return unary((to, from) => asm.vector("vcvtdq2ps", to, from));
      case "f32.ceil":
      case "f32.floor":
      case "f32.trunc":
      case "f32.nearest":
        return unary((to, from) => asm.vector("vroundps", to, from, roundings[operation]));
      case "i32.abs":
        return unary((to, from) => asm.vector("vpabsd", to, from));
      case "i32.shl":
      case "i32.shrS":
      case "i32.shrU":
        return unary((to, from) => asm.vector(shifts[operation], to, from, immediate & 31));
      case "i32.neg":
        return this.#inRegister(a, (from) => {
          const to = this.#pool.take();
          asm.clear(to);
          asm.vector("vpsubd", to, to, from);
          this.#release(operands);
          return to;
        });
      case "i32.truncSat":
        return this.#truncation(a, operands);
      case "f32.madd":
        return this.#multiplyAdd(operands);
      case "bitselect":
        return this.#choice(operands);
      case "f32.min":
      case "f32.max":
        return this.#inRegister(a, (x) =>
          this.#inRegister(b, (y) => {
            const to = this.#extreme(operation === "f32.min" ? "vminps" : "vmaxps", x, y, hasEvex);
            this.#release(operands);
            return to;
          }),
        );
    }
    return operation satisfies never;
  }

  #withConstant(name: "vpxor" | "vpand", to: Vector, from: Vector, bits: number): void {
    const constant = this.#constant(bits);
    this.#unit.asm.vector(name, to, from, constant, this.#form(constant));
  }

  #single(operation: keyof typeof singleInstructions, operands: readonly number[]): Vector {
    const entry: SingleInstruction = singleInstructions[operation];
    let [first = 0, second = 0] = entry.reversed === true ? operands.toReversed() : operands;
    if (entry.swaps === true && typeof this.#operand(first) === "object") [first, second] = [second, first];
    return this.#inRegister(first, (from) => {
      const other = this.#operand(second);
      return this.#after(operands, (to) => this.#unit.asm.vector(entry.name, to, from, other, this.#form(other)));
    });
  }

  /** a * b + c: in the register of an operand that is not used again, or in a new one. */
  #multiplyAdd(operands: readonly number[]): Vector {
    const { asm } = this.#unit;
    let [a = 0, b = 0] = operands;
    const c = operands[2] ?? 0;
    if (typeof this.#operand(a) === "object") [a, b] = [b, a];
    const ends = (index: number): boolean =>
      at(this.#uses, index) === operands.filter((operand) => operand === index).length &&
      operands.indexOf(index) === operands.lastIndexOf(index) &&
      this.#registers.has(index);
    const finish = (to: Vector, kept: number | undefined): Vector => {
      if (kept !== undefined) {
        this.#registers.delete(kept);
        this.#uses[kept] = 0;
      }
      this.#release(operands.filter((operand) => operand !== kept));
      return to;
    };
    const [factor, term] = [this.#operand(b), this.#operand(c)];
    return this.#inRegister(a, (x) => {
      if (typeof term === "number" && ends(c)) {
        asm.vector("vfmadd231ps", term, x, factor, this.#form(factor));
        return finish(term, c);
      }
      if (typeof factor === "number" && ends(a)) {
        asm.vector("vfmadd213ps", x, factor, term, this.#form(term));
        return finish(x, a);
      }
      if (typeof factor === "number" && ends(b)) {
        asm.vector("vfmadd213ps", factor, x, term, this.#form(term));
        return finish(factor, b);
      }
      const to = this.#pool.take();
      if (typeof term === "number") asm.copy(to, term);
      else asm.vector(this.#unit.hasEvex ? "vbroadcastss" : "vmovups", to, term);
      asm.vector("vfmadd231ps", to, x, factor, this.#form(factor));
      return finish(to, undefined);
    });
  }

  /** A comparison as a vector of ones where it is true. */
  #comparison(value: Operation): Vector {
    const { asm, hasEvex } = this.#unit;
    if (hasEvex) {
      this.#compare(value, compared);
      return this.#after(value.operands, (to) =>
        asm.vector("vpternlogd", to, to, to, ternaryTables.ones, { mask: compared, zeroing: true }),
      );
    }
    return this.#inRegister(at(value.operands, 0), (x) => {
      const other = this.#operand(at(value.operands, 1));
      const name = value.operation.slice(4) as LaneComparison;
      if (value.operation.startsWith("f32."))
        return this.#after(value.operands, (to) => asm.vector("vcmpps", to, x, other, floatPredicates[name]));
      return this.#inRegister(at(value.operands, 1), (y) =>
        this.#after(value.operands, (to) => {
          if (name === "eq" || name === "ne") asm.vector("vpcmpeqd", to, x, y);
          else if (name === "gt" || name === "le") asm.vector("vpcmpgtd", to, x, y);
          else asm.vector("vpcmpgtd", to, y, x);
          if (name === "ne" || name === "le" || name === "ge") this.#withConstant("vpxor", to, to, laneBits.all);
        }),
      );
    });
  }

  /** Compares into a mask register; in EVEX. */
  #compare({ operation, operands }: Operation, to: MaskRegister): void {
    const { asm } = this.#unit;
    const other = this.#operand(at(operands, 1));
    const name = operation.slice(4) as LaneComparison;
    this.#inRegister(at(operands, 0), (x) => {
      if (operation.startsWith("f32.")) asm.vector("vcmppsMask", to, x, other, floatPredicates[name], this.#form(other));
      else asm.vector("vpcmpdMask", to, x, other, integerPredicates[name], this.#form(other));
      return x;
    });
  }

  /** The bits of the first operand where the third has 1, of the second where it has 0. */
  #choice(operands: readonly number[]): Vector {
    const { asm, hasEvex } = this.#unit;
    const [a = 0, b = 0, condition = 0] = operands;
    const mask = at(this.#program.values, condition);
    if (mask.kind === "operation" && this.#masks.has(condition)) {
      return this.#inRegister(b, (whenFalse) => {
        const whenTrue = this.#operand(a);
        if (hasEvex) {
          this.#compare(mask, compared);
          this.#endMask(condition, mask);
          return this.#after([a, b], (to) =>
            asm.vector("vblendmps", to, whenFalse, whenTrue, { mask: compared, ...this.#form(whenTrue) }),
          );
        }
        const chosen = this.#comparisonOnce(mask);
        this.#endMask(condition, mask);
        asm.vector("vblendvps", chosen, whenFalse, whenTrue, chosen);
        this.#release([a, b]);
        return chosen;
      });
    }
    return this.#inRegister(condition, (bits) =>
      this.#inRegister(a, (whenTrue) => {
        const to = this.#pool.take();
        const whenFalse = this.#operand(b);
        if (hasEvex) {
          asm.copy(to, bits);
          asm.vector("vpternlogd", to, whenTrue, whenFalse, ternaryTables.choose, this.#form(whenFalse));
        } else {
          // whenFalse ^ ((whenTrue ^ whenFalse) & bits)
          asm.vector("vpxor", to, whenTrue, whenFalse);
          asm.vector("vpand", to, to, bits);
          asm.vector("vpxor", to, to, whenFalse);
        }
        this.#release(operands);
        return to;
      }),
    );
  }

  /** Computes a comparison into a register of its own without ending the uses of its operands; in VEX. */
  #comparisonOnce(mask: Operation): Vector {
    for (const operand of mask.operands) this.#uses[operand] = at(this.#uses, operand) + 1;
    return this.#comparison(mask);
  }

  /** Ends one use of a comparison that is computed where it is used, and with the last one the uses of its operands. */
  #endMask(index: number, { operands }: Operation): void {
    const uses = at(this.#uses, index) - 1;
    this.#uses[index] = uses;
    if (uses === 0) this.#release(operands);
  }

  /** Minimum or maximum, NaN where an operand is NaN, and with -0 below 0. */
  #extreme(name: "vminps" | "vmaxps", x: Vector, y: Vector, hasEvex: boolean): Vector {
    const { asm } = this.#unit;
    const to = this.#pool.take();
    return this.#pool.with(hasEvex ? 1 : 2, ([other = 0, unordered = 0]) => {
      // Of two zeros each instruction returns its second operand.
      asm.vector(name, to, x, y);
      asm.vector(name, other, y, x);
      asm.vector(name === "vminps" ? "vpor" : "vpand", to, to, other);
      if (hasEvex) {
        asm.vector("vcmppsMask", compared, x, y, unorderedPredicate);
        asm.vector("vaddps", to, x, y, { mask: compared });
      } else {
        asm.vector("vcmpps", unordered, x, y, unorderedPredicate);
        asm.vector("vaddps", other, x, y);
        asm.vector("vblendvps", to, to, other, unordered);
      }
      return to;
    });
  }

  /** Truncates to int32, saturated, with 0 for NaN. The instruction gives the smallest number for what it cannot represent. */
  #truncation(a: number, operands: readonly number[]): Vector {
    const { asm, hasEvex } = this.#unit;
    return this.#inRegister(a, (x) => {
      const to = this.#pool.take();
      const limit = this.#constant(laneBits.firstTooLarge);
      if (hasEvex) {
        asm.vector("vcmppsMask", compared, x, x, orderedPredicate);
        asm.vector("vcvttps2dq", to, x, { mask: compared, zeroing: true });
        asm.vector("vcmppsMask", compared, x, limit, floatPredicates.ge, { broadcast: true });
        asm.vector("vpxor", to, to, this.#constant(laneBits.all), { mask: compared, broadcast: true });
      } else {
        this.#pool.with(1, ([other = 0]) => {
          asm.vector("vcvttps2dq", to, x);
          asm.vector("vcmpps", other, x, limit, floatPredicates.ge);
          asm.vector("vpxor", to, to, other);
          asm.vector("vcmpps", other, x, x, orderedPredicate);
          asm.vector("vpand", to, to, other);
          return other;
        });
      }
      this.#release(operands);
      return to;
    });
  }
}
