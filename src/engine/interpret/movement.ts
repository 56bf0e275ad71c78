/** Operations that move elements without changing them. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { broadcastStrides, elementOffsets, contiguousStrides } from "../ir/broadcast.ts";
import { type Literal, pickElements, reshaped, toStrings, zeroLiteral } from "../ir/literal.ts";
import type { One } from "./operands.ts";
import type { OperationOf } from "../ir/operations.ts";
import { paddedIndex } from "../ir/window-arithmetic.ts";

type Literals = readonly Literal[];

/** Evaluates `slice`: along each axis, `sizes` elements from index `starts` on, `steps` apart; a step may be negative. */
export function evaluateSlice({ starts, steps, sizes }: OperationOf<"slice">, [x]: One): Literals {
  const strides = contiguousStrides(x.shape);
  const first = starts.reduce((sum, start, axis) => sum + start * at(strides, axis), 0);
  return [
    pickElements(
      x,
      sizes,
      elementOffsets(
        sizes,
        steps.map((step, axis) => step * at(strides, axis)),
        first,
      ),
    ),
  ];
}

/** Evaluates `pad` in all its modes: constant, edge, reflect and wrap. The second input is the scalar of the mode constant. */
export function evaluatePad({ mode, before, after }: OperationOf<"pad">, [x, value]: readonly [Literal, Literal?]): Literals {
  const shape = x.shape.map((size, axis) => size + at(before, axis) + at(after, axis));
  const strides = contiguousStrides(x.shape);
  const count = elementCount(x.shape);
  // For each index of each axis the index in x, or -1 for constant padding.
  const sources = shape.map((size, axis) =>
    Int32Array.from({ length: size }, (_, index) => paddedIndex(index - at(before, axis), at(x.shape, axis), mode)),
  );
  const offsets = new Float64Array(elementCount(shape));
  const own = contiguousStrides(shape);
  for (let element = 0; element < offsets.length; element += 1) {
    let offset = 0;
    let rest = element;
    for (let axis = 0; axis < shape.length && offset >= 0; axis += 1) {
      const stride = at(own, axis);
      const source = sources[axis]?.[Math.floor(rest / stride)] ?? 0;
      rest %= stride;
      offset = source < 0 ? -1 : offset + source * at(strides, axis);
    }
    offsets[element] = offset < 0 ? count : offset;
  }
  return [pickElements(value === undefined ? x : append(x, value), shape, offsets)];
}

/** The elements of x followed by one more. */
function append(x: Literal, value: Literal): Literal {
  return evaluateConcat({ kind: "concat", axis: 0 }, [reshaped(x, [x.data.length]), reshaped(value, [1])])[0] ?? x;
}

/** Evaluates `concat`: joins the inputs along one axis. */
export function evaluateConcat({ axis }: OperationOf<"concat">, inputs: Literals): Literals {
  const [first] = inputs;
  if (first === undefined) throw new Error("there is nothing to concatenate");
  const size = inputs.reduce((sum, { shape }) => sum + at(shape, axis), 0);
  const shape = first.shape.with(axis, size);
  const outer = elementCount(shape.slice(0, axis));
  const inner = elementCount(shape.slice(axis + 1));
  if (first.dataType === "string") {
    const rows = Array.from({ length: outer }, (_, row) =>
      inputs.flatMap((each) => {
        const length = at(each.shape, axis) * inner;
        return toStrings(each).slice(row * length, (row + 1) * length);
      }),
    );
    return [{ dataType: "string", shape, data: rows.flat() }];
  }
  const result = zeroLiteral(first.dataType, shape);
  const into = result.data as Float64Array;
  let start = 0;
  for (const each of inputs) {
    const length = at(each.shape, axis) * inner;
    const from = each.data as Float64Array;
    for (let row = 0; row < outer; row += 1)
      into.set(from.subarray(row * length, (row + 1) * length), row * size * inner + start);
    start += length;
  }
  return [result];
}

/** Evaluates `transpose`: axis i of the result is axis `permutation[i]` of x. */
export function evaluateTranspose({ permutation }: OperationOf<"transpose">, [x]: One): One {
  const strides = contiguousStrides(x.shape);
  const shape = permutation.map((axis) => at(x.shape, axis));
  return [
    pickElements(
      x,
      shape,
      elementOffsets(
        shape,
        permutation.map((axis) => at(strides, axis)),
      ),
    ),
  ];
}

/** Evaluates `reshape`. The result shares the elements of x; nothing is copied. */
export function evaluateReshape({ shape }: OperationOf<"reshape">, [x]: One): Literals {
  return [reshaped(x, shape)];
}

/** Evaluates `expand`: copies x, broadcast to `shape`. */
export function evaluateExpand({ shape }: OperationOf<"expand">, [x]: One): Literals {
  return [pickElements(x, shape, elementOffsets(shape, broadcastStrides(x.shape, shape)))];
}
