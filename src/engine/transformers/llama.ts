/**
 * Llama (Touvron and others, https://arxiv.org/abs/2302.13971) and those that are built like it: Mistral (https://arxiv.org/abs/2310.06825) looks
 * back through a window, Qwen2 (https://arxiv.org/abs/2407.10671) adds to queries, keys and values, and Gemma (https://arxiv.org/abs/2403.08295)
 * scales its embeddings and shifts what its norms multiply by.
 */
import type { Value } from "../ir/graph.ts";
import type { Calculation } from "../build/tensor-ops.ts";
import { attention, causalBias, splitHeads } from "../build/nn/attention.ts";
import { type Cache, causal, type CausalModel } from "./causal-model.ts";
import type { Config } from "./config.ts";
import { activation, activationOf, embedding, type Layer, linear, repeated, rmsNorm } from "../build/nn/layers.ts";
import { type Angles, anglesOf, pairsOf, turned } from "../build/nn/rotary-embedding.ts";
import type { Architecture, Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

/** What the members of the family differ in. */
interface Traits {
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
  readonly shares: boolean;
}

const plain: Traits = {
  inputBias: false,
  outputBias: false,
  feedForwardBias: false,
  activation: activation("silu"),
  window: Number.POSITIVE_INFINITY,
  normOffset: 0,
  embeddingScale: 1,
  shares: false,
};

type TraitsOf = (config: Config) => Traits;

const llama: TraitsOf = (config) => {
  const bias = config.flag("attention_bias", false);
  return {
    ...plain,
    inputBias: bias,
    outputBias: bias,
    feedForwardBias: config.flag("mlp_bias", false),
    activation: activationOf(config, "hidden_act", "silu"),
  };
};

const mistral: TraitsOf = (config) => ({
  ...plain,
  activation: activationOf(config, "hidden_act", "silu"),
  window: config.countIfGiven("sliding_window") ?? Number.POSITIVE_INFINITY,
});

const qwen2: TraitsOf = (config) => {
  config.only("use_sliding_window", false);
  return { ...plain, inputBias: true, activation: activationOf(config, "hidden_act", "silu") };
};

const gemma: TraitsOf = (config) => {
  const bias = config.flag("attention_bias", false);
  return {
    ...plain,
    inputBias: bias,
    outputBias: bias,
    // "hidden_act" is of old files, and means the same whatever it says.
    activation: activationOf(config, "hidden_activation", "gelu_pytorch_tanh"),
    normOffset: 1,
    embeddingScale: Math.sqrt(config.count("hidden_size")),
    shares: true,
  };
};

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly keyHeads: number;
  readonly headSize: number;
  readonly epsilon: number;
}

function sizesOf(config: Config): Sizes {
  const width = config.count("hidden_size");
  const heads = config.count("num_attention_heads");
  const keyHeads = config.divisor("num_key_value_heads", heads, heads);
  return {
    width,
    inner: config.count("intermediate_size"),
    heads,
    keyHeads,
    headSize: config.count("head_dim", width / heads),
    epsilon: config.positive("rms_norm_eps", 1e-6),
  };
}

/** Newer files have the settings of rotation in an object of their own. */
function thetaOf(config: Config): number {
  config.never("rope_scaling", "rope_interleaved");
  const settings = config.inner("rope_parameters");
  settings?.only("rope_type", "default");
  return settings?.positive("rope_theta", 10_000) ?? config.positive("rope_theta", 10_000);
}

type Block = (net: Calculation, x: Value, angles: Angles, bias: Value, remember: (now: Cache) => Cache) => Value;

function block(weights: Weights, at: string, sizes: Sizes, traits: Traits): Block {
  const { width, inner, heads, keyHeads, headSize, epsilon } = sizes;
  const project = (name: string, to: number): Layer =>
    linear(weights, `${at}.self_attn.${name}`, { from: width, to: to * headSize, bias: traits.inputBias });
  const query = project("q_proj", heads);
  const key = project("k_proj", keyHeads);
  const value = project("v_proj", keyHeads);
  const output = linear(weights, `${at}.self_attn.o_proj`, { from: heads * headSize, to: width, bias: traits.outputBias });
  const feed = (name: string, from: number, to: number): Layer =>
    linear(weights, `${at}.mlp.${name}`, { from, to, bias: traits.feedForwardBias });
  const [gate, up, down] = [feed("gate_proj", width, inner), feed("up_proj", width, inner), feed("down_proj", inner, width)];
  const norm = (name: string): Layer => rmsNorm(weights, `${at}.${name}`, width, epsilon, traits.normOffset);
  const [attentionNorm, feedForwardNorm] = [norm("input_layernorm"), norm("post_attention_layernorm")];
  return (net, x, angles, bias, remember) => {
    const given = attentionNorm(net, x);
    const now = {
      key: turned(net, splitHeads(net, key(net, given), keyHeads), angles),
      value: splitHeads(net, value(net, given), keyHeads),
    };
    const queries = turned(net, splitHeads(net, query(net, given), heads), angles);
    const mixed = attention(net, { query: queries, ...remember(now), scale: 1 / Math.sqrt(headSize), bias });
    const attended = net.binary("add", output(net, mixed), x);
    const normed = feedForwardNorm(net, attended);
    const gated = net.binary("mul", traits.activation(net, gate(net, normed)), up(net, normed));
    return net.binary("add", down(net, gated), attended);
  };
}

function decoder(config: Config, weights: Weights, traits: Traits, output: CausalModel["output"]): CausalModel {
  const sizes = sizesOf(config);
  const { width, keyHeads, headSize, epsilon } = sizes;
  const theta = thetaOf(config);
  const pairs = pairsOf(headSize);
  const words = config.count("vocab_size");
  const word = embedding(weights, "embed_tokens.weight", words, width);
  const blocks = repeated(config.count("num_hidden_layers"), (index) => block(weights, `layers.${index}`, sizes, traits));
  const norm = rmsNorm(weights, "norm", width, epsilon, traits.normOffset);
  const shared = config.flag("tie_word_embeddings", traits.shares);
  const table = output === "logits" ? weights.matrix(shared ? "embed_tokens.weight" : "lm_head.weight", width, words) : undefined;
  return {
    layers: blocks.length,
    heads: keyHeads,
    headSize,
    output,
    size: table === undefined ? width : words,
    build: (net, { ids, mask, places }, remember) => {
      const bias = causalBias(net, mask, ids.type.shape[1] ?? 0, traits.window);
      const angles = anglesOf(net, places, pairs, theta);
      const rows = word(net, ids);
      const embedded = traits.embeddingScale === 1 ? rows : net.binary("mul", rows, traits.embeddingScale);
      const hidden = norm(
        net,
        blocks.reduce((x, each, index) => each(net, x, angles, bias, (now) => remember(index, now)), embedded),
      );
      return table === undefined ? hidden : net.add({ kind: "matmul" }, hidden, net.build.constant(table));
    },
  };
}

/** Frequencies that are computed anyway, and the head where it is not asked for or shared. */
const spare = /rotary_emb\.inv_freq$|^lm_head\.weight$/;

function family(name: string, traitsOf: TraitsOf): Architectures {
  const architecture = (output: CausalModel["output"]): Architecture => ({
    prefixes: ["model."],
    spare,
    make: (config, weights) => causal(decoder(config, weights, traitsOf(config), output)),
  });
  return { [`${name}Model`]: architecture("last_hidden_state"), [`${name}ForCausalLM`]: architecture("logits") };
}

export const llamaArchitectures: Architectures = {
  ...family("Llama", llama),
  ...family("Mistral", mistral),
  ...family("Qwen2", qwen2),
  ...family("Gemma", gemma),
};
