/**
 * Llama and causal decoders with its architecture: RMSNorm before each layer, rotary position embedding, grouped-query attention and a gated
 * feed-forward network (SwiGLU, Shazeer 2020, https://arxiv.org/abs/2002.05202). Hugging Face classes `...Model` and `...ForCausalLM` of:
 *
 * - Llama: Touvron et al. 2023, https://arxiv.org/abs/2302.13971
 * - Mistral: Jiang et al. 2023, https://arxiv.org/abs/2310.06825. Sliding-window attention.
 * - Qwen2: Yang et al. 2024, https://arxiv.org/abs/2407.10671. Biases on the query, key and value projections.
 * - Qwen3: Yang et al. 2025, https://arxiv.org/abs/2505.09388. RMSNorm of each query and key head.
 * - Gemma: Gemma Team 2024, https://arxiv.org/abs/2403.08295. Scaled embeddings, RMSNorm weights stored minus 1, GELU in place of SiLU.
 *
 * Reads from config.json: hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim, vocab_size,
 * rms_norm_eps, rope_theta, rope_scaling (or rope_parameters), hidden_act (Gemma: hidden_activation), attention_bias, mlp_bias, sliding_window, tie_word_embeddings.
 */
import type { Value } from "../ir/graph.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { attention, causalBias, splitHeads } from "../build/nn/attention.ts";
import { type KeyValueCache, causalTransformer, type CausalModel } from "./causal-model.ts";
import type { Config } from "./config.ts";
import { activation } from "../build/nn/activations.ts";
import { embedding, type Layer, linear, repeated, rmsNorm } from "../build/nn/layers.ts";
import { type RotaryAngles, rotaryAngles, rotaryPairs, applyRotary } from "../build/nn/rotary-embedding.ts";
import { configuredFrequencies } from "./rope-scaling.ts";
import type { Architecture, Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

/** What differs between the families. */
interface FamilyOptions {
  /** Whether the query, key and value projections have biases. */
  readonly inputBias: boolean;
  /** Whether the output projection of the attention has a bias. */
  readonly outputBias: boolean;
  /** Whether the three linear layers of the feed-forward network have biases. */
  readonly feedForwardBias: boolean;
  /** Activation of the gate. */
  readonly activation: Layer;
  /** Number of keys that a query attends to, its own included: sliding-window attention. */
  readonly window: number;
  /** Whether each query and key head passes an RMSNorm before its rotation. */
  readonly normalizesHeads: boolean;
  /** Head size when config.json does not set `head_dim`. Undefined: the hidden size divided by the number of heads. */
  readonly headSize: number | undefined;
  /** Added to the weights of every RMSNorm. */
  readonly normOffset: number;
  /** Factor of the token embeddings. */
  readonly embeddingScale: number;
  /** Whether the output layer is tied to the token embeddings when config.json does not set `tie_word_embeddings`. */
  readonly tiesEmbeddings: boolean;
}

const defaultOptions: FamilyOptions = {
  inputBias: false,
  outputBias: false,
  feedForwardBias: false,
  activation: activation("silu"),
  window: Number.POSITIVE_INFINITY,
  normalizesHeads: false,
  headSize: undefined,
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

const qwen3: FamilyOptionsOf = (config) => {
  config.requireEqual("use_sliding_window", false);
  const bias = config.boolean("attention_bias", false);
  return {
    ...defaultOptions,
    inputBias: bias,
    outputBias: bias,
    normalizesHeads: true,
    headSize: 128,
    activation: config.activation("hidden_act", "silu"),
  };
};

const gemma: FamilyOptionsOf = (config) => {
  const bias = config.boolean("attention_bias", false);
  return {
    ...defaultOptions,
    inputBias: bias,
    outputBias: bias,
    // The older setting "hidden_act" is ignored: Gemma always uses this GELU, whatever it says.
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

function sizesOf(config: Config, headSize: number | undefined): Sizes {
  const width = config.positiveInteger("hidden_size");
  const heads = config.positiveInteger("num_attention_heads");
  const keyValueHeads = config.divisorOf("num_key_value_heads", heads, heads);
  return {
    width,
    inner: config.positiveInteger("intermediate_size"),
    heads,
    keyValueHeads,
    headSize: config.positiveIntegerIfGiven("head_dim") ?? headSize ?? width / config.divisorOf("num_attention_heads", width),
    epsilon: config.positiveNumber("rms_norm_eps", 1e-6),
  };
}

/** Adds the operations of one decoder block and returns its output. */
type Block = (
  ops: TensorOps,
  x: Value,
  angles: RotaryAngles,
  bias: Value,
  updateCache: (current: KeyValueCache) => KeyValueCache,
) => Value;

function block(weights: Weights, prefix: string, sizes: Sizes, options: FamilyOptions): Block {
  const { width, inner, heads, keyValueHeads, headSize, epsilon } = sizes;
  const project = (name: string, to: number): Layer =>
    linear(weights, `${prefix}.self_attn.${name}`, { inFeatures: width, outFeatures: to * headSize, bias: options.inputBias });
  const query = project("q_proj", heads);
  const key = project("k_proj", keyValueHeads);
  const value = project("v_proj", keyValueHeads);
  const output = linear(weights, `${prefix}.self_attn.o_proj`, {
    inFeatures: heads * headSize,
    outFeatures: width,
    bias: options.outputBias,
  });
  const feed = (name: string, inFeatures: number, outFeatures: number): Layer =>
    linear(weights, `${prefix}.mlp.${name}`, { inFeatures, outFeatures, bias: options.feedForwardBias });
  const [gate, up, down] = [feed("gate_proj", width, inner), feed("up_proj", width, inner), feed("down_proj", inner, width)];
  const norm = (name: string): Layer => rmsNorm(weights, `${prefix}.${name}`, width, epsilon, options.normOffset);
  const [attentionNorm, feedForwardNorm] = [norm("input_layernorm"), norm("post_attention_layernorm")];
  const headNorm = (name: string): Layer =>
    options.normalizesHeads ? rmsNorm(weights, `${prefix}.self_attn.${name}`, headSize, epsilon) : (_ops, x) => x;
  const [queryNorm, keyNorm] = [headNorm("q_norm"), headNorm("k_norm")];
  return (ops, x, angles, bias, updateCache) => {
    const normalized = attentionNorm(ops, x);
    const current = {
      key: applyRotary(ops, keyNorm(ops, splitHeads(ops, key(ops, normalized), keyValueHeads)), angles),
      value: splitHeads(ops, value(ops, normalized), keyValueHeads),
    };
    const queries = applyRotary(ops, queryNorm(ops, splitHeads(ops, query(ops, normalized), heads)), angles);
    const context = attention(ops, { query: queries, ...updateCache(current), scale: 1 / Math.sqrt(headSize), bias });
    const attended = ops.binary("add", output(ops, context), x);
    const attendedNorm = feedForwardNorm(ops, attended);
    const gated = ops.binary("mul", options.activation(ops, gate(ops, attendedNorm)), up(ops, attendedNorm));
    return ops.binary("add", down(ops, gated), attended);
  };
}

function decoder(config: Config, weights: Weights, options: FamilyOptions, output: CausalModel["output"]): CausalModel {
  const sizes = sizesOf(config, options.headSize);
  const { width, keyValueHeads, headSize, epsilon } = sizes;
  const frequencies = configuredFrequencies(config, rotaryPairs(headSize));
  const vocabulary = config.positiveInteger("vocab_size");
  const tokens = embedding(weights, "embed_tokens.weight", vocabulary, width);
  const blocks = repeated(config.positiveInteger("num_hidden_layers"), (index) =>
    block(weights, `layers.${index}`, sizes, options),
  );
  const norm = rmsNorm(weights, "norm", width, epsilon, options.normOffset);
  const isTied = config.boolean("tie_word_embeddings", options.tiesEmbeddings);
  const outputMatrix =
    output === "logits" ? weights.matrix(isTied ? "embed_tokens.weight" : "lm_head.weight", width, vocabulary) : undefined;
  return {
    layers: blocks.length,
    keyValueHeads,
    headSize,
    output,
    outputSize: outputMatrix === undefined ? width : vocabulary,
    build: (ops, { ids, mask, positions }, updateCache) => {
      const bias = causalBias(ops, mask, dimensions(ids, 2)[1], options.window);
      const angles = rotaryAngles(ops, positions, frequencies);
      const rows = tokens(ops, ids);
      const embedded = options.embeddingScale === 1 ? rows : ops.binary("mul", rows, options.embeddingScale);
      const hidden = norm(
        ops,
        blocks.reduce((x, each, index) => each(ops, x, angles, bias, (current) => updateCache(index, current)), embedded),
      );
      return outputMatrix === undefined ? hidden : ops.add({ kind: "matmul" }, hidden, ops.builder.constant(outputMatrix));
    },
  };
}

/** Stored rotary frequencies, which are computed here, and the output layer when it is tied or the model has no head. */
const ignoredTensors = /rotary_emb\.inv_freq$|^lm_head\.weight$/;

/** The two architectures of a family: base model and language model. */
function family(name: string, optionsOf: FamilyOptionsOf): Architectures {
  const architecture = (output: CausalModel["output"]): Architecture => ({
    prefixes: ["model."],
    ignoredTensors,
    make: (config, weights) => causalTransformer(decoder(config, weights, optionsOf(config), output)),
  });
  return { [`${name}Model`]: architecture("last_hidden_state"), [`${name}ForCausalLM`]: architecture("logits") };
}

/** The Llama-like architectures (Llama, Mistral, Qwen2, Qwen3, Gemma), by Hugging Face class name. */
export const llamaArchitectures: Architectures = {
  ...family("Llama", llama),
  ...family("Mistral", mistral),
  ...family("Qwen2", qwen2),
  ...family("Qwen3", qwen3),
  ...family("Gemma", gemma),
};
