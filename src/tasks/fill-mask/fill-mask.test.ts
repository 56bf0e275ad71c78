/**
 * What transformers' own fill-mask pipeline says, recorded by scripts/goldens/transformers/fill-mask-goldens.py: its tokens, texts and targets, over logits that are
 * made of places and ids, here and there alike.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sharedTokenizer } from "../../../test/fixtures/shared-tokenizer.ts";
import { needsData } from "../../../test/fixtures/shared-data.ts";
import { reduceOutputs } from "../../hosts/output-reduction.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { fillMask } from "./fill-mask.ts";

type Case = [
  model: string,
  vocabulary: number,
  text: number,
  targets: number,
  masks: [token: number, tokenText: string, sequence: string, score: number][][],
];

interface Goldens {
  readonly transformers: string;
  readonly texts: string[];
  readonly targets: (string[] | null)[];
  readonly topK: number;
}

const lines = readFileSync(new URL("fill-mask-goldens.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const goldens = JSON.parse(lines[0]!) as Goldens;
const cases = lines.slice(1).map((line) => JSON.parse(line) as Case);

/** The logits of scripts/goldens/transformers/fill-mask-goldens.py: a product of more than 53 bits is taken apart. */
function logit(place: number, token: number): number {
  const ofPlace = (place * 2654435761) % 4294967296;
  const ofToken = (((token * 40503) % 4294967296) * 65537) % 4294967296;
  return ((ofPlace + ofToken) % 4294967296) / 2 ** 28;
}

function encoderOf(tokenizer: Tokenizer, vocabulary: number): Encoder {
  return {
    manifest: { name: "m", tasks: ["fill-mask"], text: {}, variants: [{ config: {} }] } as unknown as Encoder["manifest"],
    tokenizer,
    inputs: [{ name: "input_ids", dataType: "int64", shape: ["b", "s"] }],
    outputs: [{ name: "logits", dataType: "float32", shape: ["b", "s", vocabulary] }],
    replicas: async () => [],
    run: async (inputs, options) => {
      const { shape } = inputs["input_ids"]!;
      const [count = 0, length = 0] = shape;
      const data = Float32Array.from({ length: count * length * vocabulary }, (_value, index) =>
        logit(Math.floor(index / vocabulary) % length, index % vocabulary),
      );
      return reduceOutputs({ logits: { dataType: "float32", shape: [...shape, vocabulary], data } }, options?.reductions);
    },
  };
}

const [skip, name] = needsData(`the masks of transformers ${goldens.transformers}`);
describe.skipIf(skip)(name, () => {
  it.each([...new Set(cases.map(([model]) => model))])("%s: tokens and texts equal, scores within 1e-6", async (model) => {
    const tokenizer = await sharedTokenizer(model);
    const own = cases.filter(([one]) => one === model);
    expect(own).toHaveLength(goldens.texts.length * goldens.targets.length);
    for (const [, vocabulary, number, place, masks] of own) {
      const text = goldens.texts[number]!.replaceAll("*", tokenizer.idToToken(tokenizer.maskId ?? -1) ?? "");
      const targets = goldens.targets[place] ?? undefined;
      const options = { topK: goldens.topK, ...(targets === undefined ? {} : { targets }) };
      const { results } = await fillMask(encoderOf(tokenizer, vocabulary), [text], options);
      expect(
        results[0]?.map((fills) => fills.map(({ token, tokenText, sequence }) => [token, tokenText, sequence])),
        text,
      ).toEqual(masks.map((fills) => fills.map(([token, tokenText, sequence]) => [token, tokenText, sequence])));
      for (const [mask, fills] of masks.entries())
        for (const [rank, [, , , score]] of fills.entries())
          expect(Math.abs(results[0]![mask]![rank]!.score - score), text).toBeLessThan(1e-6);
    }
  });

  it("a model whose tokenizer has no mask token is refused", async () => {
    const tokenizer = await sharedTokenizer("tiny-random-gpt2");
    await expect(fillMask(encoderOf(tokenizer, 400), ["a"])).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: "the tokenizer of m has no mask token",
    });
  });

  it("a number that is none is told with the text it belongs to", async () => {
    const tokenizer = await sharedTokenizer("tiny-random-splade");
    const broken = encoderOf(tokenizer, 400);
    const run: Encoder["run"] = async (inputs, options) => {
      const { logits } = await broken.run(inputs, options);
      (logits!.data as Float32Array).fill(Number.NaN);
      return { logits: logits! };
    };
    await expect(fillMask({ ...broken, run }, ["a [MASK]"])).rejects.toMatchObject({ code: "RUN_FAILED" });
  });
});
