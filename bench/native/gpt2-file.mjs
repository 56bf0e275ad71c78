// A model of GPT-2's size (124 million weights, 12 layers of 768, 50,257 tokens) with random weights, as safetensors: config.json and the file's bytes.
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { createRandom } from "../measuring/random.mjs";

export const config = {
  architectures: ["GPT2LMHeadModel"],
  model_type: "gpt2",
  n_embd: 768,
  n_layer: 12,
  n_head: 12,
  n_positions: 2048, // twice GPT-2's, so that 1,024 tokens can be the past
  vocab_size: 50_257,
  layer_norm_epsilon: 1e-5,
  activation_function: "gelu_new",
  tie_word_embeddings: true,
};

export async function writeGpt2(path) {
  const { n_embd: width, n_layer: layers, n_positions: positions, vocab_size: vocabulary } = config;
  const tensors = [
    ["wte.weight", [vocabulary, width], 0.02],
    ["wpe.weight", [positions, width], 0.02],
    ...Array.from({ length: layers }, (_, layer) => {
      const at = (name, shape, deviation) => [`h.${layer}.${name}`, shape, deviation];
      const linear = (name, k, n) => [at(`${name}.weight`, [k, n], 1 / Math.sqrt(k)), at(`${name}.bias`, [n], 0.02)];
      const norm = (name) => [at(`${name}.weight`, [width], 1), at(`${name}.bias`, [width], 0.02)];
      return [
        ...norm("ln_1"),
        ...linear("attn.c_attn", width, 3 * width),
        ...linear("attn.c_proj", width, width),
        ...norm("ln_2"),
        ...linear("mlp.c_fc", width, 4 * width),
        ...linear("mlp.c_proj", 4 * width, width),
      ];
    }).flat(),
    ["ln_f.weight", [width], 1],
    ["ln_f.bias", [width], 0.02],
  ];
  const header = {};
  let offset = 0;
  for (const [name, shape] of tensors) {
    const end = offset + 4 * shape.reduce((product, size) => product * size, 1);
    header[name] = { dtype: "F32", shape, data_offsets: [offset, end] };
    offset = end;
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, " ")]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  const file = createWriteStream(path);
  file.write(Buffer.concat([length, padded]));
  const random = createRandom(17);
  for (const [name, , deviation] of tensors) {
    const [from, to] = header[name].data_offsets;
    const reach = deviation * Math.sqrt(12); // of numbers that are spread evenly
    const data = Float32Array.from({ length: (to - from) / 4 }, () => (random() - 0.5) * reach);
    if (!file.write(new Uint8Array(data.buffer))) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
  return 8 + padded.length + offset;
}
