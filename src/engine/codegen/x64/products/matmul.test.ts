import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { KernelMemory, randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { expectSameBits, openLevel, runMachineCode } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import { x64Levels } from "../../../../kernels/simd-levels.ts";
import { type MatmulRequest, matmul } from "../../wasm/kernels/matmul/matmul.ts";
import { packMatmulWeights, packedMatmulLength } from "../../wasm/kernels/matmul/weight-packing.ts";
import type { MachineCode } from "../index.ts";

const operandNames = ["a", "b", "bias", "residual", "c"] as const;

describe.each(x64Levels.filter((level) => level !== "AVX-512 VNNI"))("float32 products in machine code with %s", (level) => {
  const opened = openLevel(level);
  const machineCode = opened as MachineCode;
  beforeEach(({ skip }) => skip(typeof opened === "string", String(opened)));

  /** Both kernels on the same operands, the machine code in so many calls. `last`: the operand at the end of the memory. */
  function expectEqual(request: MatmulRequest, splits: number, last: (typeof operandNames)[number]): void {
    const { m, n, k } = request;
    const kernel = matmul(request);
    const wide = { k, n, panelColumns: 16 } as const;
    const packed = new Float32Array(packedMatmulLength(wide));
    packMatmulWeights(packed, randomFloats(k * n, 2), wide);
    const operands = {
      a: randomFloats(m * k, 1),
      b: packed,
      bias: randomFloats(n, 3),
      residual: randomFloats(m * n, 4),
      c: new Float32Array(m * n),
    };
    expectSameBits(kernel, operands, machineCode, { calls: splits, last });
  }

  it("gives the bits of WebAssembly for any sizes, in one call or several", () => {
    const size = (max: number) => fc.integer({ min: 1, max });
    fc.assert(
      fc.property(
        fc.record({
          m: size(29),
          n: size(150),
          k: fc.integer({ min: 0, max: 67 }),
          bias: fc.boolean(),
          activation: fc.constantFrom("none", "relu", "gelu", "gelu-tanh", "silu", "sigmoid", "tanh"),
          residual: fc.constantFrom("none", "before-activation", "after-activation"),
        }),
        size(4),
        fc.constantFrom(...operandNames),
        (request, splits, last) => {
          const used = (last === "bias" && !request.bias) || (last === "residual" && request.residual === "none") ? "c" : last;
          expectEqual({ ...request, panelColumns: 16 }, splits, used);
        },
      ),
      { numRuns: amount(300, 30) },
    );
  });

  it.each([
    [1, 1, 1],
    [1, 1000, 300],
    [2, 200, 65],
    [3, 97, 33],
    [128, 384, 96],
    [700, 9, 260], // more rows than fit the cache: pieces are rows
    [517, 20, 330],
  ])("%i x %i x %i", (m, n, k) => {
    for (const splits of [1, 3]) expectEqual({ m, n, k, bias: true, activation: "relu", panelColumns: 16 }, splits, "a");
  });

  it("adds a residual in place", () => {
    const memory = new KernelMemory();
    const request: MatmulRequest = { m: 11, n: 21, k: 3, residual: "after-activation", activation: "relu", panelColumns: 16 };
    const kernel = matmul(request);
    const shape = { k: 3, n: 21, panelColumns: 16 } as const;
    const packed = memory.room(Float32Array, packedMatmulLength(shape));
    packMatmulWeights(packed.data, randomFloats(63, 1), shape);
    const a = memory.put(randomFloats(33, 2));
    const [apart, inPlace] = [memory.room(Float32Array, 231), memory.put(randomFloats(231, 3))];
    const residual = memory.put(randomFloats(231, 3));
    runMachineCode(memory, kernel, [a.offset, packed.offset, residual.offset, apart.offset], machineCode);
    runMachineCode(memory, kernel, [a.offset, packed.offset, inPlace.offset, inPlace.offset], machineCode);
    expect(inPlace.data).toEqual(apart.data);
  });
});
