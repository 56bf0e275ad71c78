/**
 * Products of uint8 activations and int8 weights as machine code: what the WebAssembly kernel `byteMatmul` computes for the same request, on the same packed
 * operands (see `byte-layout.ts`), with the same bits. Sums have 32 bits: by vpdpbusd where the processor has it, otherwise by vpmaddubsw and vpmaddwd, which weights
 * that satisfy `fitsBytes` cannot saturate.
 */
import { at } from "../../../../contract/checked.ts";
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import { byteTiling, type ByteMatmulRequest, byteMatmul } from "../../wasm/kernels/quantized/byte-matmul.ts";
import {
  columnSumsOffset,
  getSteps,
  normOffset,
  panelBytes,
  panelHeaderBytes,
  rowBytes,
  runSteps,
  stepBytes,
  stepDepth,
} from "../../wasm/kernels/quantized/byte-layout.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Vector } from "../assembler/operands.ts";
import { FloatCode } from "../float-code.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { type VectorTarget, openAssembler, vectorTarget } from "../vector-target.ts";
import { ProductLoops, type ProductShape, type TileGenerator, type TilePlace, productArguments } from "./product-loops.ts";
import { TileColumns, emitStoreTile } from "./store-tile.ts";

/** Steps of the body of the loop within a run; a divisor of `runSteps`. */
const unrolledSteps = 4;
/** The offset, within the activations of a row, of the factor of the sums of weights. */
const factorOffset = 4;

/** The machine code for a product. */
export function machineByteMatmul(request: ByteMatmulRequest, level: X64Level): MachineFunction {
  const target = vectorTarget(level);
  const { m, n, k, output } = request;
  const isWide = target.lanes === 16;
  const shape: ProductShape = {
    m,
    n,
    tiling: byteTiling(request),
    aRowBytes: rowBytes(k),
    panelBytes: panelBytes(k),
    groups: isWide ? (target.hasByteDot ? [6, 2, 1] : [4, 2, 1]) : [2, 1],
    tileRows: isWide ? (target.hasByteDot ? 8 : 10) : 4,
    hasColumnScales: output !== "int32" && output.bScale === "column",
  };
  const { asm, vectors } = openAssembler(target);
  const generate: TileGenerator = (place) => {
    const tile = new ByteTile(new FloatCode(asm, vectors), request, target, place);
    return { prepare: () => tile.prepare(), tile: (rows) => tile.emit(rows) };
  };
  return {
    ...new ProductLoops(asm, shape, generate).emit(),
    arguments: productArguments(byteMatmul(request), shape),
  };
}

/** Some rows and neighbouring panels. A vector has the columns of one panel, or of two. */
class ByteTile {
  readonly #code: FloatCode;
  readonly #request: ByteMatmulRequest;
  readonly #target: VectorTarget;
  readonly #place: TilePlace;
  readonly #columns: TileColumns;

  constructor(code: FloatCode, request: ByteMatmulRequest, target: VectorTarget, place: TilePlace) {
    this.#code = code;
    this.#request = request;
    this.#target = target;
    this.#place = place;
    this.#columns = new TileColumns(code, place.columns);
  }

  prepare(): void {
    this.#columns.prepare("rax");
  }

  emit(rows: number): void {
    const { asm, vectors } = this.#code;
    const { k } = this.#request;
    const width = this.#columns.vectors;
    const sums = indices(rows).map(() => vectors.takeAll(width));
    for (const vector of indices(width))
      this.#emitStart(
        sums.map((row) => at(row, vector)),
        vector,
      );
    const ones = this.#target.hasByteDot ? undefined : vectors.take();
    if (ones !== undefined) asm.vector("vpbroadcastd", ones, asm.integers(0x0001_0001));
    asm.move("rax", "rdi");
    asm.address("rbx", { base: "rsi", displacement: panelHeaderBytes });
    const steps = getSteps(k);
    const runs = Math.floor(steps / runSteps);
    const pass = (count: number): void => {
      for (const step of indices(count)) this.#emitStep(sums, ones, step);
      asm.add("rax", count * stepDepth);
      asm.add("rbx", count * stepBytes);
    };
    if (runs > 0) {
      asm.loadImmediate("r10", runs);
      asm.countDown("r10", () => {
        asm.add("rbx", stepBytes); // the sums of the weights of the run
        for (let done = 0; done < runSteps; done += unrolledSteps) pass(unrolledSteps);
      });
    }
    if (steps % runSteps > 0) {
      asm.add("rbx", stepBytes);
      pass(steps % runSteps);
    }
    if (ones !== undefined) vectors.release(ones);
    this.#emitOutput(sums);
    for (const row of sums.toReversed()) vectors.release(...row.toReversed());
  }

  /** Sums start from the sums of the weights of the columns times the factor of the row. */
  #emitStart(sums: readonly Vector[], vector: number): void {
    const { asm, vectors } = this.#code;
    const { k } = this.#request;
    const factor = vectors.take();
    const columnSums = vectors.take();
    this.#emitLoad(columnSums, "rsi", vector, columnSumsOffset);
    for (const [row, sum] of sums.entries()) {
      asm.vector("vpbroadcastd", factor, { base: "rdi", displacement: row * rowBytes(k) + normOffset(k) + factorOffset });
      asm.vector("vpmulld", sum, columnSums, factor);
    }
    vectors.release(columnSums, factor);
  }

  /** Loads 32 bytes of a panel, or of two neighbouring panels. */
  #emitLoad(to: Vector, base: "rsi" | "rbx", vector: number, offset: number): void {
    const { asm } = this.#code;
    const panelsOfVector = this.#target.lanes / tileColumns;
    const first = vector * panelsOfVector;
    const place = (panel: number) => ({ base, displacement: panel * panelBytes(this.#request.k) + offset }) as const;
    asm.vector("vmovdqu", to, place(first), { bits: 256 });
    const hasSecond = panelsOfVector === 2 && this.#place.columns > (first + 1) * tileColumns;
    if (hasSecond) asm.vector("vinserti64x4", to, to, place(first + 1), 1);
  }

  #emitStep(sums: readonly (readonly Vector[])[], ones: Vector | undefined, step: number): void {
    const { asm, vectors } = this.#code;
    const width = this.#columns.vectors;
    vectors.with(width + (ones === undefined ? 1 : 2), (taken) => {
      const [factor, products] = [at(taken, width), taken[width + 1] ?? 0];
      for (const vector of indices(width)) this.#emitLoad(at(taken, vector), "rbx", vector, step * stepBytes);
      for (const [row, each] of sums.entries()) {
        asm.vector("vpbroadcastd", factor, { base: "rax", displacement: row * rowBytes(this.#request.k) + step * stepDepth });
        for (const [vector, sum] of each.entries()) {
          if (ones === undefined) asm.vector("vpdpbusd", sum, factor, at(taken, vector));
          else {
            asm.vector("vpmaddubsw", products, factor, at(taken, vector));
            asm.vector("vpmaddwd", products, products, ones);
            asm.vector("vpaddd", sum, sum, products);
          }
        }
      }
    });
  }

  #emitOutput(sums: readonly (readonly Vector[])[]): void {
    const { n, output } = this.#request;
    const store = { sums, columns: this.#columns, c: "rdx", residualAt: "r8", rowBytes: n * floatBytes } as const;
    const free = ["r10", "rax", "rbx"] as const;
    if (output === "int32") {
      emitStoreTile(this.#code, { ...store, free, activation: "none", residual: "none" });
      return;
    }
    for (const vector of indices(this.#columns.vectors))
      this.#emitScale(
        sums.map((row) => at(row, vector)),
        vector,
      );
    emitStoreTile(this.#code, {
      ...store,
      free,
      activation: output.activation ?? "none",
      residual: output.residual ?? "none",
    });
  }

  /** Sums as float32, times the scales of activations and weights, plus the bias. */
  #emitScale(sums: readonly Vector[], vector: number): void {
    const { asm, vectors } = this.#code;
    const { output } = this.#request;
    if (output === "int32") return;
    const columnAt = vector * this.#target.bytes;
    const scale = vectors.take();
    asm.load("rax", this.#place.aScale);
    vectors.with(1, ([columnScale = 0]) => {
      asm.vector("vbroadcastss", scale, { base: "rax", displacement: 0 });
      if (output.bScale === "column") this.#columns.load(columnScale, vector, { base: "rbp", displacement: columnAt });
      else {
        asm.load("rbx", this.#place.bScale);
        asm.vector("vbroadcastss", columnScale, { base: "rbx", displacement: 0 });
      }
      asm.vector("vmulps", scale, scale, columnScale);
    });
    for (const sum of sums) asm.vector("vcvtdq2ps", sum, sum);
    if (output.bias === true)
      vectors.with(1, ([bias = 0]) => {
        this.#columns.load(bias, vector, { base: "rcx", displacement: columnAt });
        for (const sum of sums) asm.vector("vfmadd213ps", sum, scale, bias);
      });
    else for (const sum of sums) asm.vector("vmulps", sum, sum, scale);
    vectors.release(scale);
  }
}
