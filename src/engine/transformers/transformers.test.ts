/** Architectures without golden files are compared with those that have them, on the same weights; and refusals. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "../../../test/fixtures/slow.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { TensorData } from "../../contract/tensor.ts";
import { int64Literal, type Literal, toLiteral, toNumbers } from "../ir/literal.ts";
import { encodeFloat } from "../../contract/small-floats.ts";
import { Builder } from "../build/builder.ts";
import { isTensor } from "../build/traced-value.ts";
import { buildTransformer } from "./index.ts";
import { rotaryContext } from "./rope-scaling.ts";

interface Stored {
  readonly type: string;
  readonly shape: readonly number[];
  readonly data: TensorData;
}
type Tensors = Readonly<Record<string, Stored>>;
type Config = Readonly<Record<string, unknown>>;

let seed = 1;
/** Reproducible weights with few significant bits, so that 16-bit floats represent them exactly. */
function random(...shape: readonly number[]): Stored {
  const count = shape.reduce((product, size) => product * size, 1);
  const data = Float32Array.from({ length: count }, () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return ((seed % 129) - 64) / 128;
  });
  return { type: "F32", shape, data };
}

const linear = (name: string, from: number, to: number): Tensors => ({
  [`${name}.weight`]: random(to, from),
  [`${name}.bias`]: random(to),
});
const norm = (name: string, size: number): Tensors => ({ [`${name}.weight`]: random(size), [`${name}.bias`]: random(size) });

const [width, inner, words, positions] = [8, 12, 20, 10];
const bertConfig = {
  hidden_size: width,
  num_attention_heads: 2,
  num_hidden_layers: 1,
  intermediate_size: inner,
  vocab_size: words,
  max_position_embeddings: positions,
  type_vocab_size: 2,
  pad_token_id: 0,
};
const layer = {
  ...linear("encoder.layer.0.attention.self.query", width, width),
  ...linear("encoder.layer.0.attention.self.key", width, width),
  ...linear("encoder.layer.0.attention.self.value", width, width),
  ...linear("encoder.layer.0.attention.output.dense", width, width),
  ...norm("encoder.layer.0.attention.output.LayerNorm", width),
  ...linear("encoder.layer.0.intermediate.dense", width, inner),
  ...linear("encoder.layer.0.output.dense", inner, width),
  ...norm("encoder.layer.0.output.LayerNorm", width),
};
const embeddings = {
  "embeddings.word_embeddings.weight": random(words, width),
  "embeddings.position_embeddings.weight": random(positions, width),
  "embeddings.token_type_embeddings.weight": random(2, width),
  ...norm("embeddings.LayerNorm", width),
};
const bert: Tensors = { ...embeddings, ...layer };

/** Evaluates the model with the interpreter. */
function run(name: string, config: Config, tensors: Tensors, inputs: Readonly<Record<string, Literal>>): Record<string, Literal> {
  const { source, pending } = buildTransformer(name, config, new Map(Object.entries(tensors)));
  for (const { name: tensor, setReader } of pending) setReader(() => tensors[tensor]!.data);
  const builder = new Builder({}, "eager");
  const given = new Map(Object.entries(inputs).map(([input, literal]) => [input, builder.constant(literal)]));
  const outputs = [...source.trace(given, builder)];
  return Object.fromEntries(outputs.map(([output, value]) => [output, isTensor(value) ? value.constant! : (undefined as never)]));
}

const only = (outputs: Record<string, Literal>, name: string): readonly number[] => Array.from(toNumbers(outputs[name]!));

function expectClose(own: readonly number[], other: readonly number[]): void {
  expect(own.length).toBe(other.length);
  expect(Math.max(...own.map((value, index) => Math.abs(value - other[index]!)))).toBeLessThan(1e-5);
}

const ids = [3, 7, 5, 19, 1];
const text = {
  input_ids: int64Literal(ids, [1, 5]),
  attention_mask: int64Literal([1, 1, 1, 1, 0], [1, 5]),
};
const typed = { ...text, token_type_ids: int64Literal([0, 0, 0, 0, 0], [1, 5]) };
const hidden = (): readonly number[] => only(run("BertModel", bertConfig, bert, typed), "last_hidden_state");

const renamed = (tensors: Tensors, rename: (name: string) => string): Tensors =>
  Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [rename(name), tensor]));

describe("equivalent architectures", () => {
  it("tensor names may have the model's prefix, and norms their old names", () => {
    const prefixed = renamed(
      bert,
      (name) => `bert.${name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")}`,
    );
    expect(only(run("BertModel", bertConfig, prefixed, typed), "last_hidden_state")).toEqual(hidden());
  });

  it.each(["F16", "BF16"])("%s weights give the results of equal F32 weights", (type) => {
    const float = type === "F16" ? "float16" : "bfloat16";
    const half = Object.entries(bert).map(([name, { shape, data }]): [string, Stored] => [
      name,
      { type, shape, data: Uint16Array.from(data as Float32Array, (value) => encodeFloat(float, value, false)) },
    ]);
    expect(only(run("BertModel", bertConfig, Object.fromEntries(half), typed), "last_hidden_state")).toEqual(hidden());
  });

  it("RoBERTa is BERT with one token type and positions that start after the padding id", () => {
    const table = bert["embeddings.position_embeddings.weight"]!.data as Float32Array;
    const types = bert["embeddings.token_type_embeddings.weight"]!.data as Float32Array;
    const padding = 1;
    const shifted = new Float32Array((positions + padding + 1) * width);
    shifted.set(table, (padding + 1) * width);
    const roberta = {
      ...bert,
      "embeddings.position_embeddings.weight": { type: "F32", shape: [positions + padding + 1, width], data: shifted },
      "embeddings.token_type_embeddings.weight": { type: "F32", shape: [1, width], data: types.slice(0, width) },
    };
    const config = { ...bertConfig, type_vocab_size: 1, pad_token_id: padding, max_position_embeddings: positions + padding + 1 };
    const own = only(run("RobertaModel", config, roberta, text), "last_hidden_state");
    // The last token is padding: its position differs, and no token attends to it.
    expectClose(own.slice(0, 4 * width), hidden().slice(0, 4 * width));
  });

  it("DistilBERT is BERT without token types", () => {
    const table = Float32Array.from(bert["embeddings.position_embeddings.weight"]!.data as Float32Array);
    const types = bert["embeddings.token_type_embeddings.weight"]!.data as Float32Array;
    for (let at = 0; at < table.length; at += 1) table[at]! += types[at % width]!;
    const { "embeddings.token_type_embeddings.weight": _types, ...untyped } = bert;
    const names: readonly (readonly [string, string])[] = [
      ["encoder.layer", "transformer.layer"],
      ["attention.self.query", "attention.q_lin"],
      ["attention.self.key", "attention.k_lin"],
      ["attention.self.value", "attention.v_lin"],
      ["attention.output.dense", "attention.out_lin"],
      ["attention.output.LayerNorm", "sa_layer_norm"],
      ["intermediate.dense", "ffn.lin1"],
      ["output.dense", "ffn.lin2"],
      ["output.LayerNorm", "output_layer_norm"],
    ];
    const tensors = renamed(
      { ...untyped, "embeddings.position_embeddings.weight": { type: "F32", shape: [positions, width], data: table } },
      (name) => `distilbert.${names.reduce((all, [from, to]) => all.replace(from, to), name)}`,
    );
    const config = {
      dim: width,
      n_heads: 2,
      n_layers: 1,
      hidden_dim: inner,
      vocab_size: words,
      max_position_embeddings: positions,
    };
    expectClose(only(run("DistilBertModel", config, tensors, text), "last_hidden_state"), hidden());
  });

  it("DeBERTa with separate position projections equals share_att_key when the weights are equal", () => {
    const config = {
      ...bertConfig,
      relative_attention: true,
      position_buckets: 4,
      max_relative_positions: -1,
      pos_att_type: "c2p|p2c",
      position_biased_input: false,
      type_vocab_size: 0,
      norm_rel_ebd: "layer_norm",
    };
    const { "embeddings.token_type_embeddings.weight": _types, "embeddings.position_embeddings.weight": _places, ...rest } = bert;
    const shared: Tensors = {
      ...renamed(rest, (name) => name.replace(/(query|key|value)\./, "$1_proj.")),
      "encoder.rel_embeddings.weight": random(8, width),
      ...norm("encoder.LayerNorm", width),
    };
    const at = "encoder.layer.0.attention.self";
    const own = Object.fromEntries(
      ["query", "key"].flatMap((part) =>
        ["weight", "bias"].map((what) => [`${at}.pos_${part}_proj.${what}`, shared[`${at}.${part}_proj.${what}`]!]),
      ),
    );
    const one = run("DebertaV2Model", { ...config, share_att_key: true }, shared, text);
    const other = run("DebertaV2Model", config, { ...shared, ...own }, text);
    expect(only(one, "last_hidden_state")).toEqual(only(other, "last_hidden_state"));
    const blind = run("DebertaV2Model", { ...config, share_att_key: true, pos_att_type: ["c2p"] }, shared, text);
    expect(only(blind, "last_hidden_state")).not.toEqual(only(one, "last_hidden_state"));
  });

  it("start and end logits are the two classes of a token classifier", () => {
    const [weight, bias] = [random(2, width), random(2)];
    const answer = run(
      "BertForQuestionAnswering",
      bertConfig,
      { ...bert, "qa_outputs.weight": weight, "qa_outputs.bias": bias },
      typed,
    );
    const classes = run(
      "BertForTokenClassification",
      bertConfig,
      { ...bert, "classifier.weight": weight, "classifier.bias": bias },
      typed,
    );
    const logits = only(classes, "logits");
    expect(only(answer, "start_logits")).toEqual(logits.filter((_, at) => at % 2 === 0));
    expect(only(answer, "end_logits")).toEqual(logits.filter((_, at) => at % 2 === 1));
  });
});

describe("NomicBERT", () => {
  const at = "encoder.layers.0";
  const matrix = (name: string, from: number, to: number): Tensors => ({ [`${at}.${name}.weight`]: random(to, from) });
  const tensors: Tensors = {
    "embeddings.word_embeddings.weight": random(words, width),
    "embeddings.token_type_embeddings.weight": random(2, width),
    ...norm("emb_ln", width),
    ...matrix("attn.Wqkv", width, 3 * width),
    ...matrix("attn.out_proj", width, width),
    ...matrix("mlp.fc11", width, inner),
    ...matrix("mlp.fc12", width, inner),
    ...matrix("mlp.fc2", inner, width),
    ...norm(`${at}.norm1`, width),
    ...norm(`${at}.norm2`, width),
  };
  const current = {
    hidden_size: width,
    num_attention_heads: 2,
    num_hidden_layers: 1,
    intermediate_size: inner,
    vocab_size: words,
  };
  const code = "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel";
  const older = {
    n_embd: width,
    n_head: 2,
    n_layer: 1,
    n_inner: inner,
    vocab_size: words,
    activation_function: "swiglu",
    rotary_emb_base: 1000,
    rotary_emb_fraction: 1,
    rotary_scaling_factor: null,
    prenorm: false,
    auto_map: { AutoModel: code },
  };
  const states = (config: Config, given = tensors): readonly number[] =>
    only(run("NomicBertModel", config, given, typed), "last_hidden_state");

  it("reads the settings of nomic-ai's files, whose code transformers has taken over", () => {
    expect(states(older)).toEqual(states(current));
    expect(states({ ...older, rotary_emb_base: 10 })).not.toEqual(states(current));
    expect(states({ ...older, activation_function: "geglu" })).toEqual(states({ ...current, hidden_act: "gelu" }));
  });

  it("adds biases that config.json states", () => {
    const biases = { qkv_proj_bias: true, mlp_fc1_bias: true, mlp_fc2_bias: true };
    const names = ["attn.Wqkv", "attn.out_proj", "mlp.fc11", "mlp.fc12", "mlp.fc2"];
    const sized = (fill: (size: number) => Stored): Tensors =>
      Object.fromEntries(names.map((name) => [`${at}.${name}.bias`, fill(tensors[`${at}.${name}.weight`]!.shape[0]!)]));
    const zero = sized((size) => ({ type: "F32", shape: [size], data: new Float32Array(size) }));
    expect(states({ ...current, ...biases }, { ...tensors, ...zero })).toEqual(states(current));
    expect(states({ ...current, ...biases }, { ...tensors, ...sized((size) => random(size)) })).not.toEqual(states(current));
  });

  it.each([
    ["auto_map", { AutoModel: "someone/else--modeling.NomicBertModel" }],
    ["prenorm", true],
    ["rotary_scaling_factor", 2],
    ["rotary_emb_interleaved", true],
    ["num_experts", 8],
  ])("refuses %s %j", (key, value) => {
    expect(() => states({ ...older, [key]: value })).toThrow(new RegExp(key));
  });
});

describe("Mistral's sliding window", () => {
  const config = {
    hidden_size: width,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    num_hidden_layers: 1,
    intermediate_size: inner,
    vocab_size: words,
    tie_word_embeddings: true,
  };
  const matrix = (name: string, from: number, to: number): Tensors => ({ [`model.layers.0.${name}.weight`]: random(to, from) });
  const tensors: Tensors = {
    "model.embed_tokens.weight": random(words, width),
    ...matrix("self_attn.q_proj", width, width),
    ...matrix("self_attn.k_proj", width, width / 2),
    ...matrix("self_attn.v_proj", width, width / 2),
    ...matrix("self_attn.o_proj", width, width),
    ...matrix("mlp.gate_proj", width, inner),
    ...matrix("mlp.up_proj", width, inner),
    ...matrix("mlp.down_proj", inner, width),
    "model.layers.0.input_layernorm.weight": random(width),
    "model.layers.0.post_attention_layernorm.weight": random(width),
    "model.norm.weight": random(width),
  };
  const prompt = (given: readonly number[], first: number): Record<string, Literal> => ({
    input_ids: int64Literal(given, [1, given.length]),
    attention_mask: int64Literal(
      given.map(() => 1),
      [1, given.length],
    ),
    position_ids: int64Literal(
      given.map((_, at) => first + at),
      [1, given.length],
    ),
  });
  const states = (name: string, more: Config, given: readonly number[], first = 0): readonly number[] =>
    only(run(name, { ...config, ...more }, tensors, prompt(given, first)), "last_hidden_state");

  it("equals Llama if the text is shorter than the window, or there is no window", () => {
    const whole = states("LlamaModel", {}, ids);
    expect(states("MistralModel", { sliding_window: 5 }, ids)).toEqual(whole);
    expect(states("MistralModel", { sliding_window: null }, ids)).toEqual(whole);
    expect(states("MistralModel", { sliding_window: 4 }, ids)).not.toEqual(whole);
  });

  it("of size 1 lets each token attend to itself only", () => {
    const alone = ids.flatMap((id, at) => states("LlamaModel", {}, [id], at));
    expectClose(states("MistralModel", { sliding_window: 1 }, ids), alone);
  });

  it("holds for cached tokens", () => {
    const past = (length: number, key: number[] = [], value: number[] = []): Record<string, Literal> => ({
      "past_key_values.0.key": toLiteral("float32", [1, 1, length, 4], key),
      "past_key_values.0.value": toLiteral("float32", [1, 1, length, 4], value),
    });
    const settings = { ...config, sliding_window: 2 };
    const whole = only(run("MistralForCausalLM", settings, tensors, { ...prompt(ids, 0), ...past(0) }), "logits");
    const before = run("MistralForCausalLM", settings, tensors, { ...prompt(ids.slice(0, 4), 0), ...past(0) });
    const [key, value] = ["key", "value"].map((part) => [...only(before, `present.0.${part}`)]);
    const last = run("MistralForCausalLM", settings, tensors, {
      ...prompt(ids.slice(4), 4),
      attention_mask: int64Literal([1, 1, 1, 1, 1], [1, 5]),
      ...past(4, key, value),
    });
    expectClose(only(last, "logits"), whole.slice(4 * words));
  });

  it("the frequencies of longrope hold for the original context, which is then the longest", () => {
    const longrope = { type: "longrope", short_factor: [1], long_factor: [2] };
    expect(rotaryContext({ rope_scaling: longrope, original_max_position_embeddings: 4096 })).toBe(4096);
    expect(rotaryContext({ rope_scaling: { ...longrope, original_max_position_embeddings: 9 } })).toBe(9);
    expect(rotaryContext({ rope_scaling: { type: "yarn", factor: 4 } })).toBeUndefined();
    expect(rotaryContext({ max_position_embeddings: 5 })).toBeUndefined();
    expect(() => states("MistralModel", { rope_scaling: { ...longrope, short_factor: [1, -1] } }, ids)).toThrowError(
      expect.objectContaining({ code: "MODEL_INVALID", data: { key: "short_factor" } }),
    );
  });

  it.each([
    ["type", { rope_scaling: { type: "mrope", factor: 8 } }],
    ["rope_type", { rope_parameters: { rope_type: "proportional", rope_theta: 10_000 } }],
    ["mscale", { rope_scaling: { rope_type: "yarn", factor: 8, original_max_position_embeddings: 64, mscale: 0.7 } }],
    ["partial_rotary_factor", { partial_rotary_factor: 0.5 }],
    ["hidden_act", { hidden_act: "xielu" }],
    ["quantization_config", { quantization_config: { quant_method: "gptq" } }],
    ["auto_map", { auto_map: { AutoModel: "modeling.py" } }],
  ])("%s that is not supported is refused by name", (key, more) => {
    expect(() => states("MistralModel", more, ids)).toThrowError(
      expect.objectContaining({ code: "MODEL_UNSUPPORTED", data: { key } }),
    );
  });
});

describe("the tensors of a file", () => {
  const states = (tensors: Tensors): readonly number[] => [
    ...only(run("BertModel", bertConfig, tensors, typed), "last_hidden_state"),
  ];

  it.each(["bert.", "model.", "0.auto_model."])("may all have the prefix %s, beside weights of a head of any name", (prefix) => {
    const wrapped = { ...renamed(bert, (name) => prefix + name), "crf.transitions": random(2), "score.weight": random(2, width) };
    expect(states(wrapped)).toEqual(states(bert));
  });

  it("are all read below their prefix", () => {
    const unknown = { ...renamed(bert, (name) => `bert.${name}`), "bert.adapter.weight": random(2) };
    expect(() => states(unknown)).toThrow('"bert.adapter.weight", which BertModel');
  });
});

describe("refusals", () => {
  const refusal = (config: Config, tensors: Tensors, name = "BertModel", inputs: Record<string, Literal> = typed): unknown => {
    try {
      return run(name, config, tensors, inputs);
    } catch (error) {
      return error;
    }
  };
  const query = "encoder.layer.0.attention.self.query.weight";
  const { [query]: _query, ...without } = bert;
  const t5Config = { d_model: width, d_ff: inner, d_kv: 4, num_heads: 2, num_layers: 1, vocab_size: words };
  const t5Embedding = { "shared.weight": random(words, width) };

  it.each<readonly [string, string, string, Config, Tensors]>([
    ["a missing tensor", "MODEL_INVALID", query, bertConfig, without],
    ["a tensor of another shape", "MODEL_INVALID", query, bertConfig, { ...bert, [query]: random(width, width + 1) }],
    ["a tensor of another type", "MODEL_UNSUPPORTED", query, bertConfig, { ...bert, [query]: { ...bert[query]!, type: "I8" } }],
    [
      "an unused tensor",
      "MODEL_UNSUPPORTED",
      "distance",
      bertConfig,
      { ...bert, "encoder.layer.0.attention.self.distance_embedding.weight": random(2) },
    ],
    [
      "one layer more than config.json declares",
      "MODEL_UNSUPPORTED",
      "layer.1",
      bertConfig,
      { ...bert, ...renamed(layer, (name) => name.replace("layer.0", "layer.1")) },
    ],
    ["one layer fewer", "MODEL_INVALID", "layer.1", { ...bertConfig, num_hidden_layers: 2 }, bert],
    [
      "another kind of positions",
      "MODEL_UNSUPPORTED",
      "position_embedding_type",
      { ...bertConfig, position_embedding_type: "relative_key" },
      bert,
    ],
    ["an unknown activation", "MODEL_UNSUPPORTED", "hidden_act", { ...bertConfig, hidden_act: "constructor" }, bert],
    ["a decoder", "MODEL_UNSUPPORTED", "is_decoder", { ...bertConfig, is_decoder: true }, bert],
    ["a negative size", "MODEL_INVALID", "hidden_size", { ...bertConfig, hidden_size: -8 }, bert],
    ["a missing size", "MODEL_INVALID", "num_attention_heads", { ...bertConfig, num_attention_heads: undefined }, bert],
    [
      "a number of heads that does not divide the width",
      "MODEL_INVALID",
      "num_attention_heads",
      { ...bertConfig, num_attention_heads: 3 },
      bert,
    ],
  ])("%s: %s", (_what, code, word, config, tensors) => {
    expect(refusal(config, tensors)).toMatchObject({ code, message: expect.stringContaining(word) as string });
  });

  it.each<readonly [string, string, Config, Tensors]>([
    ["LlamaModel", "num_attention_heads", { ...bertConfig, num_attention_heads: 3 }, {}],
    [
      "RobertaModel",
      "pad_token_id",
      { ...bertConfig, type_vocab_size: 1, pad_token_id: positions },
      { ...embeddings, "embeddings.token_type_embeddings.weight": random(1, width) },
    ],
    ["DebertaV2Model", "position_buckets", { ...bertConfig, relative_attention: true, position_buckets: 1 }, embeddings],
    ["T5EncoderModel", "relative_attention_num_buckets", { ...t5Config, relative_attention_num_buckets: 3 }, t5Embedding],
    ["T5EncoderModel", "relative_attention_max_distance", { ...t5Config, relative_attention_max_distance: 8 }, t5Embedding],
  ])("%s: a setting that no input fits is a fault of the model: %s", (name, key, config, tensors) => {
    expect(refusal(config, tensors, name)).toMatchObject({ code: "MODEL_INVALID", data: { key } });
  });

  it("an unknown architecture, and names of object properties", () => {
    for (const name of ["FalconForCausalLM", "constructor", ""])
      expect(refusal(bertConfig, bert, name)).toMatchObject({ code: "MODEL_UNSUPPORTED" });
  });

  it("any value of a setting gives a result or a typed error", () => {
    const keys = fc.constantFrom(
      ...Object.keys(bertConfig),
      "hidden_act",
      "layer_norm_eps",
      "tie_word_embeddings",
      "pruned_heads",
    );
    const values = fc.oneof(
      fc.jsonValue(),
      fc.integer(),
      fc.constantFrom(0, -1, 2 ** 53, 1e308, Number.NaN, "gelu", "__proto__"),
    );
    fc.assert(
      fc.property(keys, values, (key, value) => {
        const result = refusal({ ...bertConfig, [key]: value }, bert);
        expect(result instanceof Error ? result : undefined).toSatisfy(
          (error: unknown) => error === undefined || error instanceof InferyardError,
        );
      }),
      { numRuns: amount(300, 90) },
    );
  });

  it("a text with more tokens than the model has positions", () => {
    const long = Object.fromEntries(Object.keys(typed).map((input) => [input, int64Literal(Array<number>(11).fill(1), [1, 11])]));
    expect(refusal(bertConfig, bert, "BertModel", long)).toMatchObject({ code: "INPUT_INVALID" });
  });
});
