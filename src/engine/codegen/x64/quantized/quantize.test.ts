import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { KernelMemory, features, randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { expectSameBits, openLevel, runMachineCode } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import { x64Levels } from "../../../../kernels/simd-levels.ts";
import { getSteps, rowBytes } from "../../wasm/kernels/quantized/byte-layout.ts";
import { type QuantizationRangeRequest, quantizationRange } from "../../wasm/kernels/quantized/quantize.ts";
import { quantizeRows } from "../../wasm/kernels/quantized/quantize-rows.ts";
import type { MachineCode } from "../index.ts";

const specials = [Number.NaN, -Number.NaN, Infinity, -Infinity, -0, 1e-40, 3e38];

describe.each(x64Levels.filter((level) => level !== "AVX-512 VNNI"))("quantization in machine code with %s", (level) => {
  const opened = openLevel(level);
  const machineCode = opened as MachineCode;
  beforeEach(({ skip }) => skip(typeof opened === "string", String(opened)));

  const size = (max: number) => fc.integer({ min: 1, max });
  const floats = (count: number, seed: number, isSpecial: boolean): Float32Array =>
    randomFloats(count, seed, 5).map((value, index) =>
      isSpecial && index % 11 === seed % 11 ? specials[index % specials.length]! : value,
    );

  function expectSameRange(
    request: QuantizationRangeRequest,
    x: Float32Array,
    output: "scale" | "zeroPoint",
    splits: number,
  ): void {
    const scale = { scale: new Float32Array(request.rows) };
    const zeroPoint = { zeroPoint: new Uint8Array(request.rows) };
    const operands = output === "scale" ? { x, ...zeroPoint, ...scale } : { x, ...scale, ...zeroPoint };
    expectSameBits(quantizationRange(request), operands, machineCode, { calls: splits, last: "x" });
  }

  it("gives the bytes, norms and factors of WebAssembly", ({ skip }) => {
    skip(features.byteDot !== "unsigned", "this Node.js has no dot product of bytes");
    fc.assert(
      fc.property(size(7), size(110), size(255), fc.boolean(), size(3), (rows, half, zeroPoint, isSpecial, splits) => {
        const request = { rows, columns: 2 * half };
        const kernel = quantizeRows(request);
        const memory = new KernelMemory(65_536 * 2);
        const x = memory.put(floats(rows * request.columns, half, isSpecial));
        const [scale, zero] = [memory.put(Float32Array.of(0.031)), memory.put(Uint8Array.of(zeroPoint))];
        const y = memory.roomAtEnd(Uint8Array, rows * rowBytes(request.columns));
        const offsets = [x.offset, scale.offset, zero.offset, y.offset];
        // The bytes that fill a row up are whatever was there, or comes of what follows the row.
        const meaning = (): Uint8Array =>
          y.data.map((byte, index) => {
            const within = index % rowBytes(request.columns);
            return within >= request.columns && within < getSteps(request.columns) * 4 ? 0 : byte;
          });
        memory.run(kernel, offsets);
        const expected = meaning();
        y.data.fill(0x5a);
        runMachineCode(memory, kernel, offsets, machineCode, splits);
        expect(Buffer.compare(meaning(), expected), JSON.stringify({ ...request, zeroPoint, isSpecial })).toBe(0);
      }),
      { numRuns: amount(200, 25) },
    );
  });

  it("gives the scales and zero points of WebAssembly", () => {
    fc.assert(
      fc.property(size(4), size(150), fc.constantFrom(0, 1, 2, 3), size(3), (rows, columns, kind, splits) => {
        const request = { rows, columns };
        // Also of one sign, and of zeros alone.
        const values = floats(rows * columns, columns, kind === 1).map((value) =>
          kind === 2 ? Math.abs(value) : kind === 3 ? 0 : value,
        );
        for (const output of ["scale", "zeroPoint"] as const) expectSameRange(request, values, output, splits);
      }),
      { numRuns: amount(200, 20) },
    );
  });
});
