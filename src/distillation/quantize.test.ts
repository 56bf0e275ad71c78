import { describe, expect, it } from "vitest";
import { getRow, zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";
import { encodeFloat16 } from "../contract/float16.ts";
import { dequantizeRows, packNibbles, quantizeTable } from "./quantize.ts";
import { randomIntegers } from "./random.ts";

/** Rows like those of real models: bell-shaped values, each row of another size, one of zeros. */
function bellShaped(rows: number, columns: number): Matrix {
  const random = randomIntegers(5);
  const matrix = zeroMatrix(rows, columns);
  for (let row = 1; row < rows; row++) {
    for (let i = 0; i < columns; i++) {
      const sum = Array.from({ length: 12 }, () => random(1000) / 1000).reduce((a, b) => a + b, -6);
      matrix.data[row * columns + i] = sum * 10 ** -(row % 5);
    }
  }
  return matrix;
}

function relativeError(exact: Matrix, approximate: Matrix, row: number, factor: number): number {
  let error = 0;
  let norm = 0;
  for (const [i, value] of getRow(exact, row).entries()) {
    error += (value * factor - (getRow(approximate, row)[i] ?? 0)) ** 2;
    norm += (value * factor) ** 2;
  }
  return Math.sqrt(error / norm);
}

describe("quantized rows", () => {
  it.each([
    [8, 0.01],
    [4, 0.13],
  ] as const)("of %i bits are within %f of the row's length, whatever its size", async (bits, allowed) => {
    const matrix = bellShaped(40, 64);
    const quantized = await quantizeTable(matrix, bits);
    const result = dequantizeRows(quantized);
    // In 4 bits the matrix as a whole may be rescaled; the largest value tells by how much.
    const largest = matrix.data.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    const factor = bits === 4 ? 256 / largest : 1;
    const errors = Array.from({ length: 39 }, (_, index) => relativeError(matrix, result, index + 1, factor));
    expect(Math.max(...errors)).toBeLessThan(allowed);
    expect([...getRow(result, 0)]).toEqual(Array(64).fill(0));
    const limit = bits === 8 ? 128 : 8;
    expect(quantized.codes.every((code) => code >= -limit && code < limit)).toBe(true);
  });

  it("cuts the largest value of a 4-bit row where that makes the others finer", async () => {
    const row = zeroMatrix(1, 200);
    row.data.fill(1);
    row.data[3] = 9;
    const scaled = dequantizeRows(await quantizeTable(row, 4));
    const factor = 256 / 9;
    // Steps of 9 / 8 would lose an eighth on every 1: 0.106 of the row's length.
    expect(relativeError(row, scaled, 0, factor)).toBeLessThan(0.06);
  });

  it("have scales that float16 holds exactly", async () => {
    const { scales } = await quantizeTable(bellShaped(20, 8), 4);
    for (const scale of scales) expect(halfValueOf(encodeFloat16(scale))).toBe(scale);
    expect(Math.max(...scales.map(Math.abs))).toBeGreaterThan(1);
  });
});

it("packs two codes a byte, the first in the low bits", () => {
  expect([...packNibbles(Int8Array.of(-8, 7, 0, -1))]).toEqual([0xf0, 0x78]);
});

function halfValueOf(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  return (bits & 0x8000 ? -1 : 1) * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}
