// A model of the shape of a small Llama with random weights, about 110 million of them: a GGUF file in a given type, or safetensors in float32.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { encodeTensor } from "../../src/formats/gguf/blocks/encode.ts";
import { packedBlockBytes, blockLayout } from "../../src/engine/codegen/wasm/kernels/blocks/block-layout.ts";
import { ggmlTensorBytes } from "../../src/formats/gguf/ggml-types.ts";
import { ggufParts } from "../../src/formats/gguf/write-gguf.ts";
import { writeSafetensors } from "../../src/formats/safetensors/write-safetensors.ts";
import { multipliedFormats } from "../../src/kernels/registry.ts";

const [layers, width, inner, vocabulary, context] = [12, 768, 2048, 16_000, 2048];
/** Elements that are encoded once and repeated, so that a large model is made quickly. A multiple of the rows' lengths and of all blocks. */
const patternElements = 768 * 2048;

const uint32 = (value) => ({ type: "uint32", value });
const text = (value) => ({ type: "string", value, bytes: value.length });
const list = (of, items) => ({ type: "array", of, length: items.length, items });

export const parameters = layers * (4 * width * width + 3 * width * inner) + 2 * vocabulary * width;

/** Bytes of weights that `native` reads for one token: all matrices but the embeddings, as it packs them. */
export function decodedBytes(type) {
  const matrixBytes = (of, k, n) => {
    const format = multipliedFormats[{ int8: "int8 of 32", int4: "int4 of 32" }[of] ?? of];
    return format === undefined ? 4 * k * n : packedBlockBytes(blockLayout(format), k, n);
  };
  const perLayer = 4 * matrixBytes(type, width, width) + 2 * matrixBytes(type, width, inner) + matrixBytes(type, inner, width);
  return layers * perLayer + matrixBytes(isEndQuantized(type) ? "Q8_0" : type, width, vocabulary);
}

/** Whether the first and the last matrix have another type. */
function isEndQuantized(type) {
  return /^(TQ|I2)/.test(type);
}

/** Values as `encodeTensor` writes them, and in Q6_K: a scale for each group of 16, in steps of the 127th part of the largest one. */
function encodeAny(type, values) {
  if (type !== "Q6_K") return encodeTensor(type, values);
  const [elements, bytes, groupElements] = [256, 210, 16];
  const target = new Uint8Array((values.length / elements) * bytes);
  for (let block = 0; block < values.length / elements; block += 1) {
    const own = values.subarray(block * elements, (block + 1) * elements);
    const written = target.subarray(block * bytes, (block + 1) * bytes);
    const groups = Array.from({ length: elements / groupElements }, (_, group) => {
      const part = own.subarray(group * groupElements, (group + 1) * groupElements);
      return part.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) / 31;
    });
    const half = encodeTensor("F16", Float32Array.of(Math.max(...groups) / 127));
    written.set(half, 208);
    const scale = Math.max(...groups) / 127 || 1;
    own.forEach((value, index) => {
      const group = Math.floor(index / groupElements);
      const factor = Math.round(groups[group] / scale);
      written[192 + group] = factor;
      const code = Math.max(-32, Math.min(31, Math.round(value / (factor * scale || 1)))) + 32;
      const part = index >> 7;
      written[part * 64 + (index & 63)] |= (code & 15) << (index & 64 ? 4 : 0);
      written[128 + part * 32 + (index & 31)] |= (code >> 4) << (2 * ((index >> 5) & 3));
    });
  }
  return target;
}

/** Writes the model to `path`. Vectors are in single precision; of I2_S and TQ2_0 the ends are Q8_0, as `inferyard quantize` has it. `encode`: of types that Inferyard does not write. */
export function writeRandomModel(path, type, encode = encodeAny) {
  const patterns = new Map();
  const bytesOf = (name, elements, of) => {
    const scale = name.includes("norm") ? 1 : 0.02;
    if (of === "F32") return new Uint8Array(Float32Array.from({ length: elements }, () => scale).buffer);
    if (!patterns.has(of)) patterns.set(of, (of === type ? encode : encodeTensor)(of, randomWeights(patternElements)));
    const pattern = patterns.get(of);
    if (of === "I2_S") return repeatedI2S(pattern, elements);
    const bytes = new Uint8Array(ggmlTensorBytes(of, elements));
    for (let done = 0; done < bytes.length; done += pattern.length)
      bytes.set(pattern.subarray(0, Math.min(pattern.length, bytes.length - done)), done);
    return bytes;
  };
  const tensor = (name, ...shape) => {
    const elements = shape.reduce((product, size) => product * size, 1);
    const isEnd = /^(token_embd|output)\.weight$/.test(name);
    const of = shape.length === 1 ? "F32" : isEnd && isEndQuantized(type) ? "Q8_0" : type;
    return { name, type: of, shape, bytes: ggmlTensorBytes(of, elements), read: () => bytesOf(name, elements, of) };
  };
  const tensors = [
    tensor("token_embd.weight", width, vocabulary),
    ...Array.from({ length: layers }, (_, layer) => [
      tensor(`blk.${layer}.attn_norm.weight`, width),
      ...["q", "k", "v", "output"].map((part) => tensor(`blk.${layer}.attn_${part}.weight`, width, width)),
      tensor(`blk.${layer}.ffn_norm.weight`, width),
      tensor(`blk.${layer}.ffn_gate.weight`, width, inner),
      tensor(`blk.${layer}.ffn_up.weight`, width, inner),
      tensor(`blk.${layer}.ffn_down.weight`, inner, width),
    ]).flat(),
    tensor("output_norm.weight", width),
    tensor("output.weight", width, vocabulary),
  ];
  const file = openSync(path, "w");
  for (const part of ggufParts(metadata(), tensors)) writeSync(file, part);
  closeSync(file);
}

/** Writes the model as a folder with config.json and safetensors in float32. */
export async function writeRandomFolder(folder) {
  const pattern = randomWeights(inner * vocabulary);
  const tensor = (name, ...shape) => {
    const elements = shape.reduce((product, size) => product * size, 1);
    const data = shape.length === 1 ? new Float32Array(elements).fill(1) : pattern.subarray(0, elements);
    return [name, { dataType: "float32", shape, data }];
  };
  const layer = (index) => {
    const own = `model.layers.${index}`;
    return [
      tensor(`${own}.input_layernorm.weight`, width),
      ...["q", "k", "v", "o"].map((part) => tensor(`${own}.self_attn.${part}_proj.weight`, width, width)),
      tensor(`${own}.post_attention_layernorm.weight`, width),
      tensor(`${own}.mlp.gate_proj.weight`, inner, width),
      tensor(`${own}.mlp.up_proj.weight`, inner, width),
      tensor(`${own}.mlp.down_proj.weight`, width, inner),
    ];
  };
  const tensors = [
    tensor("model.embed_tokens.weight", vocabulary, width),
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
    tensor("model.norm.weight", width),
    tensor("lm_head.weight", vocabulary, width),
  ];
  const config = {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    hidden_size: width,
    intermediate_size: inner,
    max_position_embeddings: context,
    num_attention_heads: 12,
    num_hidden_layers: layers,
    num_key_value_heads: 12,
    hidden_act: "silu",
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    tie_word_embeddings: false,
    vocab_size: vocabulary,
    bos_token_id: 1,
    eos_token_id: 2,
  };
  mkdirSync(folder);
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  await writeSafetensors(join(folder, "model.safetensors"), Object.fromEntries(tensors));
}

function metadata() {
  const tokens = Array.from({ length: vocabulary }, (_, id) =>
    id < 3 ? ["<unk>", "<s>", "</s>"][id] : id < 259 ? byteToken(id - 3) : `\u2581w${id}`,
  );
  return new Map([
    ["general.architecture", text("llama")],
    ["llama.context_length", uint32(context)],
    ["llama.embedding_length", uint32(width)],
    ["llama.block_count", uint32(layers)],
    ["llama.feed_forward_length", uint32(inner)],
    ["llama.attention.head_count", uint32(12)],
    ["llama.attention.head_count_kv", uint32(12)],
    ["llama.attention.layer_norm_rms_epsilon", { type: "float32", value: 1e-5 }],
    ["llama.rope.dimension_count", uint32(64)],
    ["tokenizer.ggml.model", text("llama")],
    ["tokenizer.ggml.tokens", list("string", tokens)],
    [
      "tokenizer.ggml.scores",
      list(
        "float32",
        tokens.map((_, id) => -id),
      ),
    ],
    [
      "tokenizer.ggml.token_type",
      list(
        "int32",
        tokens.map((_, id) => (id === 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1)),
      ),
    ],
    ["tokenizer.ggml.bos_token_id", uint32(1)],
    ["tokenizer.ggml.eos_token_id", uint32(2)],
    ["tokenizer.ggml.unknown_token_id", uint32(0)],
  ]);
}

function byteToken(byte) {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
}

function randomWeights(count) {
  let state = 1;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 32 - 0.5) * 0.07;
  });
}

function repeatedI2S(pattern, elements) {
  const bytes = new Uint8Array(ggmlTensorBytes("I2_S", elements));
  const codes = pattern.subarray(0, pattern.length - 32);
  for (let done = 0; done < elements / 4; done += codes.length)
    bytes.set(codes.subarray(0, Math.min(codes.length, elements / 4 - done)), done);
  bytes.set(pattern.subarray(pattern.length - 32), elements / 4);
  return bytes;
}
