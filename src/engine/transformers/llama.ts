/**
 * Llama (Touvron and others, https://arxiv.org/abs/2302.13971) and those that are built like it: Mistral (https://arxiv.org/abs/2310.06825) looks
 * back through a window, Qwen2 (https://arxiv.org/abs/2407.10671) adds to queries, keys and values, and Gemma (https://arxiv.org/abs/2403.08295)
 * scales its embeddings and shifts what its norms multiply by.
 */
import type { Value } from "../ir/graph.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import { attention, causalBias, splitHeads } from "../build/nn/attention.ts";
import { type KeyValueCache, causalTransformer, type CausalModel } from "./causal-model.ts";
import type { Config } from "./config.ts";
import { activation } from "../build/nn/activations.ts";
import { embedding, type Layer, linear, repeated, rmsNorm } from "../build/nn/layers.ts";
import { type RotaryAngles, rotaryAngles, rotaryPairs, applyRotary } from "../build/nn/rotary-embedding.ts";
import type { Architecture, Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

/** What the members of the family differ in. */
interface FamilyOptions {
  /** Vectors added to queries, keys and values, and to what attention gives. */
  readonly inputBias: boolean;
  readonly outputBias: boolean;
  readonly feedForwardBias: boolean;
  readonly activation: Layer;
  /** A token sees so many before it, itself counted. */
  readonly window: number;
  readonly normOffset: number;
  readonly embeddingScale: number;
  /** Whether the product with the vocabulary is with the embeddings, where config.json does not say so. */
  readonly tiesEmbeddings: boolean;
}

const defaultOptions: FamilyOptions = {
  inputBias: false,
  outputBias: false,
  feedForwardBias: false,
  activation: activation("silu"),
  window: Number.POSITIVE_INFINITY,
  normOffset: 0,
  embeddingScale: 1,
  tiesEmbeddings: false,
};

type FamilyOptionsOf = (config: Config) => FamilyOptions;

const llama: FamilyOptionsOf = (config) => {
  const bias = config.boolean("attention_bias", false);
  return {
    ...defaultOptions,
    inputBias: bias,
    outputBias: bias,
    feedForwardBias: config.boolean("mlp_bias", false),
    activation: config.activation("hidden_act", "silu"),
  };
};

const mistral: FamilyOptionsOf = (config) => ({
  ...defaultOptions,
  activation: config.activation("hidden_act", "silu"),
  window: config.positiveIntegerIfGiven("sliding_window") ?? Number.POSITIVE_INFINITY,
});

const qwen2: FamilyOptionsOf = (config) => {
  config.requireEqual("use_sliding_window", false);
  return { ...defaultOptions, inputBias: true, activation: config.activation("hidden_act", "silu") };
};

const gemma: FamilyOptionsOf = (config) => {
  const bias = config.boolean("attention_bias", false);
  return {
    ...defaultOptions,
    inputBias: bias,
    outputBias: bias,
    // "hidden_act" is of old files, and means the same whatever it says.
    activation: config.activation("hidden_activation", "gelu_pytorch_tanh"),
    normOffset: 1,
    embeddingScale: Math.sqrt(config.positiveInteger("hidden_size")),
    tiesEmbeddings: true,
  };
};

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly epsilon: number;
}

function sizesOf(config: Config): Sizes {
  const width = config.positiveInteger("hidden_size");
  const heads = config.positiveInteger("num_attention_heads");
  const keyValueHeads = config.divisorOf("num_key_value_heads", heads, heads);
  return {
    width,
    inner: config.positiveInteger("intermediate_size"),
    heads,
    keyValueHeads,
    headSize: config.positiveInteger("head_dim", width / heads),
    epsilon: config.positiveNumber("rms_norm_eps", 1e-6),
  };
}

/** Newer files have the settings of rotation in an object of their own. */
function thetaOf(config: Config): number {
  config.requireAbsent("rope_scaling", "rope_interleaved");
  const settings = config.section("rope_parameters");
  settings?.requireEqual("rope_type", "default");
  return settings?.positiveNumber("rope_theta", 10_000) ?? config.positiveNumber("rope_theta", 10_000);
}

type Block = (
  ops: TensorOps,
  x: Value,
  angles: RotaryAngles,
  bias: Value,
  remember: (now: KeyValueCache) => KeyValueCache,
) => Value;

function block(weights: Weights, at: string, sizes: Sizes, traits: FamilyOptions): Block {
  const { width, inner, heads, keyValueHeads, headSize, epsilon } = sizes;
  const project = (name: string, to: number): Layer =>
    linear(weights, `${at}.self_attn.${name}`, { inFeatures: width, outFeatures: to * headSize, bias: traits.inputBias });
  const query = project("q_proj", heads);
  const key = project("k_proj", keyValueHeads);
  const value = project("v_proj", keyValueHeads);
  const output = linear(weights, `${at}.self_attn.o_proj`, {
    inFeatures: heads * headSize,
    outFeatures: width,
    bias: traits.outputBias,
  });
  const feed = (name: string, inFeatures: number, outFeatures: number): Layer =>
    linear(weights, `${at}.mlp.${name}`, { inFeatures, outFeatures, bias: traits.feedForwardBias });
  const [gate, up, down] = [feed("gate_proj", width, inner), feed("up_proj", width, inner), feed("down_proj", inner, width)];
  const norm = (name: string): Layer => rmsNorm(weights, `${at}.${name}`, width, epsilon, traits.normOffset);
  const [attentionNorm, feedForwardNorm] = [norm("input_layernorm"), norm("post_attention_layernorm")];
  return (ops, x, angles, bias, remember) => {
    const given = attentionNorm(ops, x);
    const now = {
      key: applyRotary(ops, splitHeads(ops, key(ops, given), keyValueHeads), angles),
      value: splitHeads(ops, value(ops, given), keyValueHeads),
    };
    const queries = applyRotary(ops, splitHeads(ops, query(ops, given), heads), angles);
    const mixed = attention(ops, { query: queries, ...remember(now), scale: 1 / Math.sqrt(headSize), bias });
    const attended = ops.binary("add", output(ops, mixed), x);
    const normed = feedForwardNorm(ops, attended);
    const gated = ops.binary("mul", traits.activation(ops, gate(ops, normed)), up(ops, normed));
    return ops.binary("add", down(ops, gated), attended);
  };
}

function decoder(config: Config, weights: Weights, traits: FamilyOptions, output: CausalModel["output"]): CausalModel {
  const sizes = sizesOf(config);
  const { width, keyValueHeads, headSize, epsilon } = sizes;
  const theta = thetaOf(config);
  const pairs = rotaryPairs(headSize);
  const words = config.positiveInteger("vocab_size");
  const word = embedding(weights, "embed_tokens.weight", words, width);
  const blocks = repeated(config.positiveInteger("num_hidden_layers"), (index) =>
    block(weights, `layers.${index}`, sizes, traits),
  );
  const norm = rmsNorm(weights, "norm", width, epsilon, traits.normOffset);
  const shared = config.boolean("tie_word_embeddings", traits.tiesEmbeddings);
  const table = output === "logits" ? weights.matrix(shared ? "embed_tokens.weight" : "lm_head.weight", width, words) : undefined;
  return {
    layers: blocks.length,
    keyValueHeads,
    headSize,
    output,
    outputSize: table === undefined ? width : words,
    build: (ops, { ids, mask, positions }, remember) => {
      const bias = causalBias(ops, mask, ids.type.shape[1] ?? 0, traits.window);
      const angles = rotaryAngles(ops, positions, pairs, theta);
      const rows = word(ops, ids);
      const embedded = traits.embeddingScale === 1 ? rows : ops.binary("mul", rows, traits.embeddingScale);
      const hidden = norm(
        ops,
        blocks.reduce((x, each, index) => each(ops, x, angles, bias, (now) => remember(index, now)), embedded),
      );
      return table === undefined ? hidden : ops.add({ kind: "matmul" }, hidden, ops.builder.constant(table));
    },
  };
}

/** Frequencies that are computed anyway, and the head where it is not asked for or shared. */
const ignoredTensors = /rotary_emb\.inv_freq$|^lm_head\.weight$/;

function family(name: string, traitsOf: FamilyOptionsOf): Architectures {
  const architecture = (output: CausalModel["output"]): Architecture => ({
    prefixes: ["model."],
    ignoredTensors,
    make: (config, weights) => causalTransformer(decoder(config, weights, traitsOf(config), output)),
  });
  return { [`${name}Model`]: architecture("last_hidden_state"), [`${name}ForCausalLM`]: architecture("logits") };
}

export const llamaArchitectures: Architectures = {
  ...family("Llama", llama),
  ...family("Mistral", mistral),
  ...family("Qwen2", qwen2),
  ...family("Gemma", gemma),
};
