import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KernelMemory, randomNumbers } from "../../../../../../test/engine/kernel-memory.ts";
import { amount } from "../../../../../../test/fixtures/slow.ts";
import { contiguousStrides } from "../../../../ir/broadcast.ts";
import { gather } from "./gather.ts";
import { indexOutOfRange } from "./load-index.ts";
import { type StridedCopyRequest, stridedCopy } from "./strided-copy.ts";

const kinds = { 1: Uint8Array, 2: Uint16Array, 4: Float32Array, 8: Float64Array } as const;
type Width = keyof typeof kinds;
const numbers = (width: Width, count: number) =>
  kinds[width].from(randomNumbers(count, 1).map((value) => Math.floor(value * 250)));

const filled = (width: Width, length: number) => new kinds[width](length).fill(255);

/** The target after the copy, in one call and in several. `first` is the source's element the copy starts at. */
function copied(
  request: StridedCopyRequest,
  source: ReturnType<typeof numbers>,
  length: number,
  splits: number,
  first = 0,
  into = 0,
) {
  const width = request.elementBytes;
  const results = [1, splits].map((calls) => {
    const memory = new KernelMemory(512 * 1024);
    const x = memory.put(source);
    const y = memory.put(filled(width, length));
    memory.run(stridedCopy(request), [x.offset + first * width, y.offset + into * width], calls);
    return [...y.data];
  });
  expect(results[1]).toEqual(results[0]);
  return results[0]!;
}

const width = fc.constantFrom<Width>(1, 2, 4, 8);
const size = (max: number) => fc.integer({ min: 1, max });
const places = (shape: readonly number[], strides: readonly number[]) =>
  shape.reduce<number[]>(
    (all, count, axis) => all.flatMap((place) => Array.from({ length: count }, (_, index) => place + index * strides[axis]!)),
    [0],
  );

describe("strided copy", () => {
  it("transposes any axes of any elements", () => {
    const shapes = fc.oneof(fc.array(size(5), { maxLength: 6 }), fc.tuple(size(3), size(40), size(40)));
    fc.assert(
      fc.property(shapes, width, size(4), fc.nat(1000), (shape, bytes, splits, order) => {
        const axes = shape.map((_, axis) => axis).sort((a, b) => ((a * 7 + order) % 5) - ((b * 7 + order) % 5) || b - a);
        const dense = contiguousStrides(shape);
        const source = numbers(
          bytes,
          shape.reduce((all, one) => all * one, 1),
        );
        const turned = axes.map((axis) => shape[axis]!);
        const from = axes.map((axis) => dense[axis]!);
        const result = copied(
          { shape: turned, from, to: contiguousStrides(turned), elementBytes: bytes },
          source,
          source.length,
          splits,
        );
        expect(result).toEqual(places(turned, from).map((place) => source[place]));
      }),
      { numRuns: amount(200, 50) },
    );
  });

  it("slices with steps of either sign, expands, and writes into a part of the target", () => {
    fc.assert(
      fc.property(size(6), size(9), width, fc.constantFrom(1, 2, -1, -2, 0), size(3), (rows, columns, bytes, step, splits) => {
        const [width2, gap] = [20, 5];
        const source = numbers(bytes, rows * width2);
        const first = step < 0 ? width2 - 1 : 0;
        const shape = [rows, columns];
        const to = [columns + gap, 1];
        const length = rows * (columns + gap);
        const result = copied({ shape, from: [width2, step], to, elementBytes: bytes }, source, length, splits, first, 2);
        const wanted = Array.from({ length }, () => 255);
        const targets = places(shape, to);
        places(shape, [width2, step]).forEach((place, index) => {
          wanted[targets[index]! + 2] = source[place + first]!;
        });
        expect(result).toEqual(wanted);
      }),
      { numRuns: amount(100, 30) },
    );
  });

  it("undoes a transpose", () => {
    const source = numbers(4, 64);
    const from = [1, -8];
    const result = copied({ shape: [8, 8], from, to: [8, 1], elementBytes: 4 }, source, 64, 3, 56);
    expect(result).toEqual(places([8, 8], from).map((place) => source[place + 56]));
  });

  it("copies long runs by blocks", () => {
    const source = numbers(4, 9001);
    const request: StridedCopyRequest = { shape: [9001], from: [1], to: [1], elementBytes: 4 };
    expect(stridedCopy(request).pieces).toBe(3);
    expect(copied(request, source, 9001, 2)).toEqual([...source]);
  });
});

describe("gather", () => {
  const gathered = (indices: Int32Array | BigInt64Array, shape: readonly [number, number, number], bytes: Width, splits = 2) => {
    const [outer, n, inner] = shape;
    const memory = new KernelMemory(512 * 1024);
    const source = numbers(bytes, outer * n * inner);
    const x = memory.put(source);
    const index = memory.put(indices);
    const y = memory.put(filled(bytes, outer * indices.length * inner));
    const indexType = indices instanceof Int32Array ? "int32" : "int64";
    const kernel = gather({ outer, n, inner, count: indices.length, elementBytes: bytes, indexType });
    const status = memory.run(kernel, [x.offset, index.offset, y.offset], splits);
    return { source, result: [...y.data], status };
  };

  it("takes rows along any axis, and counts negative indices from the end", () => {
    fc.assert(
      fc.property(
        fc.tuple(size(3), size(9), size(70)),
        fc.array(fc.nat(), { minLength: 1, maxLength: 9 }),
        width,
        fc.boolean(),
        (shape, picks, bytes, wide) => {
          const [outer, n, inner] = shape;
          const indices = picks.map((pick) => (pick % (2 * n)) - n);
          const { source, result, status } = gathered(
            wide ? BigInt64Array.from(indices, BigInt) : Int32Array.from(indices),
            shape,
            bytes,
          );
          expect(status).toBe(0);
          const wanted = Array.from({ length: outer }, (_, block) =>
            indices.map((index) => {
              const row = block * n + (index < 0 ? index + n : index);
              return [...source.subarray(row * inner, (row + 1) * inner)];
            }),
          );
          expect(result).toEqual(wanted.flat(2));
        },
      ),
      { numRuns: amount(100, 30) },
    );
  });

  it("says so when an index is out of range, and writes nothing there", () => {
    for (const bad of [4, -5, 2 ** 31 - 1, -(2 ** 31)])
      expect(gathered(Int32Array.of(1, bad, 0), [1, 4, 2], 4)).toMatchObject({ status: indexOutOfRange });
    for (const bad of [4n, -5n, 1n << 32n, (1n << 32n) + 1n, -(1n << 63n)]) {
      const { status, result } = gathered(BigInt64Array.of(1n, bad, 0n), [1, 4, 2], 4);
      expect([status, ...result.slice(2, 4)]).toEqual([indexOutOfRange, 255, 255]);
    }
  });
});
