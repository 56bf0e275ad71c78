/** Matrix products and determinants. */
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** ONNX MatMul, as numpy.matmul: a vector counts as a row on the left and as a column on the right. */
export function matmulOperator(call: OperatorCall, a: Value, b: Value): Value {
  const left = a.type.shape.length === 1 ? call.reshape(a, [1, ...a.type.shape]) : a;
  const right = b.type.shape.length === 1 ? call.reshape(b, [...b.type.shape, 1]) : b;
  const product = call.add({ kind: "matmul" }, left, right);
  const { shape } = product.type;
  const rows = a.type.shape.length === 1 ? shape.toSpliced(-2, 1) : shape;
  return call.reshape(product, b.type.shape.length === 1 ? rows.slice(0, -1) : rows);
}

/** ONNX Gemm: alpha * A' * B' + beta * C, where ' transposes if `transA` or `transB` is set. */
export function gemm(call: OperatorCall): Value {
  if (call.version < 7) call.ignore("broadcast");
  const a = call.int("transA", 0) === 1 ? call.transpose(call.tensor(0), [1, 0]) : call.tensor(0);
  const b = call.int("transB", 0) === 1 ? call.transpose(call.tensor(1), [1, 0]) : call.tensor(1);
  const [alpha, beta, c] = [call.float("alpha", 1), call.float("beta", 1), call.tensorIfGiven(2)];
  const product = call.add({ kind: "matmul" }, a, b);
  const scaled = alpha === 1 ? product : call.binary("mul", product, alpha);
  if (c === undefined || beta === 0) return scaled;
  return call.binary("add", scaled, beta === 1 ? c : call.binary("mul", c, beta));
}

/** ONNX Det: determinants of the matrices in the last two axes. Computed by the interpreter. */
function determinant(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { dataType, shape } = x.type;
  if (shape.length < 2 || shape.at(-1) !== shape.at(-2)) throw new Error(`[${shape.join(", ")}] does not hold square matrices`);
  const types = [{ dataType, shape: shape.slice(0, -2) }];
  return call.add({ kind: "call", function: "determinant", attributes: {}, types }, x);
}

/** Translates the ONNX operators MatMul, Gemm and Det (determinants, which the interpreter computes) to graph operations. */
export const matrixProducts: OperatorFamily = {
  MatMul: since(1, (call) => matmulOperator(call, call.tensor(0), call.tensor(1))),
  Gemm: since(1, gemm),
  Det: since(11, determinant),
};
