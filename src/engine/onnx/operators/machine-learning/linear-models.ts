/** ai.onnx.ml: linear models, and what prepares features for them. */
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, literalOf } from "../../../ir/literal.ts";
import { elementCount } from "../../../../tensor.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { gatherLabels, classLabels, argmaxLabel, asMatrix, postTransformOf, applyPostTransform } from "./class-scores.ts";

/** x W' + b for coefficients written row by row, one row per output. */
function linear(call: OperatorCall, x: Value, coefficients: readonly number[], intercepts: readonly number[]): Value {
  const features = x.type.shape[1] ?? 0;
  const rows = coefficients.length / features;
  if (!Number.isInteger(rows) || rows < 1) throw new Error(`${coefficients.length} coefficients do not fit ${features} features`);
  const weights = call.builder.constant(literalOf("float32", [rows, features], coefficients));
  const product = call.add({ kind: "matmul" }, x, call.transpose(weights, [1, 0]));
  if (intercepts.length === 0) return product;
  return call.binary("add", product, call.builder.constant(literalOf("float32", [intercepts.length], intercepts)));
}

function regressor(call: OperatorCall): Value {
  const x = asMatrix(call, call.tensor(0));
  call.ignore("targets"); // as many as there are rows of coefficients
  const scores = linear(call, x, call.floats("coefficients") ?? [], call.floats("intercepts") ?? []);
  return applyPostTransform(call, scores, postTransformOf(call));
}

/** One row of coefficients for two classes scores the second one; the first has what is left. */
function classifier(call: OperatorCall): readonly Value[] {
  const x = asMatrix(call, call.tensor(0));
  call.ignore("multi_class");
  const labels = classLabels(call, "classlabels_strings", "classlabels_ints");
  const scores = linear(call, x, call.floats("coefficients") ?? [], call.floats("intercepts") ?? []);
  const transform = postTransformOf(call);
  if (scores.type.shape[1] !== 1 || labels.shape[0] !== 2) {
    return [argmaxLabel(call, labels, scores), applyPostTransform(call, scores, transform)];
  }
  if (transform !== "NONE" && transform !== "LOGISTIC") throw new Error(`${transform} of a single score is not built`);
  const positive = applyPostTransform(call, scores, transform);
  const bound = transform === "LOGISTIC" ? 0.5 : 0;
  const chosen = call.reshape(call.cast(call.binary("greater", positive, bound), "int64"), [x.type.shape[0] ?? 0]);
  const negative = transform === "LOGISTIC" ? call.binary("sub", 1, positive) : call.unary("neg", positive);
  return [gatherLabels(call, labels, chosen), call.add({ kind: "concat", axis: 1 }, negative, positive)];
}

/** One number for all features, or one for each. */
function perFeature(call: OperatorCall, name: string, otherwise: number): Value {
  const values = call.floats(name) ?? [otherwise];
  return call.builder.constant(literalOf("float32", [values.length], values));
}

function scaler(call: OperatorCall): Value {
  const x = call.cast(call.tensor(0), "float32");
  return call.binary("mul", call.binary("sub", x, perFeature(call, "offset", 0)), perFeature(call, "scale", 1));
}

function normalizer(call: OperatorCall): Value {
  const x = call.cast(call.tensor(0), "float32");
  const axis = x.type.shape.length - 1;
  const norm = call.string("norm", "MAX");
  if (norm !== "MAX" && norm !== "L1" && norm !== "L2") throw new Error(`its norm "${norm}" is unknown`);
  const length =
    norm === "MAX"
      ? call.reduce("max", x, [axis], true)
      : norm === "L1"
        ? call.reduce("sum", call.unary("abs", x), [axis], true)
        : call.unary("sqrt", call.reduce("sum", call.binary("mul", x, x), [axis], true));
  return call.select(call.binary("equal", length, 0), x, call.binary("div", x, length));
}

/** Features that hold the stated value, or are no number where that is stated, are replaced. */
function imputer(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { dataType } = x.type;
  const whole = dataType === "int64";
  const values = (whole ? call.ints("imputed_value_int64s") : call.floats("imputed_value_floats")) ?? [];
  const replaced = whole ? call.int("replaced_value_int64", 0) : call.float("replaced_value_float", 0);
  call.ignore("imputed_value_int64s", "imputed_value_floats", "replaced_value_int64", "replaced_value_float");
  if (values.length === 0) throw new Error(`it states no value to put in the place of ${dataType}`);
  const missing = Number.isNaN(replaced) ? call.unary("is-nan", x) : call.binary("equal", x, replaced);
  return call.select(missing, call.builder.constant(literalOf(dataType, [values.length], values)), x);
}

/** 1 in the column of the category, in a new last axis; no column is an error, or a row of zeros. */
function oneHotEncoder(call: OperatorCall): Value {
  const x = call.tensor(0);
  const text = x.type.dataType === "string";
  const categories = text
    ? { dataType: "string" as const, data: call.strings("cats_strings") ?? [] }
    : int64Literal(call.ints("cats_int64s") ?? []);
  call.ignore("cats_strings", "cats_int64s");
  const shape = [categories.data.length];
  const known = call.builder.constant({ ...categories, shape });
  const compared = text ? x : call.cast(x, "int64");
  const equal = call.binary("equal", call.reshape(compared, [...x.type.shape, 1]), known);
  const encoded = call.cast(equal, "float32");
  if (call.int("zeros", 1) === 1) return encoded;
  const sums = call.builder.knownData(
    call.reduce("sum", encoded, [x.type.shape.length], false),
    "whether all categories are known",
  );
  if (Array.from(sums.data as Float32Array).includes(0)) throw new Error("it meets a category that it does not know");
  return encoded;
}

/** Columns of the last axis, as the second input numbers them. */
function arrayFeatureExtractor(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const columns = call.reshape(call.tensor(1), [elementCount(call.tensor(1).type.shape)]);
  const rows = shape.length === 1 ? call.reshape(x, [1, ...shape]) : x;
  return call.add({ kind: "gather", axis: normalizeAxis(-1, rows.type.shape.length) }, rows, columns);
}

function featureVectorizer(call: OperatorCall): Value {
  const widths = call.ints("inputdimensions");
  const parts = call.tensors().map((x, index) => {
    const part = asMatrix(call, x);
    const width = widths?.[index] ?? part.type.shape[1] ?? 0;
    if (width !== part.type.shape[1])
      throw new Error(`its input ${index} has ${part.type.shape[1]} features, and it states ${width}`);
    return part;
  });
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : call.add({ kind: "concat", axis: 1 }, ...parts);
}

function binarizer(call: OperatorCall): Value {
  const x = call.tensor(0);
  return call.cast(call.binary("greater", x, call.float("threshold", 0)), x.type.dataType);
}

export const linearModels: OperatorFamily = {
  "ai.onnx.ml:LinearRegressor": since(1, regressor),
  "ai.onnx.ml:LinearClassifier": since(1, classifier),
  "ai.onnx.ml:Scaler": since(1, scaler),
  "ai.onnx.ml:Normalizer": since(1, normalizer),
  "ai.onnx.ml:Imputer": since(1, imputer),
  "ai.onnx.ml:OneHotEncoder": since(1, oneHotEncoder),
  "ai.onnx.ml:ArrayFeatureExtractor": since(1, arrayFeatureExtractor),
  "ai.onnx.ml:FeatureVectorizer": since(1, featureVectorizer),
  "ai.onnx.ml:Binarizer": since(1, binarizer),
};
