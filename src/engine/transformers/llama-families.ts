/**
 * What differs between the families of decoders with the architecture of Llama (`llama.ts`), and what they read from config.json beside its settings:
 *
 * - Llama: Touvron et al. 2023, https://arxiv.org/abs/2302.13971. hidden_act, attention_bias, mlp_bias.
 * - Mistral: Jiang et al. 2023, https://arxiv.org/abs/2310.06825. Sliding-window attention: sliding_window.
 * - Qwen2: Yang et al. 2024, https://arxiv.org/abs/2407.10671. Biases on the query, key and value projections. use_sliding_window, max_window_layers, layer_types.
 * - Qwen3: Yang et al. 2025, https://arxiv.org/abs/2505.09388. RMSNorm of each query and key head.
 * - Gemma: Gemma Team 2024, https://arxiv.org/abs/2403.08295. Scaled embeddings, RMSNorm weights stored minus 1, GELU in place of SiLU. hidden_activation.
 * - Gemma 2: Gemma Team 2024, https://arxiv.org/abs/2408.00118. RMSNorm of the output of each layer too; every second layer with a window; capped scores and
 *   logits. query_pre_attn_scalar, attn_logit_softcapping, final_logit_softcapping, sliding_window, layer_types.
 * - Gemma 3, text: Gemma Team 2025, https://arxiv.org/abs/2503.19786. RMSNorm of heads in place of caps; five layers of six with a window and a rotary embedding
 *   of their own. sliding_window_pattern, rope_local_base_freq.
 * - EmbeddingGemma (Vera et al. 2025, https://arxiv.org/abs/2509.20354): Gemma 3 that attends to the whole text. use_bidirectional_attention.
 * - BitNet b1.58: Ma et al. 2024, https://arxiv.org/abs/2402.17764. RMSNorm of the inputs of two linear layers, and the square of ReLU.
 * - Phi-3: Abdin et al. 2024, https://arxiv.org/abs/2404.14219. Projections stored as one matrix; part of each head is rotated: partial_rotary_factor.
 */
import { activation } from "../build/nn/activations.ts";
import type { Layer } from "../build/nn/layers.ts";
import type { Config } from "./config.ts";
import type { RotarySettings } from "./rope-scaling.ts";

/** Differences between the families. */
export interface FamilyOptions {
  /** Whether the query, key and value projections have biases. */
  readonly inputBias: boolean;
  /** Whether the output projection of the attention has a bias. */
  readonly outputBias: boolean;
  /** Whether the three linear layers of the feed-forward network have biases. */
  readonly feedForwardBias: boolean;
  /** Whether query, key and value projections are one matrix, and gate and up projections another one. */
  readonly isFused: boolean;
  /** Activation of the gate. */
  readonly activation: Layer;
  /** Number of keys that a query of a sliding layer attends to, its own included. */
  readonly window: number;
  /** Number of tokens on either side of a query that a sliding layer attends to, where attention is not causal. Undefined: not known. */
  readonly radius?: number | undefined;
  /** Whether a layer has sliding-window attention. */
  isSliding(layer: number): boolean;
  /** Whether each query and key head passes an RMSNorm before its rotation. */
  readonly normalizesHeads: boolean;
  /** Whether the outputs of attention and feed-forward network pass an RMSNorm before they are added. */
  readonly normalizesOutputs: boolean;
  /** Whether the inputs of the output projection and of the down projection pass an RMSNorm (BitNet). */
  readonly normalizesInner: boolean;
  /** Head size when config.json does not set `head_dim`. Undefined: the hidden size divided by the number of heads. */
  readonly headSize: number | undefined;
  /** Rotary position embedding. */
  readonly rotary: Omit<RotarySettings, "headSize">;
  /** `rope_theta` of sliding layers without scaling, if they have a rotary embedding of their own that is not in `rope_parameters`. */
  readonly slidingTheta: number | undefined;
  /** Factor of the scores. Undefined: 1 / sqrt(head size). */
  readonly attentionScale: number | undefined;
  /** Bound of the scores. */
  readonly attentionCap: number | undefined;
  /** Bound of the logits. */
  readonly outputCap: number | undefined;
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
  isFused: false,
  activation: activation("silu"),
  window: Number.POSITIVE_INFINITY,
  isSliding: () => false,
  normalizesHeads: false,
  normalizesOutputs: false,
  normalizesInner: false,
  headSize: undefined,
  rotary: {},
  slidingTheta: undefined,
  attentionScale: undefined,
  attentionCap: undefined,
  outputCap: undefined,
  normOffset: 0,
  embeddingScale: 1,
  tiesEmbeddings: false,
};

/** Reads the options of a family. Throws MODEL_UNSUPPORTED and MODEL_INVALID as `Config` does. */
export type FamilyOptionsOf = (config: Config) => FamilyOptions;

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

/** A window on all layers, if the file states one. */
function everywhere(config: Config): Pick<FamilyOptions, "window" | "isSliding"> {
  const window = config.positiveIntegerIfGiven("sliding_window");
  return { window: window ?? Number.POSITIVE_INFINITY, isSliding: () => window !== undefined };
}

/** A window on the layers that `layer_types` names; without it, on those for which `isSliding` is true. */
function onSomeLayers(
  config: Config,
  window: number,
  isSliding: (layer: number) => boolean,
): Pick<FamilyOptions, "window" | "isSliding"> {
  const types = config.stringList("layer_types");
  const other = types.find((type) => type !== "full_attention" && type !== "sliding_attention");
  if (other !== undefined || (types.length > 0 && types.length !== config.positiveInteger("num_hidden_layers")))
    throw config.unsupported("layer_types", "full_attention and sliding_attention, one for each layer");
  return { window, isSliding: types.length === 0 ? isSliding : (layer) => types[layer] === "sliding_attention" };
}

const mistral: FamilyOptionsOf = (config) => ({
  ...defaultOptions,
  ...everywhere(config),
  activation: config.activation("hidden_act", "silu"),
});

/** The window of Qwen2 and Qwen3: on the layers from max_window_layers on. */
function qwenWindow(config: Config): Pick<FamilyOptions, "window" | "isSliding"> {
  if (!config.boolean("use_sliding_window", false)) return defaultOptions;
  const first = config.integer("max_window_layers", 28);
  return onSomeLayers(config, config.positiveInteger("sliding_window", 4096), (layer) => layer >= first);
}

const qwen2: FamilyOptionsOf = (config) => {
  const { window, isSliding } = qwenWindow(config);
  return { ...defaultOptions, window, isSliding, inputBias: true, activation: config.activation("hidden_act", "silu") };
};

const qwen3: FamilyOptionsOf = (config) => {
  const bias = config.boolean("attention_bias", false);
  const { window, isSliding } = qwenWindow(config);
  return {
    ...defaultOptions,
    window,
    isSliding,
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

const gemma2: FamilyOptionsOf = (config) => ({
  ...gemma(config),
  ...onSomeLayers(config, config.positiveInteger("sliding_window", 4096), (layer) => layer % 2 === 0),
  normalizesOutputs: true,
  headSize: 256,
  attentionScale: config.positiveNumber("query_pre_attn_scalar", 256) ** -0.5,
  // Absent is the class's default; null switches a cap off.
  attentionCap: config.states("attn_logit_softcapping") ? config.positiveNumberIfGiven("attn_logit_softcapping") : 50,
  outputCap: config.states("final_logit_softcapping") ? config.positiveNumberIfGiven("final_logit_softcapping") : 30,
});

const gemma3: FamilyOptionsOf = (config) => {
  const pattern = config.positiveInteger(
    config.has("sliding_window_pattern") ? "sliding_window_pattern" : "_sliding_window_pattern",
    6,
  );
  const local = config.positiveNumber("rope_local_base_freq", 10_000);
  const window = config.positiveInteger("sliding_window", 4096);
  return {
    ...gemma2(config),
    ...onSomeLayers(config, window, (layer) => (layer + 1) % pattern !== 0),
    radius: Math.floor(window / 2),
    normalizesHeads: true,
    attentionCap: config.positiveNumberIfGiven("attn_logit_softcapping"),
    outputCap: config.positiveNumberIfGiven("final_logit_softcapping"),
    rotary: { theta: 1_000_000 },
    // Recent files state both embeddings in rope_parameters.
    slidingTheta: config.has("rope_parameters") ? undefined : local,
  };
};

const bitNet: FamilyOptionsOf = (config) => {
  const bias = config.boolean("attention_bias", false);
  return {
    ...defaultOptions,
    inputBias: bias,
    outputBias: bias,
    normalizesInner: true,
    activation: config.activation("hidden_act", "relu2"),
    rotary: { theta: 500_000 },
  };
};

const phi3: FamilyOptionsOf = (config) => ({
  ...defaultOptions,
  ...everywhere(config),
  inputBias: config.boolean("attention_bias", false),
  isFused: true,
  rotary: { isPartial: true },
  activation: config.activation("hidden_act", "silu"),
});

/** The families by the beginning of their class names. */
export const families: Readonly<Record<string, FamilyOptionsOf>> = {
  Llama: llama,
  Mistral: mistral,
  Qwen2: qwen2,
  Qwen3: qwen3,
  Gemma: gemma,
  Gemma2: gemma2,
  Gemma3: gemma3,
  BitNet: bitNet,
  Phi3: phi3,
};
