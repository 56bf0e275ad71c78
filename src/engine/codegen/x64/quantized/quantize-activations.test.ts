import { beforeAll, beforeEach, describe, it } from "vitest";
import { randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { MachineLevel } from "../../../../../test/engine/machine-level.ts";
import { activationRowBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { quantizeActivationBytes } from "../../wasm/kernels/blocks/quantize-activation-bytes.ts";
import { quantizeActivations } from "../../wasm/kernels/blocks/quantize-activations.ts";

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
  let machine: MachineLevel;
  beforeAll(() => {
    machine = MachineLevel.open("AVX2");
  });
  beforeEach(({ skip }) => skip(machine.problem !== undefined, machine.problem));

  it.each([
    [1, 64],
    [3, 96],
    [5, 768],
  ])("16 bits: the bits of WebAssembly for %i rows of %i", (rows, columns) => {
    const kernel = quantizeActivations({ rows, columns });
    const y = new Uint8Array(rows * activationRowBytes({ depth: 2, superElements: 32 }, columns));
    const code = kernel.machineKernel!("AVX2")!;
    machine.expectSameBits(kernel, code, { x: rowsOf(rows, columns), y }, "x", 2);
    machine.expectSameBits(kernel, code, { x: rowsOf(rows, columns), y }, "y", 1);
  });

  it.each([
    [1, 256, 32],
    [3, 256, 128],
    [4, 768, 256],
  ])("8 bits: the bits of WebAssembly for %i rows of %i in groups of %i", (rows, columns, elements) => {
    const kernel = quantizeActivationBytes({ rows, columns, elements });
    const y = new Uint8Array(rows * activationRowBytes({ depth: 4, superElements: elements }, columns));
    const code = kernel.machineKernel!("AVX2")!;
    machine.expectSameBits(kernel, code, { x: rowsOf(rows, columns), y }, "x", 3);
    machine.expectSameBits(kernel, code, { x: rowsOf(rows, columns), y }, "y", 1);
  });
});
