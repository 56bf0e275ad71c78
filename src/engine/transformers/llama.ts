/**
 * Llama and causal decoders with its architecture: RMSNorm before each layer, rotary position embedding, grouped-query attention and a gated
 * feed-forward network (SwiGLU, Shazeer 2020, https://arxiv.org/abs/2002.05202). Hugging Face classes `...Model` and `...ForCausalLM` of the families in
 * `llama-families.ts`.
 *
 * Reads from config.json: hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim, vocab_size,
 * rms_norm_eps, tie_word_embeddings, rope_theta, rope_scaling (or rope_parameters), and what the family reads.
 */
import type { Value } from "../ir/graph.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { attention, bidirectionalBias, causalBias, splitHeads } from "../build/nn/attention.ts";
import { causalArchitectures, type CausalDecoder, type CausalModel } from "./causal-model.ts";
import type { Config } from "./config.ts";
import { type Layer, linear, type LinearOptions, repeated, rmsNorm, sequential, tokenEmbedding } from "../build/nn/layers.ts";
import { type RotaryAngles, rotaryAngles, applyRotary, rotaryFrequencies, rotaryPairs } from "../build/nn/rotary-embedding.ts";
import { type FamilyOptions, type FamilyOptionsOf, families } from "./llama-families.ts";
import { configuredFrequencies } from "./rope-scaling.ts";
import type { UpdateOwnCache } from "./multi-head-attention.ts";
import type { Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly epsilon: number;
}

function getSizes(config: Config, headSize: number | undefined): Sizes {
  const width = config.positiveInteger("hidden_size");
  const heads = config.positiveInteger("num_attention_heads");
  const keyValueHeads = config.getDivisor("num_key_value_heads", heads, heads);
  return {
    width,
    inner: config.positiveInteger("intermediate_size"),
    heads,
    keyValueHeads,
    headSize: config.positiveIntegerIfGiven("head_dim") ?? headSize ?? width / config.getDivisor("num_attention_heads", width),
    epsilon: config.positiveNumber("rms_norm_eps", 1e-6),
  };
}

/** Adds the operations of one decoder block and returns its output. */
type Block = (ops: TensorOps, x: Value, angles: RotaryAngles, bias: Value, updateCache: UpdateOwnCache) => Value;

/**
 * A linear layer; in BitNet (Wang et al. 2023, https://arxiv.org/abs/2310.11453) with an RMSNorm of its input, or a scale of its weights apart from them,
 * where the file has the tensors `${name}.norm.weight` or `${name}.weight_scale`.
 */
function projection(weights: Weights, name: string, epsilon: number, options: LinearOptions): Layer {
  const layer = linear(weights, name, options);
  const normed = weights.has(`${name}.norm.weight`)
    ? sequential(rmsNorm(weights, `${name}.norm`, options.inFeatures, epsilon), layer)
    : layer;
  if (!weights.has(`${name}.weight_scale`)) return normed;
  const scale = weights.tensor(`${name}.weight_scale`, 1);
  return (ops, x) => ops.binary("mul", normed(ops, x), ops.builder.constant(scale));
}

/** Linear layers of one input whose outputs the model uses apart. */
type Projections = (ops: TensorOps, x: Value) => readonly Value[];

/** Linear layers `names` with outputs of these sizes; or one layer `fused` that computes all of them, as Phi-3 stores it. */
function projections(
  weights: Weights,
  parts: readonly (readonly [name: string, size: number])[],
  {
    fused,
    epsilon,
    ...options
  }: Omit<LinearOptions, "outFeatures"> & { readonly fused: string | undefined; readonly epsilon: number },
): Projections {
  if (fused === undefined) {
    const layers = parts.map(([name, size]) => projection(weights, name, epsilon, { ...options, outFeatures: size }));
    return (ops, x) => layers.map((layer) => layer(ops, x));
  }
  const starts = parts.map((_, index) => parts.slice(0, index).reduce((sum, [, size]) => sum + size, 0));
  const total = parts.reduce((sum, [, size]) => sum + size, 0);
  const layer = linear(weights, fused, { ...options, outFeatures: total });
  return (ops, x) => {
    const all = layer(ops, x);
    return parts.map(([, size], index) => ops.slice(all, 2, starts[index] ?? 0, size));
  };
}

function block(weights: Weights, prefix: string, sizes: Sizes, options: FamilyOptions): Block {
  const { width, inner, heads, keyValueHeads, headSize, epsilon } = sizes;
  const { isFused, normOffset } = options;
  const project = projections(
    weights,
    [
      [`${prefix}.self_attn.q_proj`, heads * headSize],
      [`${prefix}.self_attn.k_proj`, keyValueHeads * headSize],
      [`${prefix}.self_attn.v_proj`, keyValueHeads * headSize],
    ],
    {
      fused: isFused ? `${prefix}.self_attn.qkv_proj` : undefined,
      epsilon,
      inFeatures: width,
      bias: options.inputBias,
    },
  );
  const output = projection(weights, `${prefix}.self_attn.o_proj`, epsilon, {
    inFeatures: heads * headSize,
    outFeatures: width,
    bias: options.outputBias,
  });
  const gateAndUp = projections(
    weights,
    [
      [`${prefix}.mlp.gate_proj`, inner],
      [`${prefix}.mlp.up_proj`, inner],
    ],
    {
      fused: isFused ? `${prefix}.mlp.gate_up_proj` : undefined,
      epsilon,
      inFeatures: width,
      bias: options.feedForwardBias,
    },
  );
  const down = projection(weights, `${prefix}.mlp.down_proj`, epsilon, {
    inFeatures: inner,
    outFeatures: width,
    bias: options.feedForwardBias,
  });
  const norm = (name: string): Layer => rmsNorm(weights, `${prefix}.${name}`, width, epsilon, normOffset);
  const [attentionNorm, secondNorm] = [norm("input_layernorm"), norm("post_attention_layernorm")];
  const [afterAttention, feedForwardNorm, afterFeedForward] = options.normalizesOutputs
    ? [secondNorm, norm("pre_feedforward_layernorm"), norm("post_feedforward_layernorm")]
    : [sequential(), secondNorm, sequential()];
  const headNorm = (name: string): Layer =>
    options.normalizesHeads ? rmsNorm(weights, `${prefix}.self_attn.${name}`, headSize, epsilon, normOffset) : sequential();
  const innerNorm = (name: string, size: number): Layer =>
    options.normalizesInner ? rmsNorm(weights, `${prefix}.${name}`, size, epsilon) : sequential();
  const contextNorm = innerNorm("self_attn.attn_sub_norm", heads * headSize);
  const gatedNorm = innerNorm("mlp.ffn_sub_norm", inner);
  const [queryNorm, keyNorm] = [headNorm("q_norm"), headNorm("k_norm")];
  const scale = options.attentionScale ?? 1 / Math.sqrt(headSize);
  return (ops, x, angles, bias, updateCache) => {
    const [query, key, value] = project(ops, attentionNorm(ops, x)) as [Value, Value, Value];
    const current = {
      key: applyRotary(ops, keyNorm(ops, splitHeads(ops, key, keyValueHeads)), angles),
      value: splitHeads(ops, value, keyValueHeads),
    };
    const queries = applyRotary(ops, queryNorm(ops, splitHeads(ops, query, heads)), angles);
    const context = attention(ops, { query: queries, ...updateCache(current), scale, cap: options.attentionCap, bias });
    const attended = ops.binary("add", afterAttention(ops, output(ops, contextNorm(ops, context))), x);
    const [gate, up] = gateAndUp(ops, feedForwardNorm(ops, attended)) as [Value, Value];
    const gated = ops.binary("mul", options.activation(ops, gate), up);
    return ops.binary("add", afterFeedForward(ops, down(ops, gatedNorm(ops, gated))), attended);
  };
}

function decoder(config: Config, weights: Weights, options: FamilyOptions, output: CausalModel["output"]): CausalDecoder {
  const sizes = getSizes(config, options.headSize);
  const { width, keyValueHeads, headSize, epsilon } = sizes;
  const layers = config.positiveInteger("num_hidden_layers");
  const attendsToAll = bidirectional(config, options, output);
  const vocabulary = config.positiveInteger("vocab_size");
  const tokens = tokenEmbedding(weights, "embed_tokens.weight", vocabulary, width);
  const blocks = repeated(layers, (index) => block(weights, `layers.${index}`, sizes, options));
  // After the blocks, whose weights have shown that the head size is that of the file.
  const frequencies = {
    full: configuredFrequencies(config, { headSize, ...options.rotary }),
    sliding:
      options.slidingTheta === undefined
        ? configuredFrequencies(config, { headSize, ...options.rotary, layers: "sliding_attention" })
        : rotaryFrequencies(rotaryPairs(headSize), options.slidingTheta),
  };
  const norm = rmsNorm(weights, "norm", width, epsilon, options.normOffset);
  const isTied = config.boolean("tie_word_embeddings", options.tiesEmbeddings);
  return {
    layers: blocks.length,
    keyValueHeads,
    headSize,
    outputLayer: { matrix: isTied ? "embed_tokens.weight" : "lm_head.weight", width, vocabulary, cap: options.outputCap },
    build: (ops, { ids, mask, positions }, updateCache) => {
      const length = dimensions(ids, 2)[1];
      const getBias = (window: number | undefined): Value =>
        attendsToAll
          ? bidirectionalBias(ops, mask, window === undefined ? length : (options.radius ?? length))
          : causalBias(ops, mask, length, window);
      const context = {
        // made once for all layers of a kind
        full: lazily(() => ({ bias: getBias(undefined), angles: rotaryAngles(ops, positions, frequencies.full) })),
        sliding: lazily(() => ({
          bias: getBias(options.window),
          angles: rotaryAngles(ops, positions, frequencies.sliding),
        })),
      };
      const rows = tokens(ops, ids);
      const embedded = options.embeddingScale === 1 ? rows : ops.binary("mul", rows, options.embeddingScale);
      return norm(
        ops,
        blocks.reduce((x, each, index) => {
          const { angles, bias } = context[options.isSliding(index) ? "sliding" : "full"]();
          return each(ops, x, angles, bias, (current) => updateCache(index, current));
        }, embedded),
      );
    },
  };
}

/**
 * Whether tokens attend to those after them too, as in embedding models that are made of decoders. Throws MODEL_UNSUPPORTED for a model that writes text,
 * and for a window whose sides are not known.
 */
function bidirectional(config: Config, { window, radius }: FamilyOptions, output: CausalModel["output"]): boolean {
  if (!config.boolean("use_bidirectional_attention", false)) return false;
  if (output === "logits") throw config.unsupported("use_bidirectional_attention", "false");
  if (Number.isFinite(window) && radius === undefined)
    throw config.unsupported("use_bidirectional_attention", "no window with it");
  return true;
}

/** A function that computes its result at the first call. */
function lazily<Result>(compute: () => Result): () => Result {
  let result: { readonly value: Result } | undefined;
  return () => (result ??= { value: compute() }).value;
}

/** Stored rotary frequencies, which are computed here, and the output layer when it is tied or the model has no head. */
const ignoredTensors = /rotary_emb\.inv_freq$|^lm_head\.weight$/;

/** The two architectures of a family: base model and language model. */
function family(name: string, optionsOf: FamilyOptionsOf): Architectures {
  return causalArchitectures(
    [name === "Gemma3" ? "Gemma3TextModel" : `${name}Model`, `${name}ForCausalLM`],
    { prefixes: ["model."], ignoredTensors },
    (config, weights, output) => decoder(config, weights, optionsOf(config), output),
  );
}

/** The Llama-like architectures, by Hugging Face class name. */
export const llamaArchitectures: Architectures = Object.assign(
  {},
  ...Object.entries(families).map(([name, optionsOf]) => family(name, optionsOf)),
) as Architectures;
