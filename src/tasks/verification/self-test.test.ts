import { describe, expect, it } from "vitest";
import type { KnownAnswer, Manifest } from "../../models/manifest.ts";
import { type SelfTest, selfTest } from "./self-test.ts";

const manifest: Manifest = {
  reference: "./m",
  name: "m",
  directory: "/m",
  source: "file",
  tasks: [],
  variants: [],
  selection: { backends: [], fallbacks: [] },
  requirements: {},
};

type VectorOf = (text: string, texts: readonly string[], call: number) => readonly number[];

/** A model that answers by a rule; `call` counts its calls. */
function run(vectorOf: VectorOf, given: readonly KnownAnswer[] = [], model: Manifest = manifest): Promise<SelfTest> {
  let call = 0;
  const embed = async (texts: readonly string[]): Promise<never> => {
    call += 1;
    const embeddings = texts.map((text) => Float32Array.from(vectorOf(text, texts, call)));
    return { embeddings, dimensions: 2, tokens: [], truncated: [] } as never;
  };
  return selfTest(embed, model, given);
}

const steady: VectorOf = (text) => [text.length, 1];
const failing = ({ checks }: SelfTest): string[] => checks.filter(({ passed }) => !passed).map(({ name }) => name);

describe("the self-test of a model", () => {
  it("passes a model that agrees with itself, and says that there were no known answers", async () => {
    const test = await run(steady);
    expect(test.passed).toBe(true);
    expect(test.checks[0]).toMatchObject({ name: "known answers", detail: "there are none: give some with --answers" });
  });

  it("holds it against the answers of its manifest and of the caller", async () => {
    const answer = (text: string, ...values: number[]): KnownAnswer => ({
      text,
      embedding: Float32Array.from(values),
      tolerance: 1e-5,
    });
    const probed: Manifest = { ...manifest, probe: { kind: "text", answers: [answer("abc", 3, 1)] } };
    expect((await run(steady, [answer("ab", 2, 1)], probed)).checks[0]?.detail).toBe("2 of 2 hold, largest difference 0.0");
    const wrong = await run(steady, [answer("ab", 2.5, 1)], probed);
    expect(failing(wrong)).toEqual(["known answers"]);
    expect(wrong.checks[0]?.detail).toBe('1 of 2 hold, largest difference 0.50; "ab" is off by 0.50');
    expect(failing(await run(steady, [answer("ab", 2, 1, 0)]))).toEqual(["known answers"]);
  });

  it("an answer that is not a number is no answer", async () => {
    const answer: KnownAnswer = { text: "ab", embedding: Float32Array.of(2, 1), tolerance: 1e-5 };
    expect(failing(await run(() => [Number.NaN, 1], [answer]))).toContain("known answers");
  });

  it("finds a model that gives something else the second time", async () => {
    expect(failing(await run((text, _texts, call) => [text.length + call * 1e-3, 1]))).toContain("same answer twice");
  });

  it("finds a model whose vectors depend on their neighbours in the batch", async () => {
    expect(failing(await run((text, texts) => (texts.length > 1 ? [1, text.length] : [text.length, 1])))).toEqual([
      "batch equals one by one",
    ]);
  });
});
