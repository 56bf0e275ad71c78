/** ONNX's own conformance cases on our engine: all of them, wherever they are. */
import { describe, expect, it } from "vitest";
import { findCases } from "../scripts/conformance/cases.ts";
import { judge } from "../scripts/conformance/judge.ts";
import { needsData, sharedData } from "./shared-data.ts";

const [skip, name] = needsData("ONNX conformance");

describe.skipIf(skip)(name, () => {
  const outcomes = { passed: 0, refused: 0, failed: [] as string[] };

  it("gives no wrong answer: what is not built is refused", () => {
    for (const each of findCases(`${sharedData}onnx-conformance`)) {
      const { verdict, reason } = judge(each);
      if (verdict === "failed") outcomes.failed.push(`${each.name}: ${reason}`);
      else outcomes[verdict] += 1;
    }
    expect(outcomes.failed).toEqual([]);
  }, 120_000);

  it("passes no fewer than it did", () => {
    expect(outcomes.passed).toBeGreaterThanOrEqual(1126);
  });
});
