import { expect, it } from "vitest";
import type { Tokenizer } from "../../tokenizers/index.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { recognize } from "./recognize.ts";

/** Three tokens a text; the logits of the last token of a text "broken" are not numbers. */
function encoder(): Encoder {
  const encode = (text: string): object => ({
    ids: [1, 2, text === "broken" ? 9 : 3],
    typeIds: [0, 0, 0],
    sequenceIds: [0, 0, 0],
    wordIds: [0, 1, 2],
    tokens: ["a", "b", "c"],
    offsets: Int32Array.of(0, 1, 1, 2, 2, 3),
    overflowing: [],
    truncated: false,
    wholeLength: 3,
  });
  return {
    manifest: {
      name: "m",
      text: {},
      variants: [{ config: { id2label: { 0: "O", 1: "B-PER" } } }],
    } as unknown as Encoder["manifest"],
    tokenizer: { padId: 0, encode, decode: () => "word" } as unknown as Tokenizer,
    inputs: [{ name: "input_ids", dataType: "int64", shape: ["b", "s"] }],
    outputs: [{ name: "logits", dataType: "float32", shape: ["b", "s", 2] }],
    replicas: async () => [],
    run: async (inputs) => {
      const { data, shape } = inputs["input_ids"]!;
      const logits = Array.from(data as BigInt64Array, (id) => (id === 9n ? [Number.NaN, 0] : [0, 1]));
      return { logits: { dataType: "float32", shape: [...shape, 2], data: Float32Array.from(logits.flat()) } };
    },
  };
}

it("a number that is none is told with the text it belongs to, not with the token", async () => {
  await expect(recognize(encoder(), ["fine", "broken"])).rejects.toMatchObject({
    code: "RUN_FAILED",
    message: "the model gave a value that is not a number for text 1",
  });
  expect((await recognize(encoder(), ["fine"])).results[0]).toHaveLength(3);
});
