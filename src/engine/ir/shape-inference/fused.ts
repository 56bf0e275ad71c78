/** Operations that passes make of several others. */
import { describeType, sameShape, type TensorType } from "../graph.ts";
import type { ElementOperation, OperationOf } from "../operations.ts";
import { inferTranspose } from "./movement.ts";
import { inferMatmul } from "./products.ts";

type Types = readonly TensorType[];

export function inferLinear({ bias, residual }: OperationOf<"linear">, inputs: Types): Types {
  const [x, weights, ...others] = inputs;
  if (x === undefined || weights === undefined || others.length !== Number(bias) + Number(residual !== "none")) {
    throw new Error(`it has ${inputs.length} inputs`);
  }
  const [product] = inferMatmul([x, weights]);
  if (product === undefined || weights.shape.length !== 2) throw new Error(`its weights are ${describeType(weights)}`);
  const [first, last] = [others[0], others.at(-1)];
  if (bias && first?.shape.join() !== String(weights.shape[1])) throw new Error("its bias does not fit");
  if (residual !== "none" && !sameShape(last?.shape ?? [], product.shape)) throw new Error("its residual does not fit");
  return [product];
}

/** `result`: what becomes of the sums of int32. */
export function inferIntegerMatmul([x, weights]: Types, result: "int32" | "float32"): Types {
  if (
    x?.dataType !== "int16" ||
    weights?.dataType !== "int32" ||
    x.shape.at(-1) !== weights.shape[0] ||
    weights.shape.length !== 2
  ) {
    throw new Error("it takes int16 [..., k] and int32 weights [k, n]");
  }
  return [{ dataType: result, shape: [...x.shape.slice(0, -1), weights.shape[1] ?? 0] }];
}

export function inferFusedMatmul({ a, b, result }: OperationOf<"fused-matmul">, inputs: Types): Types {
  const [one, other] = inputs;
  if (one === undefined || other === undefined) throw new Error("it takes a and b");
  const left = inferTranspose({ kind: "transpose", permutation: a }, [one]);
  const right = inferTranspose({ kind: "transpose", permutation: b }, [other]);
  return inferTranspose({ kind: "transpose", permutation: result }, inferMatmul([...left, ...right]));
}

/** `infer` answers for one step. */
export function inferElementwise(
  { steps }: OperationOf<"elementwise">,
  inputs: Types,
  infer: (operation: ElementOperation, inputs: Types) => Types,
): Types {
  const types = [...inputs];
  for (const { operation, operands: of } of steps) {
    const operands = of.map((place) => {
      const type = types[place];
      if (type === undefined) throw new Error(`a step names value ${place}, and there are ${types.length} before it`);
      return type;
    });
    types.push(...infer(operation, operands));
  }
  return types.slice(-1);
}
