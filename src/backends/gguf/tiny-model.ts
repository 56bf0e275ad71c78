/**
 * A Llama of one layer with made-up weights, by which a device is tested: its file is written, loaded and asked for the next tokens. The tokens that it
 * must give were computed by the engine of this package from the same file; a test computes them again.
 */
import type { GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import { ggufParts, type GgufTensorSource } from "../../formats/gguf/write-gguf.ts";

const width = 64;
const inner = 96;
const vocabulary = 272;

/** Tokens that the model reads. */
export const tinyPrompt: readonly number[] = [1, 17, 200, 33, 5];
/** The tokens that follow with the highest logit each. */
export const tinyContinuation: readonly number[] = [193, 250, 238, 170];

const uint32 = (value: number): GgufValue => ({ type: "uint32", value });
const text = (value: string): GgufValue => ({ type: "string", value, bytes: value.length });
const list = (of: string, items: readonly (number | string)[]): GgufValue => ({ type: "array", of, length: items.length, items });

const tokens = Array.from({ length: vocabulary }, (_, id) => {
  if (id < 3) return ["<unk>", "<s>", "</s>"][id] ?? "";
  return id < 259 ? `<0x${(id - 3).toString(16).toUpperCase().padStart(2, "0")}>` : `\u2581w${id}`;
});

const metadata: ReadonlyMap<string, GgufValue> = new Map([
  ["general.architecture", text("llama")],
  ["general.name", text("inferyard self-test")],
  ["llama.context_length", uint32(64)],
  ["llama.embedding_length", uint32(width)],
  ["llama.block_count", uint32(1)],
  ["llama.feed_forward_length", uint32(inner)],
  ["llama.attention.head_count", uint32(4)],
  ["llama.attention.head_count_kv", uint32(2)],
  ["llama.attention.layer_norm_rms_epsilon", { type: "float32", value: 1e-5 }],
  ["llama.rope.dimension_count", uint32(16)],
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

const shapes: readonly (readonly [name: string, ...shape: readonly number[]])[] = [
  ["token_embd.weight", width, vocabulary],
  ["blk.0.attn_norm.weight", width],
  ["blk.0.attn_q.weight", width, width],
  ["blk.0.attn_k.weight", width, width / 2],
  ["blk.0.attn_v.weight", width, width / 2],
  ["blk.0.attn_output.weight", width, width],
  ["blk.0.ffn_norm.weight", width],
  ["blk.0.ffn_gate.weight", width, inner],
  ["blk.0.ffn_up.weight", width, inner],
  ["blk.0.ffn_down.weight", inner, width],
  ["output_norm.weight", width],
  ["output.weight", width, vocabulary],
];

/** The bytes of the model's file. Always the same. */
export function tinyModel(): Uint8Array {
  let state = 12_345;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  const tensors = shapes.map(([name, ...shape]): GgufTensorSource => {
    const isNorm = name.includes("norm");
    const elements = shape.reduce((product, size) => product * size, 1);
    const data = Float32Array.from({ length: elements }, () => (isNorm ? 1 : random() / 2));
    return { name, type: "F32", shape, bytes: 4 * elements, read: () => new Uint8Array(data.buffer) };
  });
  return Buffer.concat([...ggufParts(metadata, tensors)]);
}
