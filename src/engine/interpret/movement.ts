/** Operations that move elements and change none. */
import { elementCount } from "../../tensor.ts";
import { broadcastStrides, elementOffsets, stridesOf } from "../ir/broadcast.ts";
import { type Literal, pickElements, reshaped, stringsOf, zeroLiteral } from "../ir/literal.ts";
import type { OperationOf } from "../ir/operations.ts";

type Literals = readonly Literal[];

export function evaluateSlice({ starts, steps, sizes }: OperationOf<"slice">, [x]: Literals): Literals {
  if (x === undefined) throw new Error("it lacks its operand");
  const strides = stridesOf(x.shape);
  const first = starts.reduce((sum, start, axis) => sum + start * (strides[axis] ?? 0), 0);
  return [
    pickElements(
      x,
      sizes,
      elementOffsets(
        sizes,
        steps.map((step, axis) => step * (strides[axis] ?? 0)),
        first,
      ),
    ),
  ];
}

export function evaluatePad({ mode, before, after }: OperationOf<"pad">, [x, value]: Literals): Literals {
  if (x === undefined) throw new Error("it lacks its operand");
  const shape = x.shape.map((size, axis) => size + (before[axis] ?? 0) + (after[axis] ?? 0));
  const strides = stridesOf(x.shape);
  const count = elementCount(x.shape);
  // For each axis and place the place in x, or -1 for the padding.
  const sources = shape.map((size, axis) =>
    Int32Array.from({ length: size }, (_, index) => sourceIndex(index - (before[axis] ?? 0), x.shape[axis] ?? 0, mode)),
  );
  const places = new Float64Array(elementCount(shape));
  const own = stridesOf(shape);
  for (let element = 0; element < places.length; element += 1) {
    let place = 0;
    let rest = element;
    for (let axis = 0; axis < shape.length && place >= 0; axis += 1) {
      const stride = own[axis] ?? 1;
      const source = sources[axis]?.[Math.floor(rest / stride)] ?? 0;
      rest %= stride;
      place = source < 0 ? -1 : place + source * (strides[axis] ?? 0);
    }
    places[element] = place < 0 ? count : place;
  }
  return [pickElements(value === undefined ? x : append(x, value), shape, places)];
}

function sourceIndex(index: number, size: number, mode: OperationOf<"pad">["mode"]): number {
  if (index >= 0 && index < size) return index;
  if (mode === "constant") return -1;
  if (mode === "edge") return index < 0 ? 0 : size - 1;
  if (mode === "wrap") return ((index % size) + size) % size;
  const period = 2 * (size - 1);
  const folded = ((index % period) + period) % period;
  return folded < size ? folded : period - folded;
}

/** The elements of x and, behind them, one more. */
function append(x: Literal, value: Literal): Literal {
  return evaluateConcat({ kind: "concat", axis: 0 }, [reshaped(x, [x.data.length]), reshaped(value, [1])])[0] ?? x;
}

export function evaluateConcat({ axis }: OperationOf<"concat">, inputs: Literals): Literals {
  const [first] = inputs;
  if (first === undefined) throw new Error("it joins nothing");
  const size = inputs.reduce((sum, { shape }) => sum + (shape[axis] ?? 0), 0);
  const shape = first.shape.with(axis, size);
  const outer = elementCount(shape.slice(0, axis));
  const inner = elementCount(shape.slice(axis + 1));
  if (first.dataType === "string") {
    const rows = Array.from({ length: outer }, (_, row) =>
      inputs.flatMap((each) => {
        const length = (each.shape[axis] ?? 0) * inner;
        return stringsOf(each).slice(row * length, (row + 1) * length);
      }),
    );
    return [{ dataType: "string", shape, data: rows.flat() }];
  }
  const result = zeroLiteral(first.dataType, shape);
  const into = result.data as Float64Array;
  let start = 0;
  for (const each of inputs) {
    const length = (each.shape[axis] ?? 0) * inner;
    const from = each.data as Float64Array;
    for (let row = 0; row < outer; row += 1)
      into.set(from.subarray(row * length, (row + 1) * length), row * size * inner + start);
    start += length;
  }
  return [result];
}

export function evaluateTranspose({ permutation }: OperationOf<"transpose">, [x]: Literals): Literals {
  if (x === undefined) throw new Error("it lacks its operand");
  const strides = stridesOf(x.shape);
  const shape = permutation.map((axis) => x.shape[axis] ?? 0);
  return [
    pickElements(
      x,
      shape,
      elementOffsets(
        shape,
        permutation.map((axis) => strides[axis] ?? 0),
      ),
    ),
  ];
}

export function evaluateReshape({ shape }: OperationOf<"reshape">, [x]: Literals): Literals {
  if (x === undefined) throw new Error("it lacks its operand");
  return [reshaped(x, shape)];
}

export function evaluateExpand({ shape }: OperationOf<"expand">, [x]: Literals): Literals {
  if (x === undefined) throw new Error("it lacks its operand");
  return [pickElements(x, shape, elementOffsets(shape, broadcastStrides(x.shape, shape)))];
}
