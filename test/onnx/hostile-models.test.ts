/** Models that somebody damaged, or wrote to do harm: reading and tracing them ends in a typed error, in bounded time and memory. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  Builder,
  type TraceLimits,
  type OnnxModel,
  readOnnxModel,
  type TracedValue,
  traceModel,
} from "../../src/engine/index.ts";
import { operatorFamilies } from "../../src/engine/onnx/operators/table.ts";
import { InferyardError } from "../../src/contract/errors.ts";
import { type NodeParts, integer, message, model, node, value, weight } from "../fixtures/models/onnx-bytes.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const limits: Partial<TraceLimits> = {
  tensorBytes: 2 ** 22,
  operations: 20_000,
  foldedElements: 2 ** 18,
  bytes: 2 ** 26,
  work: 2 ** 26,
};

type OnnxType = OnnxModel["graph"]["inputs"][number]["type"];

/** Ends well, or in an error of ours: what came out, as a word. */
function attempt(bytes: Uint8Array): string {
  return outcomeOf(() => run(readOnnxModel(bytes, "a hostile file").model));
}

function outcomeOf(action: () => void): string {
  try {
    action();
    return "ran";
  } catch (error) {
    if (error instanceof InferyardError) return error.code;
    throw error;
  }
}

function run(read: OnnxModel): void {
  const build = new Builder(limits, "eager");
  const { initializers, inputs } = read.graph;
  const named = inputs
    .filter(({ name }) => !initializers.has(name))
    .map(({ name, type }): [string, TracedValue] => [name, zeros(build, type)]);
  traceModel(read, new Map(named), build);
}

/** Free and large dimensions become 2. */
function zeros(build: Builder, type: OnnxType): TracedValue {
  if (type.kind === "sequence") return { items: [] };
  if (type.kind === "optional") return { optional: true };
  const { dataType, shape = [] } = type.kind === "tensor" ? type : { dataType: "float32" as const };
  const sizes = shape.slice(0, 8).map((size) => (typeof size === "number" && size <= 64 ? size : 2));
  const one = build.constant(
    dataType === "string" ? { dataType, shape: [], data: [""] } : { dataType: "float32", shape: [], data: new Float32Array(1) },
  );
  const cast = dataType === "string" ? one : build.add({ kind: "cast", to: dataType, saturate: false }, one);
  return build.add({ kind: "expand", shape: sizes }, cast);
}

/** Numbers below `limit`, always the same ones. */
function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Some bytes changed, a part doubled or taken out, or the end cut off. */
function mutated(bytes: Uint8Array, random: (limit: number) => number): Uint8Array {
  const way = random(4);
  const from = random(bytes.length);
  const length = random(64) + 1;
  if (way === 0) return bytes.slice(0, from);
  if (way === 1) return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + length)]);
  if (way === 2) return Buffer.concat([bytes.subarray(0, from + length), bytes.subarray(from)]);
  const changed = bytes.slice();
  // Beginnings hold names and types; weights behind them are only numbers.
  for (let count = random(8) + 1; count > 0; count -= 1) changed[random(Math.min(bytes.length, 4096))] = random(256);
  return changed;
}

const extremes = [0, -1, 1, 2, 7, -(2 ** 31), 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

/** A model that reads well and means something else: an operator, an input, an attribute, a shape or some elements changed. */
function twisted({ graph, ...rest }: OnnxModel, random: (limit: number) => number): OnnxModel {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const nodes = [...graph.nodes];
  const initializers = new Map(graph.initializers);
  const names = [...nodes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]), ...initializers.keys()];
  for (let count = random(3) + 1; count > 0; count -= 1) {
    const at = random(nodes.length);
    const old = nodes[at]!;
    const way = random(6);
    if (way === 0) nodes[at] = { ...old, ...operatorNamed(pick(operators)) };
    else if (way === 1) nodes[at] = { ...old, inputs: old.inputs.map((input) => (random(2) === 0 ? pick(names) : input)) };
    else if (way === 2) nodes[at] = { ...old, inputs: old.inputs.slice(0, random(old.inputs.length + 1)) };
    else if (way === 3 && old.attributes.size > 0) {
      const [title, content] = pick([...old.attributes]);
      nodes[at] = { ...old, attributes: new Map(old.attributes).set(title, changedAttribute(content)) };
    } else if (initializers.size > 0) {
      const [title, literal] = pick([...initializers]);
      if (way === 4 && literal.dataType === "int64") {
        const data = BigInt64Array.from(literal.data as BigInt64Array, (number) =>
          random(2) === 0 ? BigInt(pick(extremes)) : number,
        );
        initializers.set(title, { ...literal, data });
      } else
        initializers.set(title, {
          ...literal,
          shape: literal.shape.length > 1 ? literal.shape.toReversed() : [...literal.shape, 1],
        });
    }
  }
  return { ...rest, graph: { ...graph, nodes, initializers } };

  function changedAttribute(content: Attribute): Attribute {
    if (content.kind === "int") return { kind: "int", value: pick(extremes) };
    if (content.kind === "ints")
      return { kind: "ints", value: content.value.map((each) => (random(2) === 0 ? pick(extremes) : each)) };
    if (content.kind === "float") return { kind: "float", value: pick([0, Number.NaN, -1, Number.POSITIVE_INFINITY]) };
    return { kind: "int", value: pick(extremes) };
  }
}

type Attribute = OnnxModel["graph"]["nodes"][number]["attributes"] extends ReadonlyMap<string, infer T> ? T : never;

const operators = Object.values(operatorFamilies).flatMap((family) => Object.keys(family));

function operatorNamed(key: string): { readonly domain: string; readonly operator: string } {
  const at = key.lastIndexOf(":");
  return { domain: key.slice(0, Math.max(0, at)), operator: key.slice(at + 1) };
}

const files = [
  "vision/mnist.onnx",
  "tiny-random-bert/onnx/model.onnx",
  "tiny-random-t5/onnx/decoder_model_merged.onnx",
  "tiny-random-whisper/onnx/encoder_model.onnx",
  "transformer-dummies/transformer/dummy_transformer.onnx",
  "transformer-dummies/mnist_softmax/mnist_softmax.onnx",
  "onnx-conformance/node/test_scan9_multi_state/model.onnx",
  "onnx-conformance/node/test_sequence_map_add_1_sequence_1_tensor_expanded/model.onnx",
  "onnx-conformance/node/test_ai_onnx_ml_tree_ensemble_set_membership/model.onnx",
  "onnx-conformance/node/test_tfidfvectorizer_tf_uniandbigrams_skip5/model.onnx",
];
const typed = /^(ran|MODEL_INVALID|MODEL_UNSUPPORTED|OUT_OF_MEMORY)$/;

const [skip, name] = needsData("damaged models");

describe.skipIf(skip)(name, () => {
  it.each(files)(
    "50 times changed at random: %s",
    (file) => {
      const bytes = readFileSync(`${sharedData}${file}`);
      const random = generator(bytes.length);
      const outcomes = Array.from({ length: 50 }, () => attempt(mutated(bytes, random)));
      expect(outcomes.filter((outcome) => !typed.test(outcome))).toEqual([]);
    },
    60_000,
  );

  it.each(files)(
    "50 times twisted at random: %s",
    (file) => {
      const { model: read } = readOnnxModel(readFileSync(`${sharedData}${file}`), file);
      const random = generator(file.length);
      const outcomes = Array.from({ length: 50 }, () => outcomeOf(() => run(twisted(read, random))));
      expect(outcomes.filter((outcome) => !typed.test(outcome))).toEqual([]);
    },
    60_000,
  );

  it("cut off anywhere", () => {
    const bytes = readFileSync(`${sharedData}onnx-conformance/node/test_scan9_multi_state/model.onnx`);
    const outcomes = Array.from(bytes, (_, end) => attempt(bytes.subarray(0, end)));
    expect(new Set(outcomes)).toEqual(new Set(["MODEL_INVALID"]));
  });
});

const truth = message(5, integer(2, 9), message(8, "yes"), message(9, Buffer.from([1])));
/** int64 of one dimension, in field 5 of a graph. */
function whole(title: string, ...numbers: number[]): Buffer {
  const data = Buffer.alloc(8 * numbers.length);
  for (const [index, number] of numbers.entries()) data.writeBigInt64LE(BigInt(number), 8 * index);
  return message(5, integer(1, numbers.length), integer(2, 7), message(8, title), message(9, data));
}
function graphAttribute(title: string, ...content: readonly Buffer[]): readonly Buffer[] {
  return [message(1, title), message(6, ...content, message(2, title)), integer(20, 5)];
}
function intAttribute(title: string, number: number): readonly Buffer[] {
  return [message(1, title), integer(3, number), integer(20, 2)];
}
function one(parts: NodeParts, ...graph: readonly Buffer[]): Uint8Array {
  return model({ opsets: { "": 20, "ai.onnx.ml": 5 }, graph: [...graph, node(parts), value(12, "y")] });
}
/** A loop's body that passes on its condition and what it carries. */
const passing = graphAttribute("body", value(11, "i"), value(11, "go"), value(11, "c"), value(12, "go"), value(12, "c"));

/** Grows threefold at every level. */
function branching(depth: number): Buffer[] {
  return Array.from({ length: depth }, (_, level) =>
    message(
      25,
      message(1, `f${level}`),
      message(4, "x"),
      message(5, "y"),
      ...["a", "b", "y"].map((output) =>
        node(
          {
            operator: level === 0 ? "Identity" : `f${level - 1}`,
            domain: level === 0 ? "" : "own",
            inputs: ["x"],
            outputs: [output],
          },
          7,
        ),
      ),
      message(9, integer(2, 20)),
      message(9, message(1, "own"), integer(2, 1)),
      message(10, "own"),
    ),
  );
}

function nested(depth: number): Buffer {
  let inner = node({ operator: "Identity", inputs: ["yes"], outputs: ["y"] });
  for (let level = 0; level < depth; level += 1) {
    const graph = [inner, value(12, "y")];
    const branches = [graphAttribute("then_branch", ...graph), graphAttribute("else_branch", value(12, "y"))];
    inner = node({ operator: "If", inputs: ["yes"], outputs: ["y"], attributes: branches });
  }
  return inner;
}

const hostile: Readonly<Record<string, Uint8Array>> = {
  "a cycle": one(
    { operator: "Identity", inputs: ["a"], outputs: ["y"] },
    node({ operator: "Abs", inputs: ["y"], outputs: ["a"] }),
  ),
  "a loop without end": one({ operator: "Loop", inputs: ["", "yes", "yes"], outputs: ["y"], attributes: [passing] }, truth),
  "a loop that doubles a tensor": one(
    {
      operator: "Loop",
      inputs: ["", "yes", "start"],
      outputs: ["y"],
      attributes: [
        graphAttribute(
          "body",
          value(11, "i"),
          value(11, "go"),
          value(11, "c"),
          node({ operator: "Concat", inputs: ["c", "c"], outputs: ["d"], attributes: [intAttribute("axis", 0)] }),
          value(12, "go"),
          value(12, "d"),
        ),
      ],
    },
    truth,
    whole("start", 1),
  ),
  "a loop that squares a number": one(
    {
      operator: "Loop",
      inputs: ["", "yes", "start"],
      outputs: ["y"],
      attributes: [
        graphAttribute(
          "body",
          value(11, "i"),
          value(11, "go"),
          value(11, "c"),
          node({ operator: "Pow", inputs: ["c", "c"], outputs: ["d"] }),
          value(12, "go"),
          value(12, "d"),
        ),
      ],
    },
    truth,
    whole("start", 3),
  ),
  "branches in branches": model({ opsets: { "": 20 }, graph: [truth, nested(100), value(12, "y")] }),
  "functions that grow": model({
    opsets: { "": 20, own: 1 },
    graph: [truth, node({ operator: "f40", domain: "own", inputs: ["yes"], outputs: ["y"] }), value(12, "y")],
    model: branching(41),
  }),
  "a function that calls itself": model({
    opsets: { "": 20, own: 1 },
    graph: [truth, node({ operator: "f", domain: "own", inputs: ["yes"], outputs: ["y"] }), value(12, "y")],
    model: [
      message(
        25,
        message(1, "f"),
        message(4, "x"),
        message(5, "y"),
        node({ operator: "f", domain: "own", inputs: ["x"], outputs: ["y"] }, 7),
        message(9, message(1, "own"), integer(2, 1)),
        message(10, "own"),
      ),
    ],
  }),
  "a tensor of 2^60 elements": one({ operator: "ConstantOfShape", inputs: ["s"], outputs: ["y"] }, whole("s", 2 ** 30, 2 ** 30)),
  "a tensor of negative size": one({ operator: "ConstantOfShape", inputs: ["s"], outputs: ["y"] }, whole("s", -5)),
  "a range of 2^50": one(
    { operator: "Range", inputs: ["a", "b", "c"], outputs: ["y"] },
    ...[0, 2 ** 50, 1].map((number, index) => message(5, integer(2, 7), message(8, "abc"[index]!), integer(7, number))),
  ),
  "a window of 2^40": one(
    { operator: "HannWindow", inputs: ["s"], outputs: ["y"] },
    message(5, integer(2, 7), message(8, "s"), integer(7, 2 ** 40)),
  ),
  "a Fourier transform of 2^20": one(
    { operator: "DFT", inputs: ["x", "n"], outputs: ["y"] },
    weight("x", 1, [1, 8, 1]),
    message(5, integer(2, 7), message(8, "n"), integer(7, 2 ** 20)),
  ),
  "one hot of 2^50": one(
    { operator: "OneHot", inputs: ["i", "d", "v"], outputs: ["y"] },
    whole("i", 1),
    whole("d", 2 ** 50),
    whole("v", 0, 1),
  ),
  "a split into 2^31": one(
    { operator: "Split", inputs: ["x"], outputs: ["y"], attributes: [intAttribute("num_outputs", 2 ** 31)] },
    weight("x", 1, [4]),
  ),
  "a tile of 2^40": one({ operator: "Tile", inputs: ["x", "r"], outputs: ["y"] }, weight("x", 1, [4]), whole("r", 2 ** 40)),
  "a weight that states a shape of 2^62 elements": one(
    { operator: "Identity", inputs: ["x"], outputs: ["y"] },
    message(5, integer(1, 2 ** 31), integer(1, 2 ** 31), integer(2, 1), message(8, "x"), message(9, Buffer.alloc(4))),
  ),
  "a weight of a hundred thousand axes": one(
    { operator: "Identity", inputs: ["x"], outputs: ["y"] },
    message(5, message(1, Buffer.alloc(100_000, 1)), integer(2, 1), message(8, "x"), message(9, Buffer.alloc(4))),
  ),
  "random numbers without end": one({
    operator: "RandomNormal",
    outputs: ["y"],
    attributes: [[message(1, "shape"), integer(8, 2 ** 40), integer(20, 7)]],
  }),
  "a body with more inputs than it is given": one(
    {
      operator: "If",
      inputs: ["yes"],
      outputs: ["y"],
      attributes: [
        graphAttribute("then_branch", value(11, "z"), node({ operator: "Abs", inputs: ["z"], outputs: ["y"] }), value(12, "y")),
        graphAttribute("else_branch", value(12, "yes")),
      ],
    },
    truth,
  ),
  "a tree that goes round": one(
    {
      operator: "TreeEnsembleRegressor",
      domain: "ai.onnx.ml",
      inputs: ["x"],
      outputs: ["y"],
      attributes: [
        ["nodes_treeids", 0, 0],
        ["nodes_nodeids", 0, 1],
        ["nodes_featureids", 0, 0],
        ["nodes_truenodeids", 1, 0],
        ["nodes_falsenodeids", 1, 0],
      ]
        .map(([title, ...numbers]) => [
          message(1, String(title)),
          ...numbers.map((number) => integer(8, Number(number))),
          integer(20, 7),
        ])
        .concat([[message(1, "nodes_modes"), message(9, "BRANCH_LEQ"), message(9, "BRANCH_LEQ"), integer(20, 8)]]),
    },
    weight("x", 1, [1, 1]),
  ),
};

describe("models that were written to do harm", () => {
  it.each(Object.entries(hostile))("are refused: %s", (_, bytes) => {
    expect(attempt(bytes)).toMatch(/^(MODEL_INVALID|MODEL_UNSUPPORTED|OUT_OF_MEMORY)$/);
  });

  it("are refused: messages in messages without end", () => {
    let bytes = message(6, message(2, "deep"));
    for (let depth = 0; depth < 2000; depth += 1) bytes = message(6, message(1, message(5, bytes)));
    expect(attempt(Buffer.concat([message(7, message(1, message(5, bytes))), message(8, integer(2, 20))]))).toBe("MODEL_INVALID");
  });
});
