/**
 * Quantization of float32 activations to rows of bytes as machine code: what the WebAssembly kernel `quantizeRows` computes for the same request, where its dot
 * product of bytes takes unsigned activations. The bytes that fill a row up are not set.
 */
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { normOffset, rowBytes, runSteps, stepDepth } from "../../wasm/kernels/quantized/byte-layout.ts";
import { type QuantizeRowsRequest, quantizeRows } from "../../wasm/kernels/quantized/quantize-rows.ts";
import { floatBytes } from "../../wasm/kernels/loops/lanes.ts";
import type { Vector } from "../assembler/operands.ts";
import { FloatCode } from "../float-code.ts";
import type { MachineArgument, MachineFunction } from "../machine-kernel.ts";
import { TileColumns } from "../products/store-tile.ts";
import { type VectorTarget, openAssembler, vectorTarget } from "../vector-target.ts";

/** Elements whose squares are added. */
const runSize = runSteps * stepDepth;
const maxQuantum = 255;
/** 2^23 + 2^22: adding it to a small float32 puts its integer in the low bits. */
const roundingBase = 12_582_912;
const roundingBits = new Int32Array(Float32Array.of(roundingBase).buffer)[0] ?? 0;
/** Rounding modes of vroundps, without the exception for inexact results: to nearest even, and up. */
const [toNearest, up] = [8, 10];

/** The machine code for rows of bytes. */
export function machineQuantizeRows(request: QuantizeRowsRequest, level: X64Level): MachineFunction {
  const { columns } = request;
  const { parameters } = quantizeRows(request);
  const address = (name: string, pieceBytes: number): MachineArgument => ({
    kind: "address",
    operand: parameters.indexOf(name),
    pieceBytes,
  });
  return {
    ...new QuantizeRowsCode(columns, vectorTarget(level)).emit(),
    arguments: [
      address("x", columns * floatBytes),
      address("y", rowBytes(columns)),
      address("scale", 0),
      address("zeroPoint", 0),
      { kind: "pieces" },
    ],
  };
}

/** Registers: rdi x and rsi y of the row, rdx scale, rcx zero point, r8 rows that are left; rax, r9 and r10 change. */
class QuantizeRowsCode {
  readonly #columns: number;
  readonly #target: VectorTarget;
  readonly #code: FloatCode;
  readonly #divisor: Vector;
  readonly #shift: Vector;
  readonly #zero: Vector;
  readonly #base: Vector;
  readonly #maxFloat: Vector;
  readonly #maxInteger: Vector;
  readonly #squares: Vector;
  readonly #largest: Vector;

  constructor(columns: number, target: VectorTarget) {
    this.#columns = columns;
    this.#target = target;
    const { asm, vectors } = openAssembler(target);
    this.#code = new FloatCode(asm, vectors);
    this.#divisor = vectors.take();
    this.#shift = vectors.take();
    this.#zero = vectors.take();
    this.#base = vectors.take();
    this.#maxFloat = vectors.take();
    this.#maxInteger = vectors.take();
    this.#squares = vectors.take();
    this.#largest = vectors.take();
  }

  emit(): MachineFunction {
    const { asm } = this.#code;
    const runs = Math.floor(this.#columns / runSize);
    const rest = this.#columns % runSize;
    asm.vector("vbroadcastss", this.#divisor, { base: "rdx", displacement: 0 });
    asm.loadExtended("movzx8", "rcx", { base: "rcx", displacement: 0 });
    asm.vector("vmovd", this.#shift, "rcx");
    asm.vector("vpbroadcastd", this.#shift, this.#shift);
    asm.vector("vcvtdq2ps", this.#shift, this.#shift);
    asm.clear(this.#zero);
    this.#code.set(this.#base, roundingBase);
    this.#code.set(this.#maxFloat, maxQuantum);
    asm.vector("vpbroadcastd", this.#maxInteger, asm.integers(maxQuantum));
    asm.negate("rcx");
    const whole = new TileColumns(this.#code, runSize);
    const last = new TileColumns(this.#code, rest);
    if (rest > 0) last.prepare("rax");
    asm.countDown("r8", () => {
      asm.clear(this.#largest);
      asm.move("rax", "rdi");
      asm.move("r10", "rsi");
      if (runs > 0) {
        asm.loadImmediate("r9", runs);
        asm.countDown("r9", () => {
          this.#emitRun(whole, runSize);
          asm.add("rax", runSize * floatBytes);
          asm.add("r10", runSize);
        });
      }
      if (rest > 0) this.#emitRun(last, rest);
      this.#emitNorm();
      asm.add("rdi", this.#columns * floatBytes);
      asm.add("rsi", rowBytes(this.#columns));
    });
    asm.return();
    return asm.machineFunction;
  }

  /** Quantizes some neighbouring elements, and keeps the larger of their two sums of squares. */
  #emitRun(columns: TileColumns, count: number): void {
    const { asm, vectors } = this.#code;
    const { lanes, bytes } = this.#target;
    asm.clear(this.#squares);
    for (let vector = 0; vector < columns.vectors; vector += 1) {
      const taken = Math.min(lanes, count - vector * lanes);
      vectors.with(2, ([x = 0, other = 0]) => {
        columns.load(x, vector, { base: "rax", displacement: vector * bytes });
        asm.vector("vdivps", x, x, this.#divisor);
        asm.vector("vroundps", x, x, toNearest);
        asm.vector("vaddps", x, x, this.#shift);
        asm.vector("vminps", x, this.#maxFloat, x);
        asm.vector("vmaxps", x, this.#zero, x);
        asm.vector("vaddps", x, x, this.#base);
        this.#code.withInteger("vpsubd", x, x, roundingBits);
        // What a NaN is converted to.
        asm.vector("vpmaxsd", x, x, this.#zero);
        asm.vector("vpminsd", x, x, this.#maxInteger);
        asm.vector("vcvtdq2ps", other, x);
        asm.vector("vsubps", other, other, this.#shift);
        if (taken < lanes) this.#keep(other, taken);
        asm.vector("vfmadd231ps", this.#squares, other, other);
        this.#emitBytes(x, other, vector * lanes, columns, taken);
      });
    }
    // Neighbouring k are in lanes of four: the sums of the first two and of the last two.
    vectors.with(1, ([half = 0]) => {
      if (this.#target.bytes === 64) {
        asm.vector("vextractf64x4", half, this.#squares, 1);
        asm.vector("vaddps", this.#squares, this.#squares, half, { bits: 256 });
      }
      asm.vector("vextractf128", half, this.#squares, 1, { bits: 256 });
      asm.vector("vaddps", this.#squares, this.#squares, half, { bits: 128 });
      asm.vector("vmovshdup", half, this.#squares, { bits: 128 });
      asm.vector("vaddps", this.#squares, this.#squares, half, { bits: 128 });
      asm.vector("vmaxps", this.#largest, this.#largest, this.#squares, { bits: 128 });
    });
  }

  /** Sets lanes from number `count` on to 0. */
  #keep(x: Vector, count: number): void {
    const { asm } = this.#code;
    const ones = Array.from({ length: this.#target.lanes }, (_, lane) => (lane < count ? -1 : 0));
    asm.vector("vpand", x, x, asm.integers(...ones));
  }

  /** Stores the lowest byte of each lane. In VEX 8 bytes, which never exceed the row, since it ends with the norm and the factor. */
  #emitBytes(x: Vector, free: Vector, element: number, columns: TileColumns, count: number): void {
    const { asm } = this.#code;
    const to = { base: "r10", displacement: element } as const;
    if (this.#target.hasEvex) {
      asm.vector("vpmovdb", to, x, count < this.#target.lanes ? { mask: columns.tailMask } : {});
      return;
    }
    asm.vector("vextracti128", free, x, 1);
    asm.vector("vpackssdw", x, x, free, { bits: 128 });
    asm.vector("vpackuswb", x, x, x, { bits: 128 });
    asm.vector("vmovsdStore", to, x);
  }

  /** The norm: the root of the larger sum, rounded up; and the factor of the sums of weights, which makes up for the zero point. */
  #emitNorm(): void {
    const { asm } = this.#code;
    const at = normOffset(this.#columns);
    asm.vector("vmovhlps", this.#squares, this.#largest, this.#largest);
    asm.vector("vmaxps", this.#largest, this.#largest, this.#squares, { bits: 128 });
    asm.vector("vsqrtps", this.#largest, this.#largest, { bits: 128 });
    asm.vector("vroundps", this.#largest, this.#largest, up, { bits: 128 });
    asm.vector("vcvttps2dq", this.#largest, this.#largest, { bits: 128 });
    asm.vector("vmovd", this.#squares, "rcx");
    asm.vector("vmovssStore", { base: "rsi", displacement: at }, this.#largest);
    asm.vector("vmovssStore", { base: "rsi", displacement: at + 4 }, this.#squares);
  }
}
