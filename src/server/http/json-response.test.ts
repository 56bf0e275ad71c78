import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeJson } from "./json-response.ts";

const textOf = async (value: unknown): Promise<string> => new TextDecoder().decode(await encodeJson(value));

it("writes what JSON.stringify writes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      expect(await textOf(value)).toBe(JSON.stringify(value));
    }),
  );
  const odd = { a: undefined, b: [undefined, null, Number.NaN, "\u2028é𝄞"], c: [1, Number.POSITIVE_INFINITY], d: {} };
  expect(await textOf(odd)).toBe(JSON.stringify(odd));
});

it("writes typed arrays like arrays, and long lists whole", async () => {
  const numbers = Float32Array.from({ length: 10_000 }, (_, index) => Math.fround(index / 7));
  expect(await textOf({ rows: [numbers, new Float32Array(0)] })).toBe(JSON.stringify({ rows: [[...numbers], []] }));
  const texts = Array.from({ length: 50_000 }, (_, index) => `é${index}`);
  expect(await textOf(texts)).toBe(JSON.stringify(texts));
});

it("lets others go on meanwhile", async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  await encodeJson(Array.from({ length: 1000 }, () => new Float32Array(1000).fill(0.123_456_789)));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});

it("stops once nobody reads the rest", async () => {
  const left = new AbortController();
  const long = Array.from({ length: 1000 }, () => new Float32Array(1000).fill(0.123_456_789));
  const encoding = encodeJson(long, left.signal);
  left.abort();
  await expect(encoding).rejects.toMatchObject({ code: "ABORTED" });
});
