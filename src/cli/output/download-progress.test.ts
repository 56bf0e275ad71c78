/** The line of a download on terminals of several widths. */
import { describe, expect, it } from "vitest";
import { describeProgress } from "./download-progress.ts";
import { displayWidth } from "./table.ts";

const progress = {
  reference: "hf:owner/a-model-with-a-long-name",
  stage: "fetching",
  bytes: 5e8,
  totalBytes: 1e9,
  bytesPerSecond: 1e6,
  secondsLeft: 500,
} as const;

describe("the progress of a download", () => {
  it.each([undefined, 0, -1, 80, 200])("is whole where the terminal says %s columns", (columns) => {
    expect(describeProgress(progress, columns)).toMatch(/^a-model-with-a-long-name .* 50 % .* left$/);
  });

  it.each([30, 45])("fits into %s columns", (columns) => {
    expect(displayWidth(describeProgress(progress, columns))).toBeLessThan(columns);
  });
});
