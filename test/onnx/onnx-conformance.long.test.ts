/** ONNX's own conformance cases on our engine: all of them, wherever they are. */
import { describe, expect, it } from "vitest";
import { findCases } from "../../scripts/conformance/cases.ts";
import { judge, openInterpreter, openNative } from "../../scripts/conformance/judge.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, name] = needsData("ONNX conformance");

/** The middle bin of the inverse transform of 0 to 99 is 0, where the case holds what float32 leaves of it, 1.9e-7 among numbers up to 99. */
const known = ["node/test_dft_inverse", "node/test_dft_inverse_opset19"];

describe.skipIf(skip).each([
  ["generated kernels", openNative, { passed: 1278, refused: 9 }],
  ["the interpreter", openInterpreter, { passed: 1278, refused: 9 }],
] as const)(`${name}, %s`, (_engine, open, counts) => {
  const outcomes = { passed: 0, refused: 0, failed: [] as string[] };

  it("gives no wrong answer: what is not built is refused", async () => {
    for (const each of findCases(`${sharedData}onnx-conformance`)) {
      const { verdict, reason } = await judge(each, open);
      if (verdict === "failed") outcomes.failed.push(`${each.name}: ${reason}`);
      else outcomes[verdict] += 1;
    }
    expect(outcomes.failed.map((failure) => known.find((one) => failure.startsWith(`${one}:`)) ?? failure).toSorted()).toEqual(
      known,
    );
  }, 300_000);

  it("passes and refuses exactly as many as are stated here", () => {
    expect({ passed: outcomes.passed, refused: outcomes.refused }).toEqual(counts);
  });
});
