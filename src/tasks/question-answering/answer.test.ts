/**
 * Answers of transformers' own question-answering pipeline, recorded by scripts/goldens/transformers/answer-goldens.py: its windows, its choice of spans and its
 * alignment to words, over logits that are made of token ids and places, here and there alike.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sharedTokenizer } from "../../../test/fixtures/shared-tokenizer.ts";
import { needsData } from "../../../test/fixtures/shared-data.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import { answer } from "./answer.ts";
import type { Encoder } from "../batching/run-encodings.ts";

type Case = [
  model: string,
  question: number,
  context: number,
  salts: [number, number],
  options: [topK: number, noAnswer: boolean, alignToWords: boolean, maxAnswerTokens: number],
  windows: number,
  answers: [text: string, start: number, end: number, score: number][],
];

interface Goldens {
  readonly transformers: string;
  readonly questions: string[];
  readonly contexts: string[];
  readonly maxTokens: number;
  readonly stride: number;
}

const lines = readFileSync(new URL("answer-goldens.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const goldens = JSON.parse(lines[0]!) as Goldens;
const cases = lines.slice(1).map((line) => JSON.parse(line) as Case);

/** The logits of scripts/goldens/transformers/answer-goldens.py. */
function logit(id: number, place: number, salt: number): number {
  return (((id * 2654435761 + salt) % 4294967296) >>> 20) / 400 - 5 + (place * place) / 5000;
}

function encoderOf(tokenizer: Tokenizer, [start, end]: readonly [number, number]): Encoder {
  return {
    manifest: {
      name: "m",
      tasks: ["question-answering"],
      text: {},
      variants: [{ config: {} }],
    } as unknown as Encoder["manifest"],
    tokenizer,
    inputs: [{ name: "input_ids", dataType: "int64", shape: ["b", "s"] }],
    outputs: ["start_logits", "end_logits"].map((name) => ({ name, dataType: "float32", shape: ["b", "s"] })),
    replicas: async () => [],
    run: async (inputs) => {
      const { data, shape } = inputs["input_ids"]!;
      const given = (salt: number) => ({
        dataType: "float32" as const,
        shape,
        data: Float32Array.from(data as BigInt64Array, (id, index) => logit(Number(id), index % shape[1]!, salt)),
      });
      return { start_logits: given(start), end_logits: given(end) };
    },
  };
}

const [skip, name] = needsData(`the answers of transformers ${goldens.transformers}`);
describe.skipIf(skip)(name, () => {
  const models = [...new Set(cases.map(([model]) => model))];

  it.each(models)("%s: texts and places equal, scores within 1e-5", async (model) => {
    const tokenizer = await sharedTokenizer(model);
    const { maxTokens, stride } = goldens;
    const own = cases.filter(([one]) => one === model);
    expect(own.length).toBeGreaterThan(50);
    expect(own.filter(([, , , , , windows]) => windows > 1).length).toBeGreaterThan(10);
    for (const [, question, context, salts, [topK, noAnswer, alignToWords, maxAnswerTokens], windows, expected] of own) {
      const pair = { question: goldens.questions[question]!, context: goldens.contexts[context]! };
      const options = { topK, noAnswer, alignToWords, maxAnswerTokens, maxTokens, stride, offsets: "codepoints" } as const;
      const said = await answer(encoderOf(tokenizer, salts), [pair], options);
      const what = JSON.stringify([model, pair, options]);
      expect(said.windows, what).toEqual([windows]);
      expect(
        said.results[0]?.map(({ answer, start, end }) => [answer, start, end]),
        what,
      ).toEqual(expected.map(([text, start, end]) => [text, start, end]));
      for (const [place, [, , , score]] of expected.entries())
        expect(Math.abs((said.results[0]?.[place]?.score ?? Number.NaN) - score), what).toBeLessThan(1e-5);
    }
  });
});

it("a number that is none is told with the question it belongs to", async () => {
  const encode = (): object => ({
    ids: [1, 2],
    typeIds: [0, 1],
    sequenceIds: [0, 1],
    wordIds: [0, 0],
    offsets: Int32Array.of(0, 1, 0, 1),
    overflowing: [],
    truncated: false,
    wholeLength: 2,
  });
  const tokenizer = { padId: 0, encode } as unknown as Tokenizer;
  const broken: Encoder = {
    ...encoderOf(tokenizer, [0, 0]),
    run: async (inputs) => {
      const data = new Float32Array(inputs["input_ids"]!.data.length).fill(Number.NaN);
      const output = { dataType: "float32" as const, shape: inputs["input_ids"]!.shape, data };
      return { start_logits: output, end_logits: output };
    },
  };
  await expect(answer(broken, [{ question: "a", context: "b" }])).rejects.toMatchObject({
    code: "RUN_FAILED",
    message: "the model gave a value that is not a number for text 0",
  });
});
