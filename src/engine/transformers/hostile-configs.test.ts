/** Configurations that state more than their weights have: refused before anything of that size is made. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { buildEncoderDecoder, buildTransformer } from "./index.ts";

interface Case {
  readonly architecture: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
}

const casesOf = (file: string): readonly Case[] =>
  (JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as { readonly cases: readonly Case[] }).cases;
const decoders = casesOf("causal-goldens.json");
const encoderDecoders = casesOf("../../../test/generation/fixtures/encoder-decoder-goldens.json");
const all = [
  ...decoders.map((each, index) => [`${each.architecture} ${index}`, buildTransformer, each] as const),
  ...encoderDecoders.map((each, index) => [`${each.architecture} ${index}`, buildEncoderDecoder, each] as const),
];
const sizes = [
  "num_hidden_layers",
  "encoder_layers",
  "decoder_layers",
  "num_layers",
  "num_decoder_layers",
  "vocab_size",
  "max_position_embeddings",
  "hidden_size",
  "d_model",
  "head_dim",
  "d_kv",
  "intermediate_size",
  "ffn_dim",
  "sliding_window",
  "num_attention_heads",
  "encoder_attention_heads",
  "relative_attention_num_buckets",
];
const values = [0, -1, 1.5, 1e9, Number.MAX_SAFE_INTEGER, "many", null, []];

it.each(all)("%s", (_name, build, { architecture, config, shapes }) => {
  const stored = new Map(Object.entries(shapes).map(([name, shape]) => [name, { type: "F32", shape }]));
  const errorOf = (changed: object): unknown => {
    try {
      build(architecture, { ...config, ...changed }, stored);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  const stated = sizes.filter((key) => key in config);
  const errors = stated.flatMap((key) => values.map((value) => errorOf({ [key]: value })));
  const refusals = errors.filter((error) => error !== undefined);
  expect(refusals.length).toBeGreaterThan(stated.length * 3);
  for (const error of refusals)
    expect(error).toMatchObject({ name: "InferyardError", code: expect.stringMatching(/^MODEL_(INVALID|UNSUPPORTED)$/) });
});
