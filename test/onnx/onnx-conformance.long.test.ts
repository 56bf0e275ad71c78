/** ONNX's own conformance cases on our engine: all of them with TEST_SLOW=1, else every eighth, others on each engine. */
import { describe, expect, it } from "vitest";
import { findCases } from "../../scripts/conformance/cases.ts";
import { judge, openInterpreter, openNative } from "../../scripts/conformance/judge.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest, runsAll } from "../fixtures/slow.ts";

const [skip, name] = needsData("ONNX conformance");

/** The middle bin of the inverse transform of 0 to 99 is 0, where the case holds what float32 leaves of it, 1.9e-7 among numbers up to 99. */
const known = ["node/test_dft_inverse", "node/test_dft_inverse_opset19"];

describe.skipIf(skip).each([
  ["generated kernels", openNative, { passed: 1278, refused: 9 }, 0],
  ["the interpreter", openInterpreter, { passed: 1278, refused: 9 }, 4],
] as const)(`${name}, ${runsAll ? "every case" : "every eighth case"}, %s`, (_engine, open, counts, first) => {
  const cases = skip ? [] : [...findCases(`${sharedData}onnx-conformance`)];
  const tried = runsAll ? cases : cases.filter((_case, index) => index % 8 === first);
  const outcomes = { passed: 0, refused: 0, failed: [] as string[] };

  it("gives no wrong answer: what is not built is refused", async () => {
    for (const each of tried) {
      const { verdict, reason } = await judge(each, open);
      if (verdict === "failed") outcomes.failed.push(`${each.name}: ${reason}`);
      else outcomes[verdict] += 1;
    }
    const failed = outcomes.failed.map((failure) => known.find((one) => failure.startsWith(`${one}:`)) ?? failure);
    expect(failed.toSorted()).toEqual(known.filter((one) => tried.some((each) => each.name === one)));
    expect(outcomes.passed).toBeGreaterThan(0.9 * tried.length);
  }, 300_000);

  const [skipCounts, countsTitle] = onRequest("passes and refuses exactly as many as are stated here");
  it.skipIf(skipCounts)(countsTitle, () => {
    expect({ passed: outcomes.passed, refused: outcomes.refused }).toEqual(counts);
  });
});
