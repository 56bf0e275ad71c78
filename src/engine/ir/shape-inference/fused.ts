/** Shape inference of fused operations, which passes create from several others. */
import { describeType, sameShape, type TensorType } from "../tensor-type.ts";
import type { ElementOperation, OperationOf } from "../operations.ts";
import { inferTranspose } from "./movement.ts";
import { operands } from "./operands.ts";
import { inferMatmul } from "./products.ts";

type Types = readonly TensorType[];

/** Output type of `linear`: the type of the matrix product x [..., k] by weights [k, n]. Throws Error if bias or residual do not fit it. */
export function inferLinear({ bias, residual }: OperationOf<"linear">, inputs: Types): Types {
  const [x, weights, ...others] = inputs;
  if (x === undefined || weights === undefined || others.length !== Number(bias) + Number(residual !== "none")) {
    throw new Error(`got ${inputs.length} inputs, which are not x, weights and what the epilogue adds`);
  }
  const [product] = inferMatmul([x, weights]);
  if (product === undefined || weights.shape.length !== 2)
    throw new Error(`the weights are ${describeType(weights)}, and must have rank 2`);
  const [first, last] = [others[0], others.at(-1)];
  if (bias && first?.shape.join() !== String(weights.shape[1]))
    throw new Error(`the bias does not have ${weights.shape[1]} elements`);
  if (residual !== "none" && !sameShape(last?.shape ?? [], product.shape))
    throw new Error(`the residual does not have the shape of ${describeType(product)}`);
  return [product];
}

/**
 * Output type of `integer-matmul` and `integer-linear`: [..., n]. `result` is its element type: int32 sums, or float32 if they are scaled. Throws
 * Error unless x is int16 [..., k] and the weights int32 [k, n].
 */
export function inferIntegerMatmul([x, weights]: Types, result: "int32" | "float32"): Types {
  const [depth, columns, ...rest] = weights?.shape ?? [];
  if (
    x?.dataType !== "int16" ||
    weights?.dataType !== "int32" ||
    columns === undefined ||
    rest.length > 0 ||
    x.shape.at(-1) !== depth
  ) {
    throw new Error("expected the inputs x of int16 [..., k] and weights of int32 [k, n]");
  }
  return [{ dataType: result, shape: [...x.shape.slice(0, -1), columns] }];
}

/** Output type of `fused-matmul`: the type of `matmul` on the permuted operands, with the axes of the product permuted. */
export function inferFusedMatmul({ a, b, result }: OperationOf<"fused-matmul">, inputs: Types): Types {
  const [one, other] = operands(inputs, "a", "b");
  const left = inferTranspose({ kind: "transpose", permutation: a }, [one]);
  const right = inferTranspose({ kind: "transpose", permutation: b }, [other]);
  return inferTranspose({ kind: "transpose", permutation: result }, inferMatmul([...left, ...right]));
}

/** Output type of `elementwise`, a fused chain: the type of its last step. `infer` returns the output types of one step. */
export function inferElementwise(
  { steps }: OperationOf<"elementwise">,
  inputs: Types,
  infer: (operation: ElementOperation, inputs: Types) => Types,
): Types {
  const types = [...inputs];
  for (const { operation, operands: numbers } of steps) {
    const operands = numbers.map((number) => {
      const type = types[number];
      if (type === undefined) throw new Error(`a step reads value ${number}, and there are only ${types.length} before it`);
      return type;
    });
    types.push(...infer(operation, operands));
  }
  return types.slice(-1);
}
