/** A minimal test of an engine: y = x · x for a 2 by 2 matrix. */
import { InferyardError } from "../../contract/errors.ts";
import { decodeBase64 } from "../../platform/base64.ts";
import type { OnnxRuntime } from "./library.ts";

/** An ONNX model (IR 8, opset 13) with one MatMul, encoded by hand: 78 bytes in base64. */
export const tinyGraph: string =
  "CAg6RAoRCgF4CgF4EgF5IgZNYXRNdWwSBXByb2JlWhMKAXgSDgoMCAESCAoCCAIKAggCYhMKAXkSDgoMCAESCAoCCAIKAggCQgQKABAN";

/** The input, row-major. */
const tinyInput: readonly number[] = [1, 2, 3, 4];
/** The expected output, row-major. Small integers: exact in every precision. */
const tinyAnswer: readonly number[] = [7, 10, 15, 22];

/** Sentence of a probe and of the evidence after the tiny graph gave the known answer. */
export const tinyGraphSentence = "ran a tiny graph with the right answer";

/**
 * Creates a session for the tiny graph, runs it and compares the output with the known one. Throws VERIFICATION_FAILED if they differ, and any error of
 * onnxruntime.
 */
export async function runTinyGraph(runtime: OnnxRuntime, options: Readonly<Record<string, unknown>>): Promise<void> {
  const session = await runtime.InferenceSession.create(decodeBase64(tinyGraph), options);
  try {
    const { y } = await session.run({ x: new runtime.Tensor("float32", Float32Array.from(tinyInput), [2, 2]) });
    const answer = Array.from((y?.data ?? []) as ArrayLike<number>);
    if (answer.length === tinyAnswer.length && answer.every((value, index) => value === tinyAnswer[index])) return;
    throw new InferyardError(
      "VERIFICATION_FAILED",
      `a tiny graph gave the wrong answer [${answer.join(", ")}] instead of [${tinyAnswer.join(", ")}]`,
    );
  } finally {
    await session.release();
  }
}
