/** Scale and zero point of dynamic quantization as machine code: what the WebAssembly kernel `quantizationRange` computes for the same request, with the same bits. */
import { at } from "../../../../contract/checked.ts";
import { type QuantizationRangeRequest, quantizationRange } from "../../wasm/kernels/quantized/quantize.ts";
import { floatBytes, indices, laneCount } from "../../wasm/kernels/loops/lanes.ts";
import { Assembler } from "../assembler/assembler.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import type { MachineArgument, MachineFunction } from "../machine-kernel.ts";

const maxQuantum = 255;
/** Vectors of one pass through the loop: minima, maxima and signs of NaN of each are independent. */
const unrolled = 4;
const vectorBytes = 32;
/** Comparison of vcmpps: unordered, which NaN is to itself; and equality. */
const [unordered, equal] = [3, 0];
const toNearest = 8;

const [minima, maxima, strange] = [
  [0, 1, 2, 3],
  [4, 5, 6, 7],
  [8, 9, 10, 11],
] as const satisfies readonly (readonly Vector[])[];
const [x, free, scale, width] = [12, 13, 14, 15] as const;

/** The machine code for the range of rows. Vectors of 256 bits at every level: it waits for memory. */
export function machineQuantizationRange(request: QuantizationRangeRequest): MachineFunction {
  const { parameters, dynamicSizes } = quantizationRange(request);
  const address = (name: string, pieceBytes: number): MachineArgument => ({
    kind: "address",
    operand: dynamicSizes.length + parameters.indexOf(name),
    pieceBytes,
  });
  return {
    ...emitCode(request.columns % laneCount),
    arguments: [
      address("x", 0),
      address("scale", floatBytes),
      address("zeroPoint", 1),
      { kind: "firstPiece" },
      { kind: "pieces" },
      { kind: "operand", operand: 0 },
    ],
  };
}

/** Arguments: rdi x, rsi scale, rdx zero point, rcx first row, r8 rows, r9 whole blocks of 4 elements of a row. */
function emitCode(rest: number): MachineFunction {
  const asm = new Assembler({ bits: 256, hasEvex: false });
  // The first row: rows have r9 * 4 + rest elements.
  asm.move("rax", "r9");
  asm.shift("shl", "rax", Math.log2(laneCount * floatBytes));
  asm.add("rax", rest * floatBytes);
  asm.multiply("rax", "rax", "rcx");
  asm.integer("add", "rdi", "rax");
  asm.countDown("r8", () => {
    for (const vector of [...minima, ...maxima, ...strange]) asm.clear(vector);
    emitBlocks(asm, unrolled * 2, () => {
      for (const index of indices(unrolled)) emitVector(asm, index, { base: "rdi", displacement: index * vectorBytes });
    });
    emitBlocks(asm, 1, () => emitVector(asm, 0, { base: "rdi", displacement: 0 }, 128));
    if (rest > 0) {
      asm.vector("vmovups", free, asm.integers(...indices(laneCount).map((lane) => (lane < rest ? -1 : 0))), { bits: 128 });
      asm.vector("vmaskmovps", x, free, { base: "rdi", displacement: 0 }, { bits: 128 });
      emitUse(asm, 0);
      asm.add("rdi", rest * floatBytes);
    }
    emitResults(asm);
    asm.add("rsi", floatBytes);
    asm.add("rdx", 1);
  });
  asm.return();
  return asm.machineFunction;
}

/** Runs the body for whole groups of `blocks` blocks of 4 elements of the row; rdi moves on. Groups of more than one leave a rest below them. */
function emitBlocks(asm: Assembler, blocks: number, body: () => void): void {
  const skip = asm.label();
  asm.move("rax", "r9");
  if (blocks > 1) asm.shift("shr", "rax", Math.log2(blocks));
  else asm.integer("and", "rax", unrolled * 2 - 1);
  asm.test("rax", "rax");
  asm.jump(skip, "z");
  asm.countDown("rax", () => {
    body();
    asm.add("rdi", blocks * laneCount * floatBytes);
  });
  asm.bind(skip);
}

/** Loads a vector, whose upper half is 0 where it has 128 bits: 0 is always in the range. */
function emitVector(asm: Assembler, index: number, from: Memory, bits: 128 | 256 = 256): void {
  asm.vector("vmovups", x, from, { bits });
  emitUse(asm, index);
}

function emitUse(asm: Assembler, index: number): void {
  const [min, max, nan] = [at(minima, index), at(maxima, index), at(strange, index)];
  // The second source is the result where a NaN does not compare: the extreme so far.
  asm.vector("vminps", min, x, min);
  asm.vector("vmaxps", max, x, max);
  asm.vector("vcmpps", x, x, x, unordered);
  asm.vector("vorps", nan, nan, x);
}

/** The extremes of all lanes, then scale and zero point by the formulas of ONNX's DynamicQuantizeLinear. */
function emitResults(asm: Assembler): void {
  const operations = [
    ["vminps", minima],
    ["vmaxps", maxima],
    ["vorps", strange],
  ] as const;
  for (const [operation, vectors] of operations) {
    const [first, second, third, fourth] = vectors;
    asm.vector(operation, first, first, second);
    asm.vector(operation, third, third, fourth);
    asm.vector(operation, first, first, third);
    asm.vector("vextractf128", free, first, 1);
    asm.vector(operation, first, first, free, { bits: 128 });
    asm.vector("vmovhlps", free, first, first);
    asm.vector(operation, first, first, free, { bits: 128 });
    asm.vector("vmovshdup", free, first, { bits: 128 });
    asm.vector(operation, first, first, free, { bits: 128 });
  }
  const bits = { bits: 128 } as const;
  const [min, max, nan] = [minima[0], maxima[0], strange[0]];
  asm.vector("vsubps", width, max, min, bits);
  asm.vector("vbroadcastss", free, asm.floats(maxQuantum), bits);
  asm.vector("vdivps", scale, width, free, bits);
  asm.clear(x);
  asm.vector("vcmpps", width, width, x, equal, bits);
  asm.vector("vbroadcastss", free, asm.floats(1), bits);
  asm.vector("vblendvps", scale, scale, free, width, bits);
  asm.vector("vbroadcastss", free, asm.floats(Number.NaN), bits);
  asm.vector("vblendvps", scale, scale, free, nan, bits);
  asm.vector("vmovssStore", { base: "rsi", displacement: 0 }, scale);
  asm.vector("vdivps", min, min, scale, bits);
  asm.vector("vsubps", min, x, min, bits);
  asm.vector("vbroadcastss", free, asm.floats(maxQuantum), bits);
  asm.vector("vminps", min, free, min, bits);
  asm.vector("vmaxps", min, x, min, bits);
  asm.vector("vroundps", min, min, toNearest, bits);
  asm.vector("vcvttps2dq", min, min, bits);
  asm.vector("vpextrb", { base: "rdx", displacement: 0 }, min, 0);
}
