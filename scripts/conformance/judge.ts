/** Runs one case with all its sets of data, and says how it went. */
import { messageOf } from "../../src/errors.ts";
import { type ConformanceCase, dataSets, readValues } from "./cases.ts";
import { openNative, runNative } from "./native.ts";
import { difference } from "./values.ts";

export interface Outcome {
  readonly verdict: "passed" | "failed" | "refused";
  readonly reason?: string;
}

export function judge(each: ConformanceCase): Outcome {
  try {
    const found = firstDifference(each);
    return found === undefined ? { verdict: "passed" } : { verdict: "failed", reason: found };
  } catch (error) {
    const refused = error instanceof Error && "code" in error && error.code === "MODEL_UNSUPPORTED";
    return { verdict: refused ? "refused" : "failed", reason: messageOf(error) };
  }
}

function firstDifference(each: ConformanceCase): string | undefined {
  const model = openNative(each.modelPath);
  const inputTypes = model.graph.inputs.map(({ type }) => type);
  const outputTypes = model.graph.outputs.map(({ type }) => type);
  for (const folder of dataSets(each)) {
    const results = runNative(model, readValues(folder, "input", inputTypes));
    for (const [index, wanted] of readValues(folder, "output", outputTypes).entries()) {
      const result = results[index];
      const found = result === undefined ? "nothing" : difference(result, wanted);
      if (found !== undefined) return `output ${index}: ${found}`;
    }
  }
  return undefined;
}
