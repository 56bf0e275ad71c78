// What is measured: models, shapes and inputs. `tolerance`: how far answers may be apart, relative to the largest element; int8 differs by the
// engines' own rounding, half precision by what they compute in. A work with `write` makes its file first; one with `decode` is measured per token.
import { join } from "node:path";
import { sharedPath } from "../measuring/shared-data.mjs";
import { gpt2Bytes, llamaBytes } from "./decoder-files.mjs";
import { halfBits } from "./half.mjs";
import { visionTransformerBytes } from "./vision-transformer-file.mjs";

const vision = sharedPath("vision");

// `models`: a folder with rapidocr/models (the networks of the package rapidocr) and silero_vad/data (those of the package silero-vad), which are not in the shared data.
export const makeWorks = (models) => [
  ...[
    [1, 16],
    [1, 128],
    [32, 128],
  ].flatMap(([batch, tokens]) => [
    miniLm(`MiniLM ${batch}x${tokens} fp32`, "model.onnx", batch, tokens, 1e-4),
    miniLm(`MiniLM ${batch}x${tokens} int8`, "model_quantized.onnx", batch, tokens, 0.1),
  ]),
  {
    name: "SqueezeNet 1x3x224x224 fp16",
    path: `${vision}/SqueezeNet_fp16.onnx`,
    inputs: { data_0: halves([1, 3, 224, 224]) },
    tolerance: 2e-2,
  },
  {
    name: "RFB-320 1x3x240x320",
    path: `${vision}/version-RFB-320_simplified.onnx`,
    inputs: { input: floats([1, 3, 240, 320]) },
    tolerance: 1e-3,
  },
  reader(models, "PP-OCRv6 detector", "PP-OCRv6_det_small.onnx", [1, 3, 480, 640]),
  reader(models, "PP-OCRv6 recogniser", "PP-OCRv6_rec_small.onnx", [1, 3, 48, 320]),
  reader(models, "PP-OCR classifier", "ch_ppocr_mobile_v2.0_cls_mobile.onnx", [1, 3, 48, 192]),
  {
    name: "Silero 32 ms",
    path: join(models, "silero_vad/data/silero_vad_16k_op15.onnx"),
    inputs: {
      input: floats([1, 576]),
      state: { type: "float32", shape: [2, 1, 128], data: new Float32Array(256) },
      sr: { type: "int64", shape: [], data: BigInt64Array.of(16_000n) },
    },
    tolerance: 1e-3,
  },
  {
    name: "ViT-S/16 1x3x224x224 fp32",
    write: visionTransformerBytes,
    inputs: { pixel_values: floats([1, 3, 224, 224]) },
    tolerance: 1e-3,
  },
  decoder("GPT-2 decode 4x768", gpt2Bytes, 12),
  decoder("Llama decode 4x768", llamaBytes, 4),
  decoder("GPT-2 decode 12x768", gpt2Whole, 12),
  prefill("GPT-2 prefill 12x768", gpt2Whole, 12),
  { name: "mnist 1x1x28x28", path: `${vision}/mnist.onnx`, inputs: { Input3: floats([1, 1, 28, 28]) }, tolerance: 1e-3 },
];

function miniLm(name, file, batch, tokens, tolerance) {
  const shape = [batch, tokens];
  const filled = (value) => BigInt64Array.from({ length: batch * tokens }, (_, index) => BigInt(value(index)));
  const inputs = {
    input_ids: { type: "int64", shape, data: filled((index) => 1000 + ((index * 7919) % 20_000)) },
    attention_mask: { type: "int64", shape, data: filled(() => 1) },
    token_type_ids: { type: "int64", shape, data: filled(() => 0) },
  };
  return { name, path: `${sharedPath("all-MiniLM-L6-v2")}/onnx/${file}`, inputs, tolerance, slow: batch > 1 };
}

// A network of the package rapidocr.
function reader(models, name, file, shape) {
  const path = join(models, "rapidocr/models", file);
  return { name: `${name} ${shape.join("x")}`, path, inputs: { x: floats(shape) }, tolerance: 1e-2 };
}

// GPT-2's size: 12 layers of 768, and 50,257 tokens to choose from.
function gpt2Whole() {
  return gpt2Bytes({ layers: 12, classes: 50_257, positions: 1024 });
}

const tokens = (length, seed) => Array.from({ length }, (_, index) => 5 + ((index * 7919 + seed) % 8000));

// One token at a time behind 128 others, with random weights. Models of 4 layers have 8,192 tokens to choose from.
function decoder(name, write, cacheHeads) {
  const decode = { prompt: tokens(128, 1), tokens: tokens(8, 2), capacity: 256, cacheHeads, cacheDepth: 64 };
  return { name: `${name} past 128 fp32`, write, decode, tolerance: 1e-3 };
}

// A prompt of 128 tokens at once, and the logits after its last one.
function prefill(name, write, cacheHeads) {
  const decode = { prompt: tokens(128, 1), tokens: [], capacity: 256, cacheHeads, cacheDepth: 64 };
  return { name: `${name} of 128 fp32`, write, decode, tolerance: 1e-3, slow: true };
}

function floats(shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  return { type: "float32", shape, data: Float32Array.from({ length: count }, (_, index) => Math.sin(index * 0.37)) };
}

function halves(shape) {
  const { data } = floats(shape);
  return { type: "float16", shape, data: Uint16Array.from(data, halfBits) };
}
