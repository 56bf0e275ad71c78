import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KernelMemory, featureSets, largestError, randomFloats } from "../../../../../../test/engine/kernel-memory.ts";
import { amount } from "../../../../../../test/fixtures/slow.ts";
import { type MatmulRequest, matmul } from "./matmul.ts";
import { packMatmulWeights, packedMatmulLength } from "./weight-packing.ts";

interface Given {
  readonly a: Float32Array;
  readonly b: Float32Array;
  readonly bias: Float32Array;
  readonly residual: Float32Array;
}

/** In float64, by the definition. */
function reference(request: MatmulRequest, { a, b, bias, residual }: Given): Float64Array {
  const { m, n, k } = request;
  const c = new Float64Array(m * n);
  for (let i = 0; i < m; i += 1)
    for (let j = 0; j < n; j += 1) {
      let sum = 0;
      for (let x = 0; x < k; x += 1) sum += a[i * k + x]! * b[x * n + j]!;
      sum += request.bias === true ? bias[j]! : 0;
      const added = residual[i * n + j]!;
      if (request.residual === "before-activation") sum += added;
      if (request.activation === "relu") sum = Math.max(sum, 0);
      if (request.activation === "tanh") sum = Math.tanh(sum);
      if (request.residual === "after-activation") sum += added;
      c[i * n + j] = sum;
    }
  return c;
}

/** C by the kernel, in so many calls, and how far it is from the reference. */
function multiplied(
  request: MatmulRequest,
  splits: number,
  set = featureSets[0]!,
): { readonly c: Float32Array; readonly error: number } {
  const { m, n, k } = request;
  const given: Given = {
    a: randomFloats(m * k, 1),
    b: randomFloats(k * n, 2),
    bias: randomFloats(n, 3),
    residual: randomFloats(m * n, 4),
  };
  const memory = new KernelMemory(64 * 1024 + 8 * (k * (n + 16) + given.a.length + 2 * given.residual.length));
  const { panelColumns = 8 } = request;
  const packed = memory.room(Float32Array, packedMatmulLength({ k, n, panelColumns }));
  packMatmulWeights(packed.data, given.b, { k, n, panelColumns });
  const kernel = matmul(request);
  const c = memory.room(Float32Array, given.residual.length);
  const offsets: Readonly<Record<string, number>> = {
    a: memory.put(given.a).offset,
    b: packed.offset,
    bias: memory.put(given.bias).offset,
    residual: memory.put(given.residual).offset,
    c: c.offset,
  };
  memory.run(
    kernel,
    kernel.parameters.map((name) => offsets[name]!),
    splits,
    set,
  );
  return { c: c.data.slice(), error: largestError(c.data, reference(request, given)) };
}

const size = (max: number) => fc.integer({ min: 1, max });
const requests = fc.record<MatmulRequest>({
  m: size(19),
  n: size(43),
  k: fc.integer({ min: 0, max: 37 }),
  bias: fc.boolean(),
  activation: fc.constantFrom("none", "relu", "tanh"),
  residual: fc.constantFrom("none", "before-activation", "after-activation"),
  panelColumns: fc.constantFrom(8, 16),
});

describe("matmul", () => {
  it.each(featureSets.map((set) => [set]))("gives the first row the same bits whatever the number of rows", (set) => {
    const request = { n: 45, k: 37, bias: true, activation: "gelu", residual: "before-activation" } as const;
    const alone = multiplied({ ...request, m: 1 }, 1, set).c;
    for (const m of [2, 3, 4, 7, 8, 16, 17, 64])
      for (const panelColumns of [8, 16] as const)
        expect(multiplied({ ...request, m, panelColumns }, 1, set).c.subarray(0, request.n), `${m} rows`).toEqual(alone);
  });

  it("equals the definition for any sizes and tails, and the same bits in one call or several", () => {
    fc.assert(
      fc.property(requests, size(5), fc.constantFrom(...featureSets), (request, splits, set) => {
        const whole = multiplied(request, 1, set);
        expect(whole.error).toBeLessThan(1e-5);
        expect(multiplied(request, splits, set).c).toEqual(whole.c);
      }),
      { numRuns: amount(150, 38) },
    );
  });

  it.each([
    [1, 1000, 64],
    [1, 13, 7],
    [1, 6, 65],
    [1, 1, 2],
    [2, 100, 384],
    [3, 24, 7],
    [128, 40, 96],
    [700, 9, 800], // more rows than fit the cache: goes by blocks of rows
    [5, 3, 2],
  ])("%i x %i x %i", (m, n, k) => {
    for (const set of featureSets) {
      const request: MatmulRequest = { m, n, k, bias: true, activation: "tanh" };
      const whole = multiplied(request, 1, set);
      expect(whole.error).toBeLessThan(1e-4);
      expect(multiplied(request, 3, set).c).toEqual(whole.c);
    }
  });

  it("adds a residual in place", () => {
    const memory = new KernelMemory();
    const packed = memory.room(Float32Array, packedMatmulLength({ k: 2, n: 1 }));
    packMatmulWeights(packed.data, [10, 100], { k: 2, n: 1 });
    const a = memory.put(Float32Array.of(1, 2, 3, 4));
    const c = memory.put(Float32Array.of(7, 8));
    memory.run(matmul({ m: 2, n: 1, k: 2, residual: "after-activation" }), [a.offset, packed.offset, c.offset, c.offset]);
    expect([...c.data]).toEqual([217, 438]);
  });
});
