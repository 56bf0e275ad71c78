/** Loops over rows of 32-bit elements, and reductions of vectors to one value. */
import type { Memory, Register, Vector } from "../assembler/operands.ts";
import type { VectorUnit } from "../functions/vector-unit.ts";

/** The lanes of a vector in another order: halves of 256 and of 128 bits, pairs, and neighbours exchanged. */
const [swapWideHalves, swapHalves, swapPairs, swapNeighbours] = [0x4e, 0xb1, 0x4e, 0xb1];

/** Sets r12 to the bytes of whole vectors in a row of rax elements, rbp to the elements after them, and the tail to those. Changes rax and rcx. */
export function setRowLength(unit: VectorUnit): void {
  const { asm, lanes, bytes } = unit;
  asm.move("r12", "rax");
  asm.shift("shr", "r12", Math.log2(lanes));
  asm.shift("shl", "r12", Math.log2(bytes));
  asm.integer("and", "rax", lanes - 1);
  asm.move("rbp", "rax");
  unit.setTail("rax", "rcx");
}

/** Generates `body` for whole vectors of a row, and for its tail. Their byte offset is in rax. See `setRowLength`. */
export function forRow({ asm, bytes }: VectorUnit, body: (isTail: boolean) => void): void {
  const [tail, end] = [asm.label(), asm.label()];
  asm.loadImmediate("rax", 0);
  asm.integer("cmp", "rax", "r12");
  asm.jump(tail, "ae");
  const start = asm.here();
  body(false);
  asm.add("rax", bytes);
  asm.integer("cmp", "rax", "r12");
  asm.jump(start, "b");
  asm.bind(tail);
  asm.test("rbp", "rbp");
  asm.jump(end, "z");
  body(true);
  asm.bind(end);
}

/** Elements of a row at `base` in a body of `forRow`. */
export function inRow(base: Register): Memory {
  return { base, displacement: 0, index: "rax" };
}

/** Loads a vector of a row, or its tail. */
export function loadRow(unit: VectorUnit, to: Vector, from: Memory, isTail: boolean): void {
  if (isTail) unit.loadTail(to, from);
  else unit.asm.vector("vmovups", to, from);
}

/** Stores a vector of a row, or its tail. */
export function storeRow(unit: VectorUnit, to: Memory, from: Vector, isTail: boolean): void {
  if (isTail) unit.storeTail(to, from);
  else unit.asm.vector("vmovupsStore", to, from);
}

/** Sets all lanes of a vector to the result of an operation on all its lanes. */
export function reduceLanes({ asm, hasEvex }: VectorUnit, operation: "vaddps" | "vmaxps", vector: Vector, free: Vector): void {
  const combine = (): void => asm.vector(operation, vector, vector, free);
  if (hasEvex) {
    asm.vector("vshuff32x4", free, vector, vector, swapWideHalves);
    combine();
    asm.vector("vshuff32x4", free, vector, vector, swapHalves);
  } else asm.vector("vperm2f128", free, vector, vector, 1);
  combine();
  asm.vector("vshufps", free, vector, vector, swapPairs);
  combine();
  asm.vector("vshufps", free, vector, vector, swapNeighbours);
  combine();
}
