/**
 * Gathers of single float32 elements along the last axis as machine code, for indices that are known when the code is generated and whose neighbours are near each
 * other, as in enlarged pictures: each vector of the output is a permutation of one vector of the input.
 */
import type { X64Level } from "../../../kernels/simd-levels.ts";
import { floatBytes, indices } from "../wasm/kernels/loops/lanes.ts";
import type { Vector } from "./assembler/operands.ts";
import { FunctionFrame } from "./functions/function-frame.ts";
import { VectorUnit } from "./functions/vector-unit.ts";
import type { MachineFunction } from "./machine-kernel.ts";

/** Rows of `n` elements, of which the elements at `columns` are copied. */
export interface ColumnGather {
  readonly n: number;
  /** Not negative, and below `n`. */
  readonly columns: readonly number[];
}

/** Vectors of a row, for which code is written out. */
const maxVectors = 64;
const valueVector: Vector = 0;
const orderVector: Vector = 1;
const firstKept = 2;
/** Mask of the elements of a row that is shorter than a vector. */
const rowMask = 2;

/** A vector of the output: its elements are `order` of the vector of the input that begins at `start`. */
interface Permutation {
  readonly start: number;
  readonly order: readonly number[];
}

/** Whether there is machine code for these columns, at all levels. */
export function hasColumnGather({ n, columns }: ColumnGather): boolean {
  return ([8, 16] as const).every((lanes) => permutations({ n, columns }, lanes) !== undefined);
}

/** The permutations of all vectors of the output; undefined if one needs elements that are too far from each other, or there are too many. */
function permutations({ n, columns }: ColumnGather, lanes: 8 | 16): readonly Permutation[] | undefined {
  const count = Math.ceil(columns.length / lanes);
  if (count === 0 || count > maxVectors || n < 8) return undefined;
  const all = indices(count).map((vector): Permutation => {
    const taken = columns.slice(vector * lanes, (vector + 1) * lanes);
    const start = Math.max(0, Math.min(Math.min(...taken), n - lanes));
    return { start, order: indices(lanes).map((lane) => (taken[lane] ?? start) - start) };
  });
  return all.every(({ order }) => order.every((lane) => lane >= 0 && lane < lanes)) ? all : undefined;
}

/** Generates the function: arguments x, the indices, which are not read, y, first row and end of the rows. Undefined where WebAssembly computes it. */
export function machineColumnGather(given: ColumnGather, level: X64Level): MachineFunction | undefined {
  const unit = new VectorUnit(level);
  const vectors = permutations(given, unit.lanes);
  if (vectors === undefined) return undefined;
  const { asm, bytes, lanes, hasEvex } = unit;
  const frame = new FunctionFrame(asm);
  const place = { x: frame.argument(0), y: frame.argument(2), from: frame.argument(3), to: frame.argument(4) };
  const end = asm.label();
  frame.enter();
  asm.load("rbx", place.to);
  asm.load("rax", place.from);
  asm.integer("sub", "rbx", "rax");
  asm.jump(end, "le");
  asm.multiply("rsi", "rax", given.n * floatBytes);
  asm.integer("add", "rsi", place.x);
  asm.multiply("rdx", "rax", given.columns.length * floatBytes);
  asm.integer("add", "rdx", place.y);
  const rest = given.columns.length % lanes;
  if (rest > 0) {
    asm.loadImmediate("rax", rest);
    unit.setTail("rax", "rcx");
  }
  const isShort = given.n < lanes;
  if (isShort && hasEvex) {
    asm.loadImmediate("rax", 2 ** given.n - 1);
    asm.vector("kmovw", rowMask, "rax");
  }
  // Orders are kept in registers, as far as there are any.
  const kept = new Map<string, Vector>();
  for (const { order } of vectors) {
    const register = firstKept + kept.size;
    if (kept.has(order.join()) || register >= unit.vectors) continue;
    kept.set(order.join(), register);
    asm.vector("vmovups", register, asm.integers(...order));
  }
  asm.countDown("rbx", () => {
    for (const [vector, { start, order }] of vectors.entries()) {
      const source = { base: "rsi", displacement: start * floatBytes } as const;
      const register = kept.get(order.join()) ?? orderVector;
      if (register === orderVector) asm.vector("vmovups", orderVector, asm.integers(...order));
      if (isShort) {
        asm.vector("vmovups", valueVector, source, { mask: rowMask, zeroing: true });
        asm.vector("vpermps", valueVector, register, valueVector);
      } else asm.vector("vpermps", valueVector, register, source);
      const target = { base: "rdx", displacement: vector * bytes } as const;
      if (rest > 0 && vector === vectors.length - 1) unit.storeTail(target, valueVector);
      else asm.vector("vmovupsStore", target, valueVector);
    }
    asm.add("rsi", given.n * floatBytes);
    asm.add("rdx", given.columns.length * floatBytes);
  });
  asm.bind(end);
  frame.leave();
  return asm.machineFunction;
}
