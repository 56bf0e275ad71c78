import { describe, expect, it } from "vitest";
import { parseSize } from "./size.ts";

describe("an amount of memory", () => {
  it.each([
    ["500MB", 500e6],
    ["2 GB", 2e9],
    ["1.5GiB", 1.5 * 2 ** 30],
    ["64kb", 64e3],
    ["1TiB", 2 ** 40],
    ["4096", 4096],
    [4096, 4096],
    ["12 b", 12],
  ])("%s is %d bytes", (written, bytes) => expect(parseSize(written)).toBe(bytes));

  it.each(["", "plenty", "0", "0MB", "-1GB", "1 PB", "1e9", "NaN", Number.NaN, -5, Number.POSITIVE_INFINITY])(
    "%s is refused",
    (written) => expect(() => parseSize(written)).toThrow(/is not an amount of memory/),
  );
});
