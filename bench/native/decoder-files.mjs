// Decoders with a cache, in the layout of Optimum's exports, with random weights: no trained one of a size that matters lies in the shared data.
import { createRandom } from "../measuring/random.mjs";
import { GraphWriter } from "./onnx-bytes.mjs";

const sizes = { layers: 4, classes: 8192, positions: 1024 };
const width = 768;
const heads = 12;
const depth = width / heads;

// GPT-2's layers (12 in the smallest, with 50,257 tokens).
export function gpt2Bytes({ layers, classes, positions } = sizes) {
  const { graph, weight, linear } = start(101);
  const norm = (x) => {
    const [scale, shift] = [new Float32Array(width).fill(1), new Float32Array(width)].map((data) => graph.weight([width], data));
    return graph.add("LayerNormalization", [x, scale, shift], { axis: -1, epsilon: 1e-5 });
  };
  const biased = (x, k, n) => graph.add("Add", [linear(x, k, n), weight([n], 0.02)]);
  const tokens = graph.add("Gather", [weight([classes, width], 0.5), "input_ids"]);
  let x = graph.add("Add", [tokens, graph.add("Gather", [weight([positions, width], 0.5), "position_ids"])]);
  const mask = causalMask(graph);
  for (let layer = 0; layer < layers; layer += 1) {
    const qkv = biased(norm(x), width, 3 * width);
    const [q, k, v] = graph.add("Split", [qkv], { axis: 2, num_outputs: 3 }, 3).map((part) => split(graph, part, heads));
    const context = attended(graph, layer, { q, k, v, mask });
    x = graph.add("Add", [biased(context, width, width), x]);
    const inner = graph.add("Gelu", [biased(norm(x), width, 4 * width)], { approximate: "tanh" });
    x = graph.add("Add", [biased(inner, 4 * width, width), x]);
  }
  graph.named("MatMul", [norm(x), weight([width, classes], 1 / Math.sqrt(width))], ["logits"]);
  return written(graph, heads, { layers, classes });
}

// Llama's layers: rotary positions, RMS norms, gated feed-forward, four heads of keys and values for twelve of queries.
export function llamaBytes() {
  const { layers, classes } = sizes;
  const { graph, weight, linear } = start(207);
  const [shared, inner] = [4, 2048];
  const norm = (x) => {
    const squares = graph.add("ReduceMean", [graph.add("Pow", [x, graph.number(2)]), graph.integers(-1)]);
    const root = graph.add("Sqrt", [graph.add("Add", [squares, graph.number(1e-5)])]);
    const scaled = graph.add("Mul", [x, graph.add("Div", [graph.number(1), root])]);
    return graph.add("Mul", [graph.weight([width], new Float32Array(width).fill(1)), scaled]);
  };
  const places = graph.add("Cast", [graph.add("Unsqueeze", ["position_ids", graph.integers(2)])], { to: 1 });
  const speeds = Float32Array.from({ length: depth }, (_, at) => 10_000 ** (-(at % (depth / 2)) / (depth / 2)));
  const angles = graph.add("Unsqueeze", [graph.add("Mul", [places, graph.weight([depth], speeds)]), graph.integers(1)]);
  const [cosines, sines] = [graph.add("Cos", [angles]), graph.add("Sin", [angles])];
  const turned = (x) => {
    const [low, high] = graph.add("Split", [x], { axis: 3, num_outputs: 2 }, 2);
    const crossed = graph.add("Concat", [graph.add("Neg", [high]), low], { axis: 3 });
    return graph.add("Add", [graph.add("Mul", [x, cosines]), graph.add("Mul", [crossed, sines])]);
  };
  let x = graph.add("Gather", [weight([classes, width], 0.5), "input_ids"]);
  const mask = causalMask(graph);
  for (let layer = 0; layer < layers; layer += 1) {
    const given = norm(x);
    const q = turned(split(graph, linear(given, width, width), heads));
    const k = turned(split(graph, linear(given, width, shared * depth), shared));
    const v = split(graph, linear(given, width, shared * depth), shared);
    x = graph.add("Add", [linear(attended(graph, layer, { q, k, v, mask, shared }), width, width), x]);
    const normed = norm(x);
    const gate = linear(normed, width, inner);
    const gated = graph.add("Mul", [graph.add("Mul", [gate, graph.add("Sigmoid", [gate])]), linear(normed, width, inner)]);
    x = graph.add("Add", [linear(gated, inner, width), x]);
  }
  graph.named("MatMul", [norm(x), weight([width, classes], 1 / Math.sqrt(width))], ["logits"]);
  return written(graph, shared, { layers, classes });
}

function start(seed) {
  const graph = new GraphWriter();
  const random = createRandom(seed);
  const weight = (shape, deviation) => {
    const count = shape.reduce((product, size) => product * size, 1);
    const reach = deviation * Math.sqrt(12); // of numbers that are spread evenly
    return graph.weight(
      shape,
      Float32Array.from({ length: count }, () => (random() - 0.5) * reach),
    );
  };
  return { graph, weight, linear: (x, k, n) => graph.add("MatMul", [x, weight([k, n], 1 / Math.sqrt(k))]) };
}

// [1, L, heads * depth] becomes [1, heads, L, depth].
function split(graph, x, count) {
  const apart = graph.add("Reshape", [x, graph.integers(0, 0, count, depth)]);
  return graph.add("Transpose", [apart], { perm: [0, 2, 1, 3] });
}

// 0 where a query sees a key, else as good as minus infinity: [1, 1, new, past + new].
function causalMask(graph) {
  const length = (name) => graph.add("Squeeze", [graph.add("Shape", [name], { start: 1 })]);
  const [zero, one] = [0n, 1n].map((each) => graph.weight([], BigInt64Array.of(each)));
  const all = length("attention_mask");
  const past = graph.add("Sub", [all, length("input_ids")]);
  const rows = graph.add("Unsqueeze", [graph.add("Range", [past, all, one]), graph.integers(1)]);
  const later = graph.add("Greater", [graph.add("Range", [zero, all, one]), rows]);
  const hidden = graph.add("Equal", [graph.add("Unsqueeze", ["attention_mask", graph.integers(1, 2)]), zero]);
  return graph.add("Where", [graph.add("Or", [later, hidden]), graph.number(-3e38), graph.number(0)]);
}

function attended(graph, layer, { q, k, v, mask, shared = heads }) {
  const [keys, values] = [
    ["key", k],
    ["value", v],
  ].map(([kind, fresh]) => {
    graph.named("Concat", [`past_key_values.${layer}.${kind}`, fresh], [`present.${layer}.${kind}`], { axis: 2 });
    return repeated(graph, `present.${layer}.${kind}`, shared);
  });
  const products = graph.add("MatMul", [q, graph.add("Transpose", [keys], { perm: [0, 1, 3, 2] })]);
  const scores = graph.add("Add", [graph.add("Mul", [products, graph.number(1 / Math.sqrt(depth))]), mask]);
  const context = graph.add("MatMul", [graph.add("Softmax", [scores], { axis: -1 }), values]);
  return graph.add("Reshape", [graph.add("Transpose", [context], { perm: [0, 2, 1, 3] }), graph.integers(0, 0, width)]);
}

// A head of keys serves several of queries.
function repeated(graph, x, shared) {
  if (shared === heads) return x;
  const length = graph.add("Shape", [x], { start: 2, end: 3 });
  const sizes = graph.add("Concat", [graph.integers(1, shared, heads / shared), length, graph.integers(depth)], { axis: 0 });
  const copies = graph.add("Expand", [graph.add("Unsqueeze", [x, graph.integers(2)]), sizes]);
  return graph.add("Reshape", [
    copies,
    graph.add("Concat", [graph.integers(1, heads), length, graph.integers(depth)], { axis: 0 }),
  ]);
}

function written(graph, shared, { layers, classes }) {
  const cache = (prefix, length) =>
    Array.from({ length: layers }, (_, layer) =>
      ["key", "value"].map((kind) => [`${prefix}.${layer}.${kind}`, "float32", ["batch", shared, length, depth]]),
    ).flat();
  const inputs = [
    ["input_ids", "int64", ["batch", "new"]],
    ["attention_mask", "int64", ["batch", "all"]],
    ["position_ids", "int64", ["batch", "new"]],
    ...cache("past_key_values", "past"),
  ];
  return graph.bytes(inputs, [["logits", "float32", ["batch", "new", classes]], ...cache("present", "all")], 20);
}
