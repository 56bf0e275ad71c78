import { describe, expect, it } from "vitest";
import { parseDuration } from "./duration.ts";

describe("durations", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["1.5s", 1500],
    ["5m", 300_000],
    ["1h", 3_600_000],
    [" 2s ", 2000],
    ["0", 0],
    ["0s", 0],
    [250, 250],
    ["10000h", 2 ** 31 - 1],
    [1e12, 2 ** 31 - 1],
    [0, 0],
  ])("%j is %d ms", (written, milliseconds) => expect(parseDuration(written)).toBe(milliseconds));

  it.each(["5", "5 minutes", "5d", "-1s", "", "s", "1h30m", -1, Number.NaN, Number.POSITIVE_INFINITY])(
    "%j is refused",
    (written) => {
      expect(() => parseDuration(written)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
      expect(() => parseDuration(written)).toThrow(`"${written}" is not a duration`);
    },
  );
});
