/**
 * Code on lanes of 32 bits that is the same for each lane, as a list of operations. It is read from the WebAssembly code of a function without branches, so that
 * mathematical functions are written once; see `wasm/math`. Nothing in it depends on the number of lanes.
 */
import { at } from "../../../../contract/checked.ts";
import type { Expression, Local, V128 } from "../../wasm/assembler/expression.ts";
import type { WasmFeatures } from "../../wasm/assembler/wasm-features.ts";
import { FunctionBuilder } from "../../wasm/assembler/function-builder.ts";

/** WebAssembly instructions on lanes by opcode: names that `emit-lanes.ts` knows, and numbers of operands. A shift takes its distance as an immediate. */
const instructions: Readonly<Record<number, readonly [name: LaneOperation, operands: 1 | 2 | 3]>> = {
  0x4e: ["and", 2],
  0x4f: ["andnot", 2],
  0x50: ["or", 2],
  0x51: ["xor", 2],
  0x4d: ["not", 1],
  0x52: ["bitselect", 3],
  0xe4: ["f32.add", 2],
  0xe5: ["f32.sub", 2],
  0xe6: ["f32.mul", 2],
  0xe7: ["f32.div", 2],
  0xe8: ["f32.min", 2],
  0xe9: ["f32.max", 2],
  0xea: ["f32.pmin", 2],
  0xeb: ["f32.pmax", 2],
  0x41: ["f32.eq", 2],
  0x42: ["f32.ne", 2],
  0x43: ["f32.lt", 2],
  0x44: ["f32.gt", 2],
  0x45: ["f32.le", 2],
  0x46: ["f32.ge", 2],
  0xe0: ["f32.abs", 1],
  0xe1: ["f32.neg", 1],
  0xe3: ["f32.sqrt", 1],
  0x67: ["f32.ceil", 1],
  0x68: ["f32.floor", 1],
  0x69: ["f32.trunc", 1],
  0x6a: ["f32.nearest", 1],
  0xfa: ["f32.convert", 1],
  0x105: ["f32.madd", 3],
  0xae: ["i32.add", 2],
  0xb1: ["i32.sub", 2],
  0xb5: ["i32.mul", 2],
  0xb6: ["i32.minS", 2],
  0xb7: ["i32.minU", 2],
  0xb8: ["i32.maxS", 2],
  0xb9: ["i32.maxU", 2],
  0x37: ["i32.eq", 2],
  0x38: ["i32.ne", 2],
  0x39: ["i32.lt", 2],
  0x3b: ["i32.gt", 2],
  0x3d: ["i32.le", 2],
  0x3f: ["i32.ge", 2],
  0xa0: ["i32.abs", 1],
  0xa1: ["i32.neg", 1],
  0xab: ["i32.shl", 1],
  0xac: ["i32.shrS", 1],
  0xad: ["i32.shrU", 1],
  0xf8: ["i32.truncSat", 1],
};

/** Name of an operation on lanes: that of the WebAssembly instruction with the type of its lanes. */
export type LaneOperation =
  | "and"
  | "andnot"
  | "or"
  | "xor"
  | "not"
  | "bitselect"
  | `f32.${"add" | "sub" | "mul" | "div" | "min" | "max" | "pmin" | "pmax" | LaneComparison | "abs" | "neg" | "sqrt"}`
  | `f32.${"ceil" | "floor" | "trunc" | "nearest" | "convert" | "madd"}`
  | `i32.${"add" | "sub" | "mul" | "minS" | "minU" | "maxS" | "maxU" | LaneComparison | "abs" | "neg"}`
  | `i32.${"shl" | "shrS" | "shrU" | "truncSat"}`;

/** Comparisons of lanes: all bits of a lane are set where it is true. */
export type LaneComparison = "eq" | "ne" | "lt" | "gt" | "le" | "ge";

/** One value. Operands are numbers of earlier values. */
export type LaneValue =
  | { readonly kind: "input"; readonly index: number }
  /** The bits of every lane as int32. */
  | { readonly kind: "constant"; readonly bits: number }
  | {
      readonly kind: "operation";
      readonly operation: LaneOperation;
      readonly operands: readonly number[];
      /** Distance of a shift. Default: 0. */
      readonly immediate: number;
    };

/** Values in the order in which they are computed, and the number of the result. */
export interface LaneProgram {
  readonly inputs: number;
  readonly values: readonly LaneValue[];
  readonly result: number;
}

/** Emits a function without branches of vectors; its parameters are the vectors. */
export type EmitLanes = (f: FunctionBuilder, inputs: readonly Local<"v128">[]) => Expression<"v128">;

/** Features of the code: fused multiply-add is an instruction of every level. */
const features: WasmFeatures = { simd: true, relaxedSimd: true, byteDot: "none" };
const [localGet, localSet, localTee, i32Const, simdPrefix, v128Const, end] = [0x20, 0x21, 0x22, 0x41, 0xfd, 0x0c, 0x0b];

/** The program of a function of vectors; undefined if it has instructions that are not the same for each lane of 32 bits, or calls the host. */
export function laneProgram(inputs: number, emit: EmitLanes): LaneProgram | undefined {
  const f = new FunctionBuilder(features, () => 0);
  const parameters = Array.from({ length: inputs }, () => f.parameter("v128"));
  const result: V128 = emit(f, parameters);
  f.result(result);
  return new ProgramReader(f.build("v128").body, inputs).read();
}

/** Reads the body of a WebAssembly function: a stack machine whose values are numbered once. */
class ProgramReader {
  readonly #bytes: Uint8Array;
  #position = 0;
  readonly #values: LaneValue[] = [];
  readonly #known = new Map<string, number>();
  readonly #locals: (number | undefined)[] = [];

  constructor(bytes: Uint8Array, inputs: number) {
    this.#bytes = bytes;
    for (let index = 0; index < inputs; index += 1) this.#locals.push(this.#add({ kind: "input", index }));
  }

  read(): LaneProgram | undefined {
    const inputs = this.#locals.length;
    const declarations = this.#unsigned();
    for (let index = 0; index < declarations; index += 1) {
      this.#unsigned();
      this.#byte();
    }
    /** Numbers of vectors, and distances of shifts. */
    const stack: number[] = [];
    for (;;) {
      const opcode = this.#byte();
      if (opcode === end) break;
      if (opcode === localGet) {
        const value = this.#locals[this.#unsigned()];
        if (value === undefined) return undefined;
        stack.push(value);
      } else if (opcode === localSet) this.#locals[this.#unsigned()] = stack.pop();
      else if (opcode === localTee) this.#locals[this.#unsigned()] = at(stack, stack.length - 1);
      else if (opcode === i32Const) stack.push(this.#signed());
      else if (opcode !== simdPrefix || !this.#vectorInstruction(stack)) return undefined;
    }
    return { inputs, values: this.#values, result: at(stack, 0) };
  }

  #vectorInstruction(stack: number[]): boolean {
    const opcode = this.#unsigned();
    if (opcode === v128Const) {
      const bytes = this.#bytes.slice(this.#position, this.#position + 16);
      this.#position += 16;
      const lanes = new Int32Array(bytes.buffer);
      stack.push(this.#add({ kind: "constant", bits: at(lanes, 0) }));
      return lanes.every((lane) => lane === lanes[0]);
    }
    const found = instructions[opcode];
    if (found === undefined) return false;
    const [operation, count] = found;
    const immediate = operation.startsWith("i32.sh") ? (stack.pop() ?? 0) : 0;
    const operands = stack.splice(stack.length - count, count);
    stack.push(this.#add({ kind: "operation", operation, operands, immediate }));
    return true;
  }

  /** The number of a value; equal ones are computed once. */
  #add(value: LaneValue): number {
    const key = JSON.stringify(value);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, this.#values.length);
    return this.#values.push(value) - 1;
  }

  #byte(): number {
    this.#position += 1;
    return at(this.#bytes, this.#position - 1);
  }

  #unsigned(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  #signed(): number {
    let value = 0;
    for (let shift = 0; ;) {
      const byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return shift < 32 && (byte & 0x40) !== 0 ? value | (-1 << shift) : value;
    }
  }
}
