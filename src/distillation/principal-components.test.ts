import { expect, it } from "vitest";
import { getRow, zeroMatrix } from "./matrix.ts";
import { principalComponents } from "./principal-components.ts";

/** sin(1 + 3ij + i + 2j) (1 + j), with a row of large numbers in between that is not included. */
function example(): { vectors: ReturnType<typeof zeroMatrix>; include: Uint8Array } {
  const vectors = zeroMatrix(13, 6);
  const include = new Uint8Array(13).fill(1);
  include[5] = 0;
  for (let row = 0; row < 13; row++) {
    const i = row > 5 ? row - 1 : row;
    for (let j = 0; j < 6; j++) vectors.data[row * 6 + j] = row === 5 ? 1000 : Math.sin(1 + 3 * i * j + i + 2 * j) * (1 + j);
  }
  return { vectors, include };
}

it("projects as numpy.linalg.eigh does, up to the sign of each direction", async () => {
  const { vectors, include } = example();
  const { projected, explainedVariance } = await principalComponents(vectors, include, 4);
  expect(explainedVariance).toBeCloseTo(0.9796082461279753, 7);
  // numpy 2.4.6, the covariance divided by n - 1, columns turned so that the largest value of each is positive.
  const reference = [
    [-6.656046, -2.630636, -0.837816, -1.36365],
    [6.94375, -2.758513, 0.47394, -1.249744],
    [-5.439639, 2.756083, -1.748657, 0.764006],
  ];
  const signs = reference[0]?.map((value, column) => Math.sign(value) * Math.sign(projected.data[column] ?? 0)) ?? [];
  const difference = reference.flatMap((row, i) =>
    row.map((value, j) => Math.abs(value - (signs[j] ?? 0) * (projected.data[i * 4 + j] ?? 0))),
  );
  expect(Math.max(...difference)).toBeLessThan(1e-5);
  expect([...getRow(projected, 5)]).toEqual([0, 0, 0, 0]);
});
