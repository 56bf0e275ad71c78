import { describe, expect, it } from "vitest";
import { scriptedLanguageModel } from "../../../test/generation/fixtures/scripted-language-model.ts";
import type { KnownContinuation } from "../../models/manifest.ts";
import { verifyLanguageModel } from "./language-verification.ts";

const variant = { format: "onnx", precision: "fp32" } as const;

/** The greedy continuation that the scripted model gives for a prompt. */
async function continuationOf(prompt: readonly number[], length: number): Promise<readonly number[]> {
  const model = scriptedLanguageModel();
  const sequence = await model.createSequence();
  const tokens: number[] = [];
  for (let next = prompt; tokens.length < length; next = tokens.slice(-1)) {
    const [logits = new Float32Array()] = await model.decode([{ sequence, tokens: next }]);
    tokens.push(logits.indexOf(Math.max(...logits)));
  }
  return tokens;
}

describe("known continuations of a language model", () => {
  const verify = (answers: readonly KnownContinuation[]): ReturnType<typeof verifyLanguageModel> =>
    verifyLanguageModel(scriptedLanguageModel(), variant, { kind: "tokens", answers });

  it("hold, and stand in the evidence", async () => {
    const answers = [{ prompt: [1, 2, 3], continuation: await continuationOf([1, 2, 3], 4) }];
    expect((await verify(answers)).evidence).toContain("1 known continuation of its manifest held");
  });

  it("refuse a model that gives another token", async () => {
    const right = await continuationOf([1, 2, 3], 4);
    const wrong = right.with(2, (right[2]! + 1) % 64);
    await expect(
      verify([
        { prompt: [1, 2, 3], continuation: right },
        { prompt: [1, 2, 3], continuation: wrong },
      ]),
    ).rejects.toMatchObject({
      code: "VERIFICATION_FAILED",
      message: `known continuation 1 of the manifest does not hold: token 2 is ${right[2]}, and ${wrong[2]} is right`,
    });
  });
});
