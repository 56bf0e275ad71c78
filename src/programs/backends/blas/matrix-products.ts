/** The pass that hands the matrix products of a graph to a library. */
import { at, required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { broadcastShape, contiguousStrides, elementOffsets } from "../../../engine/ir/broadcast.ts";
import type { Graph, Value } from "../../../engine/ir/graph.ts";
import type { Literal } from "../../../engine/ir/literal.ts";
import { type Rewriter, rewrite } from "../../../engine/passes/rewrite.ts";
import type { BlasElements, BlasLibrary, BlasMatrix, ProductSizes } from "./blas-library.ts";

/** An operand of a product: matrices in one buffer. */
interface Operand {
  /** The tensor that is read: the operand, or the tensor that it is a transpose of. */
  readonly value: Value;
  /** Axes of `value` in the order of the operand's axes. */
  readonly permutation: readonly number[];
  /** Offset of each matrix in elements, one for each matrix of the product. */
  readonly offsets: ArrayLike<number>;
  readonly form: Omit<BlasMatrix, "data">;
}

/** The matrix products of one device. */
export class MatrixProducts {
  readonly library: BlasLibrary;
  readonly threads: number;
  /** Calls of the library. */
  calls = 0;

  constructor(library: BlasLibrary, threads: number) {
    this.library = library;
    this.threads = threads;
  }

  /**
   * The graph with its products of float32 and float64 as calls of the library, as far as it has that type. A transposed operand is read without a copy if its rows or its
   * columns are contiguous. Products without elements stay as they are.
   */
  replaceIn(graph: Graph): Graph {
    return rewrite(graph, ({ operation, inputs: [first, second], outputs: [product] }, rewriter) => {
      if (operation.kind !== "matmul" || first === undefined || second === undefined || product === undefined) return undefined;
      const { dataType, shape } = product.type;
      const [rows = 0, columns = 0] = shape.slice(-2);
      const inner = at(first.type.shape, first.type.shape.length - 1);
      if (!this.library.supports(dataType) || elementCount(shape) === 0 || inner === 0) return undefined;
      const batch = broadcastShape(first.type.shape.slice(0, -2), second.type.shape.slice(0, -2));
      const [a, b] = [readOperand(first, batch, rewriter), readOperand(second, batch, rewriter)];
      const evaluate = this.#product(a, b, { dataType, shape, ...joinRows(a, b, { rows, inner, columns }) });
      const call = {
        kind: "call",
        function: "matrix-product",
        attributes: { a: a.permutation, b: b.permutation },
        types: [product.type],
        implementation: { evaluate },
      } as const;
      return [rewriter.add(call, a.value, b.value)];
    });
  }

  /** The function that computes a product from the tensors that its operands read. */
  #product(
    a: Operand,
    b: Operand,
    {
      dataType,
      shape,
      sizes,
      count,
    }: {
      readonly dataType: "float32" | "float64";
      readonly shape: readonly number[];
      readonly sizes: ProductSizes;
      readonly count: number;
    },
  ): (inputs: readonly Literal[]) => readonly Literal[] {
    const settings = { ...sizes, threads: this.threads };
    return ([left, right]) => {
      const [ofA, ofB] = [required(left, "a").data as BlasElements, required(right, "b").data as BlasElements];
      const length = elementCount(shape);
      const data = dataType === "float32" ? new Float32Array(length) : new Float64Array(length);
      for (let matrix = 0; matrix < count; matrix += 1) {
        const one = { ...a.form, data: ofA.subarray(a.offsets[matrix]) };
        const other = { ...b.form, data: ofB.subarray(b.offsets[matrix]) };
        const into = data.subarray(matrix * sizes.rows * sizes.columns);
        this.library.multiply(dataType, [one, other], into, settings);
      }
      this.calls += count;
      return [{ dataType, shape, data }];
    };
  }
}

/** Where the matrices of an operand are: in the tensor that it is a transpose of, if a library can read them there, else in the operand itself. */
function readOperand(value: Value, batch: readonly number[], rewriter: Rewriter): Operand {
  const transpose = rewriter.producerOfKind(value, "transpose");
  const source = transpose?.inputs[0];
  const there = transpose && source && operandAt(source, transpose.operation.permutation, batch);
  return there ?? required(operandAt(value, [...value.type.shape.keys()], batch), "a contiguous operand");
}

/** The operand whose axes are those of `value` in another order; undefined if neither its rows nor its columns are contiguous. */
function operandAt(value: Value, permutation: readonly number[], batch: readonly number[]): Operand | undefined {
  const own = contiguousStrides(value.type.shape);
  const shape = permutation.map((axis) => at(value.type.shape, axis));
  const strides = permutation.map((axis) => at(own, axis));
  const [rows = 1, columns = 1] = shape.slice(-2);
  const [rowStride = 1, columnStride = 1] = strides.slice(-2);
  const form =
    columnStride === 1 || columns === 1
      ? { isTransposed: false, stride: Math.max(rowStride, columns) }
      : rowStride === 1 || rows === 1
        ? { isTransposed: true, stride: Math.max(columnStride, rows) }
        : undefined;
  if (form === undefined) return undefined;
  const missing = batch.length - (shape.length - 2);
  const steps = batch.map((_, axis) => (axis < missing || shape[axis - missing] === 1 ? 0 : at(strides, axis - missing)));
  return { value, permutation, offsets: elementOffsets(batch, steps), form };
}

/** One product in place of many, if all have the same second operand and the rows of the first operands follow each other. */
function joinRows(a: Operand, b: Operand, sizes: ProductSizes): { readonly sizes: ProductSizes; readonly count: number } {
  const count = a.offsets.length;
  const { rows, inner } = sizes;
  const isSame = Array.from(b.offsets).every((offset) => offset === b.offsets[0]);
  const follows = Array.from(a.offsets).every((offset, matrix) => offset === matrix * rows * inner);
  const isDense = !a.form.isTransposed && a.form.stride === inner;
  return isSame && follows && isDense ? { sizes: { ...sizes, rows: rows * count }, count: 1 } : { sizes, count };
}
