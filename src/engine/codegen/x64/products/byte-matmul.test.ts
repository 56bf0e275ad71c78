import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { KernelMemory, features, randomFloats, randomNumbers } from "../../../../../test/engine/kernel-memory.ts";
import { expectSameBits, openLevel } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import { x64Levels } from "../../../../kernels/simd-levels.ts";
import { type ByteMatmulRequest, byteMatmul } from "../../wasm/kernels/quantized/byte-matmul.ts";
import { rowBytes } from "../../wasm/kernels/quantized/byte-layout.ts";
import { fitsBytes, packBytes, packedBytesLength } from "../../wasm/kernels/quantized/pack-bytes.ts";
import { quantizeRows } from "../../wasm/kernels/quantized/quantize-rows.ts";
import type { MachineCode } from "../index.ts";

const operandNames = ["a", "b", "aScale", "bScale", "bias", "residual", "c"] as const;

/** Rows of quantized activations, as the kernel writes them. */
function quantized(rows: number, columns: number, zeroPoint: number): Uint8Array {
  const memory = new KernelMemory(65_536 + 8 * rows * (columns + 32));
  const x = memory.put(randomFloats(rows * columns, 1, 4));
  const scale = memory.put(Float32Array.of(0.03));
  const zero = memory.put(Uint8Array.of(zeroPoint));
  const y = memory.room(Uint8Array, rows * rowBytes(columns));
  memory.run(quantizeRows({ rows, columns }), [x.offset, scale.offset, zero.offset, y.offset]);
  return y.data.slice();
}

describe.each(x64Levels)("products of bytes in machine code with %s", (level) => {
  const opened = openLevel(level);
  const machineCode = opened as MachineCode;
  beforeEach(({ skip }) => {
    skip(typeof opened === "string", String(opened));
    skip(features.byteDot !== "unsigned", "this Node.js has no dot product of bytes");
  });

  function expectEqual(request: ByteMatmulRequest, largest: number, splits: number, last: (typeof operandNames)[number]): void {
    const { m, n, k, output } = request;
    const values = Int32Array.from(randomNumbers(k * n, 2), (value) => Math.round((value * 2 - 1) * largest));
    const weights = { values, k, n };
    expect(fitsBytes(weights)).toBe(true);
    const packed = new Uint8Array(packedBytesLength(weights));
    packBytes(packed, weights);
    const columnScales = output !== "int32" && output.bScale === "column" ? n : 1;
    const operands = {
      a: quantized(m, k, 117),
      b: packed,
      aScale: Float32Array.of(0.03),
      bScale: randomFloats(columnScales, 3, 0.02),
      bias: randomFloats(n, 4),
      residual: randomFloats(m * n, 5),
      c: new Float32Array(m * n),
    };
    expectSameBits(byteMatmul(request), operands, machineCode, { calls: splits, last });
  }

  it("gives the bits of WebAssembly for any sizes and outputs, in one call or several", () => {
    const size = (max: number) => fc.integer({ min: 1, max });
    const floats = fc.record({
      bScale: fc.constantFrom("tensor" as const, "column" as const),
      bias: fc.boolean(),
      activation: fc.constantFrom("none" as const, "relu" as const, "gelu" as const),
      residual: fc.constantFrom("none" as const, "before-activation" as const, "after-activation" as const),
    });
    fc.assert(
      fc.property(
        fc.record({ m: size(27), n: size(75), k: size(130), output: fc.oneof(fc.constant("int32" as const), floats) }),
        fc.constantFrom(20, 63),
        size(4),
        fc.constantFrom(...operandNames),
        (request, largest, splits, last) => expectEqual({ ...request, k: 2 * request.k }, largest, splits, last),
      ),
      { numRuns: amount(300, 25) },
    );
  });

  it("gives them for large products, and for rows that are divided", () => {
    expectEqual({ m: 64, n: 384, k: 384, output: { bScale: "column", bias: true, activation: "gelu" } }, 63, 2, "b");
    expectEqual({ m: 150, n: 20, k: 8192, output: "int32" }, 63, 3, "a");
  });
});
