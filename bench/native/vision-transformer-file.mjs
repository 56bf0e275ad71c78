// ViT-S/16 (Dosovitskiy et al. 2021, in the sizes of Touvron et al. 2021) as an ONNX file, with random weights: no trained one lies in the shared data.
import { createRandom } from "../measuring/random.mjs";
import { GraphWriter } from "./onnx-bytes.mjs";

const [width, heads, layers, patch, pixels, classes] = [384, 6, 12, 16, 224, 1000];
const depth = width / heads;
const patches = (pixels / patch) ** 2;

// Takes pixel_values [1, 3, 224, 224], gives logits [1, 1000].
export function visionTransformerBytes() {
  const graph = new GraphWriter();
  const random = createRandom(31);
  const weight = (shape, deviation) => {
    const reach = deviation * Math.sqrt(12); // of numbers that are spread evenly
    const count = shape.reduce((product, size) => product * size, 1);
    return graph.weight(
      shape,
      Float32Array.from({ length: count }, () => (random() - 0.5) * reach),
    );
  };
  const linear = (x, k, n) => graph.add("Add", [graph.add("MatMul", [x, weight([k, n], 1 / Math.sqrt(k))]), weight([n], 0.02)]);
  const norm = (x) => {
    const [scale, shift] = [new Float32Array(width).fill(1), new Float32Array(width)].map((data) => graph.weight([width], data));
    return graph.add("LayerNormalization", [x, scale, shift], { axis: -1, epsilon: 1e-6 });
  };
  const split = (x) =>
    graph.add("Transpose", [graph.add("Reshape", [x, graph.integers(0, 0, heads, depth)])], { perm: [0, 2, 1, 3] });
  const filter = weight([width, 3, patch, patch], 1 / Math.sqrt(3 * patch * patch));
  const places = graph.add("Conv", ["pixel_values", filter, weight([width], 0.02)], {
    kernel_shape: [patch, patch],
    strides: [patch, patch],
  });
  const rows = graph.add("Transpose", [graph.add("Reshape", [places, graph.integers(1, width, patches)])], { perm: [0, 2, 1] });
  const all = graph.add("Concat", [weight([1, 1, width], 0.02), rows], { axis: 1 });
  let x = graph.add("Add", [all, weight([1, patches + 1, width], 0.02)]);
  for (let layer = 0; layer < layers; layer += 1) {
    const given = norm(x);
    const [q, k, v] = [0, 1, 2].map(() => split(linear(given, width, width)));
    const products = graph.add("MatMul", [q, graph.add("Transpose", [k], { perm: [0, 1, 3, 2] })]);
    const scores = graph.add("Softmax", [graph.add("Mul", [products, graph.number(1 / Math.sqrt(depth))])], { axis: -1 });
    const context = graph.add("Transpose", [graph.add("MatMul", [scores, v])], { perm: [0, 2, 1, 3] });
    x = graph.add("Add", [linear(graph.add("Reshape", [context, graph.integers(0, 0, width)]), width, width), x]);
    const inner = graph.add("Gelu", [linear(norm(x), width, 4 * width)]);
    x = graph.add("Add", [linear(inner, 4 * width, width), x]);
  }
  const first = graph.add("Gather", [norm(x), graph.weight([], BigInt64Array.of(0n))], { axis: 1 });
  graph.named(
    "Add",
    [graph.add("MatMul", [first, weight([width, classes], 1 / Math.sqrt(width))]), weight([classes], 0.02)],
    ["logits"],
  );
  return graph.bytes([["pixel_values", "float32", [1, 3, pixels, pixels]]], [["logits", "float32", [1, classes]]], 20);
}
