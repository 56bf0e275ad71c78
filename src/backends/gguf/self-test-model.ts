/**
 * The model with which an engine for GGUF files is tested before it runs a user's model: a small decoder with random weights of the user model's ggml
 * types, in an architecture with the same rotary position embedding.
 */
import { decodeTensor } from "../../formats/gguf/blocks/index.ts";
import type { GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import type { GgufModel } from "../../formats/gguf/models/read-model.ts";
import { ggufParts, type GgufTensorSource } from "../../formats/gguf/write-gguf.ts";
import { isSelfTestType, randomNumbers, randomTensor } from "./self-test-weights.ts";

/**
 * Architectures of the test model. "qwen2": rotary embedding pairs the two halves of a head, and projections have biases. "qwen3": additionally
 * normalizes queries and keys of each head.
 */
export type SelfTestArchitecture = "llama" | "qwen2" | "qwen3";

/** Names of the weight matrices of one layer, then of the matrices outside the layers. */
export const layerMatrices = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"] as const;
export const modelMatrices = ["token_embd", "output"] as const;
type MatrixName = (typeof layerMatrices)[number] | (typeof modelMatrices)[number];

/** Specification of a test model. */
export interface SelfTestKind {
  readonly architecture: SelfTestArchitecture;
  /** ggml types of each matrix by layer: the type for layer 0, for layer 1, and so on. Further layers use the last type. */
  readonly types: Readonly<Record<MatrixName, readonly string[]>>;
}

/** Dimensions of the test model. Rows of all matrices consist of whole blocks of 256 elements. */
export const selfTestSizes = {
  width: 256,
  inner: 256,
  heads: 4,
  cachedHeads: 2,
  headSize: 64,
  vocabulary: 272,
  context: 64,
  epsilon: 1e-5,
  frequencyBase: 10_000,
} as const;

const maxLayers = 3;

/** A test model: its GGUF file, and its weights in single precision by tensor name. */
export interface SelfTestModel {
  readonly kind: SelfTestKind;
  readonly layers: number;
  readonly file: Uint8Array;
  readonly weights: ReadonlyMap<string, Float32Array>;
}

/** Specification for tests without a user's model: all ggml types that every release of llama.cpp since 2023 supports. */
export const usualSelfTestKind: SelfTestKind = {
  architecture: "llama",
  types: {
    attn_q: ["Q4_K", "Q8_0"],
    attn_k: ["Q5_K", "Q4_0"],
    attn_v: ["Q6_K", "F16"],
    attn_output: ["Q4_K", "Q4_1"],
    ffn_gate: ["Q2_K", "Q5_0"],
    ffn_up: ["Q3_K", "Q5_1"],
    ffn_down: ["Q6_K", "F32"],
    token_embd: ["Q4_K"],
    output: ["Q6_K"],
  },
};

/**
 * Specification of the test model for a user's model: similar architecture and the same ggml types. Types for which no random weights can be
 * generated are left out.
 */
export function getKind({ architecture, tensors }: Pick<GgufModel, "architecture" | "tensors">): SelfTestKind {
  const names = [...tensors.keys()];
  const getTypes = (pattern: RegExp): readonly string[] => {
    const found = names.filter((name) => pattern.test(name)).map((name) => tensors.get(name)?.type ?? "");
    return [...new Set(found)].filter(isSelfTestType).toSorted();
  };
  const main = getTypes(/^blk\.\d+\.(?:attn|ffn)_\w+\.weight$/)
    .filter((type) => type !== "F32")
    .slice(0, 1);
  const matrix = (...patterns: readonly RegExp[]): readonly string[] => {
    const found = patterns.map(getTypes).find((types) => types.length > 0) ?? main;
    return found.length === 0 ? ["F32"] : found;
  };
  const ofLayer = (name: string, fused: string): readonly string[] =>
    matrix(new RegExp(`^blk\\.\\d+\\.${name}\\.weight$`), new RegExp(`^blk\\.\\d+\\.${fused}\\.weight$`));
  return {
    architecture: architectureFor(architecture, names),
    types: {
      attn_q: ofLayer("attn_q", "attn_qkv"),
      attn_k: ofLayer("attn_k", "attn_qkv"),
      attn_v: ofLayer("attn_v", "attn_qkv"),
      attn_output: ofLayer("attn_output", "attn_out"),
      ffn_gate: ofLayer("ffn_gate", "ffn_gate_exps"),
      ffn_up: ofLayer("ffn_up", "ffn_up_exps"),
      ffn_down: ofLayer("ffn_down", "ffn_down_exps"),
      token_embd: matrix(/^token_embd\.weight$/),
      output: matrix(/^output\.weight$/, /^token_embd\.weight$/),
    },
  };
}

/**
 * Architectures whose rotary embedding pairs neighbouring elements, as in GGUF files of Llama (`llama_rope_type` in llama-model.cpp). All other
 * architectures pair the two halves of a head.
 */
const rotatesNeighbours =
  /^(?:llama|llama4|deci|baichuan|starcoder|internlm2|minicpm|xverse|command-r|cohere2|olmo|arctic|deepseek|chatglm|granite|chameleon|bitnet|mistral)/;

function architectureFor(architecture: string, names: readonly string[]): SelfTestArchitecture {
  if (rotatesNeighbours.test(architecture)) return "llama";
  return names.some((name) => name.includes("attn_q_norm")) ? "qwen3" : "qwen2";
}

/** A specification as text; the key under which a passed test is recorded. */
export function kindText({ architecture, types }: SelfTestKind): string {
  return `${architecture} ${Object.entries(types)
    .map(([name, each]) => `${name}=${each.join("/")}`)
    .join(" ")}`;
}

/** All ggml types of a specification, as text for messages. */
export function typesText({ types }: SelfTestKind): string {
  return [...new Set(Object.values(types).flat())].toSorted().join(", ");
}

/** Generates the test model. Deterministic: equal specifications give equal models. */
export function makeModel(kind: SelfTestKind): SelfTestModel {
  const { width, inner, heads, cachedHeads, headSize, vocabulary } = selfTestSizes;
  const { architecture, types } = kind;
  const layers = Math.min(maxLayers, Math.max(...layerMatrices.map((name) => types[name].length)));
  const random = randomNumbers(12_345);
  const weights = new Map<string, Float32Array>();
  const tensors: GgufTensorSource[] = [];
  const add = (name: string, type: string, shape: readonly number[], bytes: Uint8Array): void => {
    const elements = shape.reduce((product, size) => product * size, 1);
    weights.set(name, decodeTensor(type, bytes, elements));
    tensors.push({ name, type, shape, bytes: bytes.length, read: () => bytes });
  };
  const matrix = (name: string, type: string, from: number, to: number, size = 1.5 / Math.sqrt(from)): void =>
    add(`${name}.weight`, type, [from, to], randomTensor(type, from * to, size, random));
  /** Adds a vector tensor with random elements around `mean`. */
  const vector = (name: string, length: number, mean: number): void => {
    const values = Float32Array.from({ length }, () => mean + random());
    add(name, "F32", [length], new Uint8Array(values.buffer));
  };
  const getType = (name: MatrixName, layer: number): string => types[name][layer] ?? types[name].at(-1) ?? "F32";
  const shapes = {
    attn_q: [width, heads * headSize],
    attn_k: [width, cachedHeads * headSize],
    attn_v: [width, cachedHeads * headSize],
    attn_output: [heads * headSize, width],
    ffn_gate: [width, inner],
    ffn_up: [width, inner],
    ffn_down: [inner, width],
  } as const;
  matrix("token_embd", getType("token_embd", 0), width, vocabulary, 1);
  for (let layer = 0; layer < layers; layer += 1) {
    const prefix = `blk.${layer}.`;
    vector(`${prefix}attn_norm.weight`, width, 1);
    vector(`${prefix}ffn_norm.weight`, width, 1);
    for (const name of layerMatrices) matrix(`${prefix}${name}`, getType(name, layer), shapes[name][0], shapes[name][1]);
    if (architecture === "qwen2")
      for (const name of ["attn_q", "attn_k", "attn_v"] as const) vector(`${prefix}${name}.bias`, shapes[name][1], 0);
    if (architecture === "qwen3")
      for (const name of ["attn_q_norm", "attn_k_norm"]) vector(`${prefix}${name}.weight`, headSize, 1);
  }
  vector("output_norm.weight", width, 1);
  matrix("output", getType("output", 0), width, vocabulary);
  return { kind, layers, weights, file: Buffer.concat([...ggufParts(metadata(architecture, layers), tensors)]) };
}

const uint32 = (value: number): GgufValue => ({ type: "uint32", value });
const float32 = (value: number): GgufValue => ({ type: "float32", value });
const text = (value: string): GgufValue => ({ type: "string", value, bytes: value.length });
const list = (of: string, items: readonly (number | string)[]): GgufValue => ({ type: "array", of, length: items.length, items });

function metadata(architecture: SelfTestArchitecture, layers: number): ReadonlyMap<string, GgufValue> {
  const ids = Array.from({ length: selfTestSizes.vocabulary }, (_, id) => id);
  const control = ["<unk>", "<s>", "</s>"];
  const getToken = (id: number): string =>
    control[id] ?? (id < 259 ? `<0x${(id - 3).toString(16).toUpperCase().padStart(2, "0")}>` : `\u2581w${id}`);
  const settings: readonly (readonly [string, GgufValue])[] = [
    ["context_length", uint32(selfTestSizes.context)],
    ["embedding_length", uint32(selfTestSizes.width)],
    ["block_count", uint32(layers)],
    ["feed_forward_length", uint32(selfTestSizes.inner)],
    ["attention.head_count", uint32(selfTestSizes.heads)],
    ["attention.head_count_kv", uint32(selfTestSizes.cachedHeads)],
    ["attention.key_length", uint32(selfTestSizes.headSize)],
    ["attention.value_length", uint32(selfTestSizes.headSize)],
    ["attention.layer_norm_rms_epsilon", float32(selfTestSizes.epsilon)],
    ["rope.dimension_count", uint32(selfTestSizes.headSize)],
    ["rope.freq_base", float32(selfTestSizes.frequencyBase)],
  ];
  return new Map([
    ["general.architecture", text(architecture)],
    ["general.name", text("inferyard self-test")],
    ...settings.map(([name, value]) => [`${architecture}.${name}`, value] as const),
    ["tokenizer.ggml.model", text("llama")],
    ["tokenizer.ggml.tokens", list("string", ids.map(getToken))],
    [
      "tokenizer.ggml.scores",
      list(
        "float32",
        ids.map((id) => -id),
      ),
    ],
    [
      "tokenizer.ggml.token_type",
      list(
        "int32",
        ids.map((id) => (id === 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1)),
      ),
    ],
    ["tokenizer.ggml.bos_token_id", uint32(1)],
    ["tokenizer.ggml.eos_token_id", uint32(2)],
    ["tokenizer.ggml.unknown_token_id", uint32(0)],
  ]);
}
