/** Support vector regression of ai.onnx.ml. SVMClassifier is not supported: implementations disagree on how its votes are counted. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { toLiteral } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { asMatrix, getPostTransform, applyPostTransform } from "./class-scores.ts";

/** The kernel function of all pairs of rows of x [N, C] and y [M, C]: [N, M]. */
function kernel(call: OperatorCall, x: Value, y: Value): Value {
  const [gamma = 0, offset = 0, degree = 3] = call.floats("kernel_params") ?? [];
  const name = call.string("kernel_type", "LINEAR");
  const products = call.add({ kind: "matmul" }, x, call.transpose(y, [1, 0]));
  if (name === "LINEAR") return products;
  if (name === "RBF") {
    const squares = (z: Value): Value => call.reduce("sum", call.binary("mul", z, z), [1], true);
    const sums = call.binary("add", squares(x), call.transpose(squares(y), [1, 0]));
    return call.unary("exp", call.binary("mul", call.binary("sub", sums, call.binary("mul", products, 2)), -gamma));
  }
  const line = call.binary("add", call.binary("mul", products, gamma), offset);
  if (name === "POLY") return call.binary("pow", line, degree);
  if (name === "SIGMOID") return call.unary("tanh", line);
  throw new Error(`kernel_type "${name}" is unknown`);
}

/** SVMRegressor; without support vectors it is a linear model. */
function regressor(call: OperatorCall): Value {
  const x = asMatrix(call, call.tensor(0));
  const count = call.int("n_supports", 0);
  const features = at(x.type.shape, 1);
  const coefficients = call.floats("coefficients") ?? [];
  const [shift = 0] = call.floats("rho") ?? [];
  const rows = count > 0 ? count : 1; // of the linear model
  if (count > 0 && (call.floats("support_vectors") ?? []).length !== count * features)
    throw new Error(`${count} support vectors do not fit ${features} features`);
  const similarity =
    count > 0
      ? kernel(call, x, call.builder.constant(toLiteral("float32", [rows, features], call.floats("support_vectors") ?? [])))
      : x;
  call.ignore("support_vectors", "kernel_params");
  if (count === 0 && call.string("kernel_type", "LINEAR") !== "LINEAR")
    throw new Error("kernel_type is given without support vectors");
  const weights = call.builder.constant(toLiteral("float32", [coefficients.length, 1], coefficients));
  const scores = call.binary("add", call.add({ kind: "matmul" }, similarity, weights), shift);
  const transform = getPostTransform(call);
  if (call.int("one_class", 0) === 1) return call.select(call.binary("greater", scores, 0), call.scalar(1, "float32"), -1);
  return applyPostTransform(call, scores, transform);
}

/** Translates SVMRegressor of ai.onnx.ml, a support vector machine for regression, to graph operations. */
export const supportVectors: OperatorFamily = {
  "ai.onnx.ml:SVMRegressor": since(1, regressor),
};
