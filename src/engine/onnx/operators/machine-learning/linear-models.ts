/** Linear models and feature preparation of ai.onnx.ml: https://onnx.ai/onnx/operators/index_ml.html. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, toLiteral } from "../../../ir/literal.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { gatherLabels, classLabels, argmaxLabel, asMatrix, getPostTransform, applyPostTransform } from "./class-scores.ts";

/** x W' + b, for coefficients W in row-major order with one row per output. */
function linear(call: OperatorCall, x: Value, coefficients: readonly number[], intercepts: readonly number[]): Value {
  const features = at(x.type.shape, 1);
  const rows = coefficients.length / features;
  if (!Number.isInteger(rows) || rows < 1) throw new Error(`${coefficients.length} coefficients do not fit ${features} features`);
  const weights = call.builder.constant(toLiteral("float32", [rows, features], coefficients));
  const product = call.add({ kind: "matmul" }, x, call.transpose(weights, [1, 0]));
  if (intercepts.length === 0) return product;
  return call.binary("add", product, call.builder.constant(toLiteral("float32", [intercepts.length], intercepts)));
}

/** LinearRegressor. */
function regressor(call: OperatorCall): Value {
  const x = asMatrix(call, call.tensor(0));
  call.ignore("targets"); // follows from the number of coefficients
  const scores = linear(call, x, call.floats("coefficients") ?? [], call.floats("intercepts") ?? []);
  return applyPostTransform(call, scores, getPostTransform(call));
}

/** LinearClassifier. Outputs: labels and scores. With one row of coefficients for two classes, the score belongs to the second class. */
function classifier(call: OperatorCall): readonly Value[] {
  const x = asMatrix(call, call.tensor(0));
  call.ignore("multi_class");
  const labels = classLabels(call, "classlabels_strings", "classlabels_ints");
  const scores = linear(call, x, call.floats("coefficients") ?? [], call.floats("intercepts") ?? []);
  const transform = getPostTransform(call);
  if (scores.type.shape[1] !== 1 || labels.shape[0] !== 2) {
    return [argmaxLabel(call, labels, scores), applyPostTransform(call, scores, transform)];
  }
  if (transform !== "NONE" && transform !== "LOGISTIC")
    throw new Error(`post_transform ${transform} is not supported for a single score`);
  const positive = applyPostTransform(call, scores, transform);
  const bound = transform === "LOGISTIC" ? 0.5 : 0;
  const chosen = call.reshape(call.cast(call.binary("greater", positive, bound), "int64"), [at(x.type.shape, 0)]);
  const negative = transform === "LOGISTIC" ? call.binary("sub", 1, positive) : call.unary("neg", positive);
  return [gatherLabels(call, labels, chosen), call.add({ kind: "concat", axis: 1 }, negative, positive)];
}

/** An attribute with one number for all features or one for each, as a constant. */
function perFeature(call: OperatorCall, name: string, otherwise: number): Value {
  const values = call.floats(name) ?? [otherwise];
  return call.builder.constant(toLiteral("float32", [values.length], values));
}

/** Scaler: (x - offset) * scale. */
function scaler(call: OperatorCall): Value {
  const x = call.cast(call.tensor(0), "float32");
  return call.binary("mul", call.binary("sub", x, perFeature(call, "offset", 0)), perFeature(call, "scale", 1));
}

/** Normalizer: x divided by its norm along the last axis; rows of norm 0 stay as they are. */
function normalizer(call: OperatorCall): Value {
  const x = call.cast(call.tensor(0), "float32");
  const axis = x.type.shape.length - 1;
  const norm = call.string("norm", "MAX");
  if (norm !== "MAX" && norm !== "L1" && norm !== "L2") throw new Error(`norm "${norm}" is unknown`);
  const length =
    norm === "MAX"
      ? call.reduce("max", x, [axis], true)
      : norm === "L1"
        ? call.reduce("sum", call.unary("abs", x), [axis], true)
        : call.unary("sqrt", call.reduce("sum", call.binary("mul", x, x), [axis], true));
  return call.select(call.binary("equal", length, 0), x, call.binary("div", x, length));
}

/** Imputer: replaces features that equal replaced_value, or are NaN if that is NaN. */
function imputer(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { dataType } = x.type;
  const whole = dataType === "int64";
  const values = (whole ? call.ints("imputed_value_int64s") : call.floats("imputed_value_floats")) ?? [];
  const replaced = whole ? call.int("replaced_value_int64", 0) : call.float("replaced_value_float", 0);
  call.ignore("imputed_value_int64s", "imputed_value_floats", "replaced_value_int64", "replaced_value_float");
  if (values.length === 0) throw new Error(`the imputed value for ${dataType} is missing`);
  const missing = Number.isNaN(replaced) ? call.unary("is-nan", x) : call.binary("equal", x, replaced);
  return call.select(missing, call.builder.constant(toLiteral(dataType, [values.length], values)), x);
}

/** OneHotEncoder: 1 in the column of the category, in a new last axis. An unknown category gives a row of zeros, or throws if `zeros` is 0. */
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
  const sums = call.builder.knownData(call.reduce("sum", encoded, [x.type.shape.length], false), "the sum of the one-hot rows");
  if (Array.from(sums.data as Float32Array).includes(0))
    throw new Error("the input contains an unknown category, and zeros is 0");
  return encoded;
}

/** ArrayFeatureExtractor: the columns of the last axis whose indices the second input holds. */
function arrayFeatureExtractor(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const columns = call.reshape(call.tensor(1), [elementCount(call.tensor(1).type.shape)]);
  const rows = shape.length === 1 ? call.reshape(x, [1, ...shape]) : x;
  return call.add({ kind: "gather", axis: normalizeAxis(-1, rows.type.shape.length) }, rows, columns);
}

/** FeatureVectorizer: concatenates the features of all inputs. */
function featureVectorizer(call: OperatorCall): Value {
  const widths = call.ints("inputdimensions");
  const parts = call.tensors().map((x, index) => {
    const part = asMatrix(call, x);
    const width = widths?.[index] ?? part.type.shape[1] ?? 0;
    if (width !== part.type.shape[1])
      throw new Error(`input ${index} has ${part.type.shape[1]} features, and inputdimensions says ${width}`);
    return part;
  });
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : call.add({ kind: "concat", axis: 1 }, ...parts);
}

/** Binarizer: 1 above the threshold, else 0. */
function binarizer(call: OperatorCall): Value {
  const x = call.tensor(0);
  return call.cast(call.binary("greater", x, call.float("threshold", 0)), x.type.dataType);
}

/**
 * Translates linear models (LinearRegressor, LinearClassifier) and feature preparation (Scaler, Imputer, OneHotEncoder, ...) of ai.onnx.ml to graph
 * operations.
 */
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
