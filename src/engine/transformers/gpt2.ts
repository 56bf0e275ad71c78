/** GPT-2: Radford and others, "Language models are unsupervised multitask learners", 2019. */
import type { Value } from "../ir/graph.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import { attention, causalBias, splitHeads } from "../build/nn/attention.ts";
import { type KeyValueCache, causalTransformer, type CausalModel } from "./causal-model.ts";
import type { Config } from "./config.ts";
import { embedding, layerNorm, linearTransposed, repeated, sequential } from "../build/nn/layers.ts";
import type { Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

interface Block {
  build(ops: TensorOps, x: Value, bias: Value, remember: (now: KeyValueCache) => KeyValueCache): Value;
}

function block(config: Config, weights: Weights, index: number): Block {
  const width = config.positiveInteger("n_embd");
  const heads = config.divisorOf("n_head", width);
  const inner = config.positiveInteger("n_inner", 4 * width);
  const epsilon = config.positiveNumber("layer_norm_epsilon", 1e-5);
  const at = `h.${index}`;
  const attentionNorm = layerNorm(weights, `${at}.ln_1`, width, epsilon);
  const queriesKeysValues = linearTransposed(weights, `${at}.attn.c_attn`, { inFeatures: width, outFeatures: 3 * width });
  const output = linearTransposed(weights, `${at}.attn.c_proj`, { inFeatures: width, outFeatures: width });
  const feedForward = sequential(
    layerNorm(weights, `${at}.ln_2`, width, epsilon),
    linearTransposed(weights, `${at}.mlp.c_fc`, { inFeatures: width, outFeatures: inner }),
    config.activation("activation_function", "gelu_new"),
    linearTransposed(weights, `${at}.mlp.c_proj`, { inFeatures: inner, outFeatures: width }),
  );
  const scale = config.boolean("scale_attn_weights", true) ? 1 / Math.sqrt(width / heads) : 1;
  const byLayer = config.boolean("scale_attn_by_inverse_layer_idx", false) ? 1 / (index + 1) : 1;
  return {
    build: (ops, x, bias, remember) => {
      const all = queriesKeysValues(ops, attentionNorm(ops, x));
      const part = (place: number): Value => splitHeads(ops, ops.slice(all, 2, place * width, width), heads);
      const mixed = attention(ops, {
        query: part(0),
        ...remember({ key: part(1), value: part(2) }),
        scale: scale * byLayer,
        bias,
      });
      const attended = ops.binary("add", output(ops, mixed), x);
      return ops.binary("add", feedForward(ops, attended), attended);
    },
  };
}

function gpt2(config: Config, weights: Weights, output: CausalModel["output"]): CausalModel {
  const width = config.positiveInteger("n_embd");
  const keyValueHeads = config.divisorOf("n_head", width);
  const words = config.positiveInteger("vocab_size");
  const word = embedding(weights, "wte.weight", words, width);
  const place = embedding(weights, "wpe.weight", config.positiveInteger("n_positions"), width);
  const blocks = repeated(config.positiveInteger("n_layer"), (index) => block(config, weights, index));
  const norm = layerNorm(weights, "ln_f", width, config.positiveNumber("layer_norm_epsilon", 1e-5));
  const shared = config.boolean("tie_word_embeddings", true) || !weights.has("lm_head.weight");
  const table = output === "logits" ? weights.matrix(shared ? "wte.weight" : "lm_head.weight", width, words) : undefined;
  return {
    layers: blocks.length,
    keyValueHeads,
    headSize: width / keyValueHeads,
    output,
    outputSize: table === undefined ? width : words,
    build: (ops, { ids, mask, positions }, remember) => {
      const bias = causalBias(ops, mask, ids.type.shape[1] ?? 0);
      const embedded = ops.binary("add", word(ops, ids), place(ops, positions));
      const hidden = norm(
        ops,
        blocks.reduce((x, each, index) => each.build(ops, x, bias, (now) => remember(index, now)), embedded),
      );
      return table === undefined ? hidden : ops.add({ kind: "matmul" }, hidden, ops.builder.constant(table));
    },
  };
}

/** The masks that PyTorch keeps beside the weights, and the head where it is not asked for or shared. */
const ignoredTensors = /\.attn\.(bias|masked_bias)$|^lm_head\.weight$/;

export const gpt2Architectures: Architectures = {
  GPT2Model: {
    prefixes: ["transformer."],
    ignoredTensors,
    make: (config, weights) => causalTransformer(gpt2(config, weights, "last_hidden_state")),
  },
  GPT2LMHeadModel: {
    prefixes: ["transformer."],
    ignoredTensors,
    make: (config, weights) => causalTransformer(gpt2(config, weights, "logits")),
  },
};
