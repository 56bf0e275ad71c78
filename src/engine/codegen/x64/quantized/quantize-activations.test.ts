import { beforeEach, describe, it } from "vitest";
import { randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { expectSameBits, openLevel } from "../../../../../test/engine/machine-kernels.ts";
import { activationRowBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { quantizeActivationBytes } from "../../wasm/kernels/blocks/quantize-activation-bytes.ts";
import { quantizeActivations } from "../../wasm/kernels/blocks/quantize-activations.ts";
import type { MachineCode } from "../index.ts";

/** Rows with groups of zeros, of denormal numbers, with infinity and with one large element. NaN has no bits of its own in WebAssembly. */
function rowsOf(rows: number, columns: number): Float32Array {
  const values = randomFloats(rows * columns, 3);
  values.fill(0, 0, 32);
  for (let index = 32; index < 64; index += 1) values[index] = values[index]! * 2 ** -140;
  values[values.length - 5] = Number.NEGATIVE_INFINITY;
  values[values.length - 40] = 1e30;
  values[columns - 1] = -0.5;
  return values;
}

describe("quantization of activations in machine code", () => {
  const opened = openLevel("AVX2");
  const machineCode = opened as MachineCode;
  beforeEach(({ skip }) => skip(typeof opened === "string", String(opened)));

  it.each([
    [1, 64],
    [3, 96],
    [5, 768],
  ])("16 bits: the bits of WebAssembly for %i rows of %i", (rows, columns) => {
    const kernel = quantizeActivations({ rows, columns });
    const y = new Uint8Array(rows * activationRowBytes({ depth: 2, superElements: 32 }, columns));
    expectSameBits(kernel, { x: rowsOf(rows, columns), y }, machineCode, { last: "x", calls: 2 });
    expectSameBits(kernel, { x: rowsOf(rows, columns), y }, machineCode, { last: "y", calls: 1 });
  });

  it.each([
    [1, 256, 32],
    [3, 256, 128],
    [4, 768, 256],
  ])("8 bits: the bits of WebAssembly for %i rows of %i in groups of %i", (rows, columns, elements) => {
    const kernel = quantizeActivationBytes({ rows, columns, elements });
    const y = new Uint8Array(rows * activationRowBytes({ depth: 4, superElements: elements }, columns));
    expectSameBits(kernel, { x: rowsOf(rows, columns), y }, machineCode, { last: "x", calls: 3 });
    expectSameBits(kernel, { x: rowsOf(rows, columns), y }, machineCode, { last: "y", calls: 1 });
  });
});
