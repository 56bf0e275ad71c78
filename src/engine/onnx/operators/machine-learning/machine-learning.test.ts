/** The operators of ai.onnx.ml on made-up models, held against onnxruntime-node. */
import * as onnxruntime from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { float, integer, message, model, node, value } from "../../../../../test/fixtures/models/onnx-bytes.ts";
import { Builder, defaultTraceLimits, isTensor, readOnnxModel, traceModel } from "../../../index.ts";
import type { Literal } from "../../../ir/literal.ts";

type Attribute =
  | number
  | string
  | { readonly float: number }
  | readonly string[]
  | { readonly ints: readonly number[] }
  | readonly number[];

/** Plain numbers are whole, lists of numbers are floats. */
function attribute(name: string, content: Attribute): readonly Buffer[] {
  const title = message(1, name);
  if (typeof content === "number") return [title, integer(3, content), integer(20, 2)];
  if (typeof content === "string") return [title, message(4, content), integer(20, 3)];
  if ("float" in content) return [title, float(2, content.float), integer(20, 1)];
  if ("ints" in content) return [title, ...content.ints.map((each) => integer(8, each)), integer(20, 7)];
  if (typeof content[0] === "string") return [title, ...content.map((each) => message(9, String(each))), integer(20, 8)];
  return [title, ...content.map((each) => float(7, Number(each))), integer(20, 6)];
}

const typeNumbers: Readonly<Record<string, number>> = { float32: 1, int64: 7, string: 8, float64: 11 };

interface Made {
  readonly operator: string;
  readonly version?: number;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly inputs: readonly Literal[];
  readonly outputs?: number;
}

async function bothWays({
  operator,
  version = 3,
  attributes,
  inputs,
  outputs = 1,
}: Made): Promise<[ours: unknown[], theirs: unknown[]]> {
  const names = inputs.map((_, index) => `x${index}`);
  const results = Array.from({ length: outputs }, (_, index) => `y${index}`);
  const stated = Object.entries(attributes).map(([name, content]) => attribute(name, content));
  const bytes = model({
    opsets: { "": 17, "ai.onnx.ml": version },
    graph: [
      node({ operator, domain: "ai.onnx.ml", inputs: names, outputs: results, attributes: stated }),
      ...inputs.map(({ dataType, shape }, index) => value(11, `x${index}`, typeNumbers[dataType], shape)),
      ...results.map((name) => value(12, name)),
    ],
  });
  const build = new Builder(defaultTraceLimits, "eager");
  const read = readOnnxModel(bytes, "made up").model;
  const traced = traceModel(read, new Map(inputs.map((each, index) => [`x${index}`, build.constant(each)])), build);
  const ours = [...traced.values()].map((each) => isTensor(each) && { ...each.type, data: listed(each.constant!.data) });
  const session = await onnxruntime.InferenceSession.create(bytes, { logSeverityLevel: 4 });
  const feeds = inputs.map(({ dataType, shape, data }, index): [string, onnxruntime.Tensor] => [
    `x${index}`,
    new onnxruntime.Tensor(dataType as "float32", data as Float32Array, [...shape]),
  ]);
  const given = await session.run(Object.fromEntries(feeds));
  const theirs = results.map((name) => ({
    dataType: given[name]!.type,
    shape: [...given[name]!.dims],
    data: listed(given[name]!.data),
  }));
  return [ours, theirs];
}

function listed(data: Iterable<unknown>): unknown[] {
  return Array.from(data, (each) =>
    typeof each === "bigint" ? Number(each) : typeof each === "number" ? Number(each.toFixed(3)) + 0 : each,
  );
}

const floats = (shape: readonly number[], ...data: number[]): Literal => ({
  dataType: "float32",
  shape,
  data: Float32Array.from(data),
});
const wholes = (shape: readonly number[], ...data: number[]): Literal => ({
  dataType: "int64",
  shape,
  data: BigInt64Array.from(data, BigInt),
});
const texts = (shape: readonly number[], ...data: string[]): Literal => ({ dataType: "string", shape, data });
const matrix = floats([4, 2], 1, 2, -0.5, 0.25, 3, -4, 0, 0.75);

/** Two trees of three leaves; ids of the leaves' weights are left open. */
const trees = {
  nodes_treeids: { ints: [0, 0, 0, 0, 0, 1, 1, 1] },
  nodes_nodeids: { ints: [0, 1, 2, 3, 4, 0, 1, 2] },
  nodes_featureids: { ints: [0, 1, 0, 0, 0, 1, 0, 0] },
  nodes_modes: ["BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"],
  nodes_values: [0.6, 0.5, 0, 0, 0, 0.7, 0, 0],
  nodes_truenodeids: { ints: [1, 3, 0, 0, 0, 1, 0, 0] },
  nodes_falsenodeids: { ints: [2, 4, 0, 0, 0, 2, 0, 0] },
};
function leaves(kind: "target" | "class", ids: readonly number[], weights: readonly number[]): Made["attributes"] {
  const repeat = ids.length / 5;
  const spread = (list: readonly number[]): { ints: number[] } => ({
    ints: list.flatMap((each) => Array.from({ length: repeat }, () => each)),
  });
  return {
    [`${kind}_treeids`]: spread([0, 0, 0, 1, 1]),
    [`${kind}_nodeids`]: spread([2, 3, 4, 1, 2]),
    [`${kind}_ids`]: { ints: ids },
    [`${kind}_weights`]: weights,
  };
}
const leafWeights = [0.5, -1.5, 2.25, 3, -0.75];
const positive = [0.1, 0.4, 0.2, 0.3, 0.45];

/** Every leaf of the first tree weighs the classes 0 and 1, every one of the second class 2: onnxruntime labels among the classes that were met. */
const everyClass = {
  class_treeids: { ints: [0, 0, 0, 0, 0, 0, 1, 1] },
  class_nodeids: { ints: [2, 2, 3, 3, 4, 4, 1, 2] },
  class_ids: { ints: [0, 1, 0, 1, 0, 1, 2, 2] },
  class_weights: [0.5, -1.5, 2.25, 3, -0.75, 0.5, 1, 2.5],
};

const cases: Readonly<Record<string, Made>> = {
  "linear regression": {
    operator: "LinearRegressor",
    attributes: { coefficients: [0.5, -1, 2, 3, 0.1, 0.2], intercepts: [1, 2, 3], targets: 3 },
    inputs: [matrix],
  },
  "linear classification": {
    operator: "LinearClassifier",
    attributes: {
      coefficients: [0.5, -1, 2, 3, 0.1, 0.2],
      intercepts: [1, 2, 3],
      classlabels_strings: ["a", "b", "c"],
      post_transform: "SOFTMAX",
    },
    inputs: [matrix],
    outputs: 2,
  },
  "linear classification into two": {
    operator: "LinearClassifier",
    attributes: {
      coefficients: [-0.5, 1, 0.5, -1],
      intercepts: [-0.2, 0.2],
      classlabels_ints: { ints: [3, 7] },
      post_transform: "LOGISTIC",
    },
    inputs: [matrix],
    outputs: 2,
  },
  "linear classification by one score": {
    operator: "LinearClassifier",
    attributes: { coefficients: [0.5, -1], intercepts: [0.2], classlabels_ints: { ints: [0, 1] }, post_transform: "LOGISTIC" },
    inputs: [matrix],
    outputs: 2,
  },
  scaler: { operator: "Scaler", attributes: { offset: [1, -1], scale: [2, 0.5] }, inputs: [matrix] },
  "scaler by one number": { operator: "Scaler", attributes: { offset: [1], scale: [2] }, inputs: [wholes([2, 2], 1, 2, 3, 4)] },
  "norm MAX": { operator: "Normalizer", attributes: { norm: "MAX" }, inputs: [floats([2, 2], 1, 2, 0.5, 4)] },
  "norm L1": { operator: "Normalizer", attributes: { norm: "L1" }, inputs: [matrix] },
  "norm L2": { operator: "Normalizer", attributes: { norm: "L2" }, inputs: [matrix] },
  imputer: {
    operator: "Imputer",
    attributes: { imputed_value_floats: [7, 8], replaced_value_float: { float: 2 } },
    inputs: [matrix],
  },
  "imputer of NaN": {
    operator: "Imputer",
    attributes: { imputed_value_floats: [7], replaced_value_float: { float: Number.NaN } },
    inputs: [floats([1, 3], 1, Number.NaN, 3)],
  },
  "one hot of strings": {
    operator: "OneHotEncoder",
    attributes: { cats_strings: ["a", "b"], zeros: 1 },
    inputs: [texts([3], "b", "x", "a")],
  },
  "one hot of numbers": {
    operator: "OneHotEncoder",
    attributes: { cats_int64s: { ints: [5, 2] }, zeros: 1 },
    inputs: [wholes([2, 2], 2, 5, 1, 5)],
  },
  columns: { operator: "ArrayFeatureExtractor", attributes: {}, inputs: [matrix, wholes([1, 2], 1, 0)] },
  vectorizer: {
    operator: "FeatureVectorizer",
    attributes: { inputdimensions: { ints: [2, 1] } },
    inputs: [matrix, floats([4, 1], 9, 8, 7, 6)],
  },
  binarizer: { operator: "Binarizer", attributes: { threshold: { float: 0.5 } }, inputs: [matrix] },
  "labels of strings": {
    operator: "LabelEncoder",
    attributes: { keys_strings: ["a", "b"], values_int64s: { ints: [4, 5] }, default_int64: 9 },
    inputs: [texts([2, 2], "b", "a", "c", "b")],
  },
  "labels of numbers": {
    operator: "LabelEncoder",
    version: 4, // onnxruntime matches NaN from this version on
    attributes: { keys_floats: [1, Number.NaN, 2], values_strings: ["one", "none", "two"], default_string: "?" },
    inputs: [floats([4], 2, Number.NaN, 3, 1)],
  },
  "labels of version 1": {
    operator: "LabelEncoder",
    version: 1,
    attributes: { classes_strings: ["x", "y"], default_int64: 6 },
    inputs: [texts([3], "y", "z", "x")],
  },
  categories: {
    operator: "CategoryMapper",
    attributes: { cats_strings: ["x", "y"], cats_int64s: { ints: [10, 20] }, default_string: "?" },
    inputs: [wholes([3], 20, 30, 10)],
  },
  "tree regression": {
    operator: "TreeEnsembleRegressor",
    attributes: { ...trees, ...leaves("target", [0, 0, 0, 1, 1], leafWeights), n_targets: 2, base_values: [0.25, -0.5] },
    inputs: [matrix],
  },
  ...Object.fromEntries(
    ["AVERAGE", "MIN", "MAX"].map((name): [string, Made] => [
      `tree regression by ${name}`,
      {
        operator: "TreeEnsembleRegressor",
        attributes: {
          ...trees,
          ...leaves("target", [0, 0, 0, 0, 0], leafWeights),
          n_targets: 1,
          aggregate_function: name,
        },
        inputs: [matrix],
      },
    ]),
  ),
  "tree classification": {
    operator: "TreeEnsembleClassifier",
    attributes: {
      ...trees,
      ...everyClass,
      classlabels_strings: ["a", "b", "c"],
      post_transform: "SOFTMAX",
    },
    inputs: [matrix],
    outputs: 2,
  },
  "tree classification with a base": {
    operator: "TreeEnsembleClassifier",
    attributes: {
      ...trees,
      ...everyClass,
      base_values: [1, 0.5, -2],
      classlabels_int64s: { ints: [7, 8, 9] },
    },
    inputs: [matrix],
    outputs: 2,
  },
  "tree classification, SOFTMAX_ZERO": {
    operator: "TreeEnsembleClassifier",
    attributes: {
      ...trees,
      ...everyClass,
      classlabels_int64s: { ints: [7, 8, 9] },
      post_transform: "SOFTMAX_ZERO",
    },
    inputs: [matrix],
    outputs: 2,
  },
  "tree classification into two by one score": {
    operator: "TreeEnsembleClassifier",
    attributes: { ...trees, ...leaves("class", [0, 0, 0, 0, 0], positive), classlabels_int64s: { ints: [0, 1] } },
    inputs: [matrix],
    outputs: 2,
  },
  "tree classification into two, boosted": {
    operator: "TreeEnsembleClassifier",
    attributes: {
      ...trees,
      ...leaves("class", [0, 0, 0, 0, 0], leafWeights),
      classlabels_int64s: { ints: [0, 1] },
      post_transform: "LOGISTIC",
    },
    inputs: [matrix],
    outputs: 2,
  },
  ...Object.fromEntries(
    ["LINEAR", "RBF", "POLY", "SIGMOID"].map((kernel): [string, Made] => [
      `support vectors, ${kernel}`,
      {
        operator: "SVMRegressor",
        attributes: {
          kernel_type: kernel,
          kernel_params: [0.4, 0.5, 3],
          support_vectors: [1, 2, 0.5, -1, 0, 1],
          coefficients: [0.5, -1, 0.75],
          rho: [0.25],
          n_supports: 3,
        },
        inputs: [matrix],
      },
    ]),
  ),
};

describe("ai.onnx.ml", () => {
  it.each(Object.entries(cases))("agrees with onnxruntime: %s", async (_, made) => {
    const [ours, theirs] = await bothWays(made);
    expect(ours).toEqual(theirs);
  });
});
