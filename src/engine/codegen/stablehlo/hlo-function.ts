/** Writes the body of one StableHLO function, operation by operation, in the generic form of MLIR: `"stablehlo.add"(%1, %2) : (…) -> …`. */
import { at } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { broadcastShape } from "../../ir/broadcast.ts";
import { type ElementType, elementTypes, isFloat } from "../../ir/element-types.ts";
import { type Literal, toLiteral } from "../../ir/literal.ts";
import type { CallImplementation } from "../../ir/operations.ts";
import { type TensorType, sameShape } from "../../ir/tensor-type.ts";
import { denseText, scalarLiteral, tensorTypeText } from "./hlo-types.ts";

/** A value of the function: its name in the text, such as "%12", and its type. */
export interface HloValue {
  readonly name: string;
  readonly type: TensorType;
  /** Of a matrix [rows, columns] that the program has as [columns, rows]: that matrix. Its own name must not be used then. */
  readonly swapped?: HloValue;
}

/** Comparisons, as StableHLO names them. */
export type Comparison = "EQ" | "NE" | "LT" | "LE" | "GT" | "GE";

/** Builds the body of a region: computes the region's results from its scalar arguments, in a nested HloFunction. */
type Region = (inner: HloFunction, scalars: readonly HloValue[]) => readonly HloValue[];

/** A tuple of values with the same length as `Values`. */
type SameMany<Values extends readonly HloValue[]> = { readonly [Index in keyof Values]: HloValue };

/** Attributes of one operation: text by attribute name. */
type Attributes = Readonly<Record<string, string>>;

/** Builder for the operations of one function, in order. Each method appends one or a few operations and returns their result. */
export class HloFunction {
  readonly #lines: string[] = [];
  readonly #names: { count: number };

  /**
   * `names`: name counter of the enclosing function. Pass it for a region, since names in a region must differ from the names of the enclosing
   * function.
   */
  constructor(names: { count: number } = { count: 0 }) {
    this.#names = names;
  }

  /** The lines of the body. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Appends an operation with one result. `name`: operation name with its dialect, such as "chlo.erf". */
  operation(name: string, operands: readonly HloValue[], type: TensorType, attributes: Attributes = {}): HloValue {
    return at(this.operations(name, operands, [type], attributes), 0);
  }

  /** Appends an operation with any number of results. `region`: the lines of its region, if it has one. */
  operations(
    name: string,
    operands: readonly HloValue[],
    types: readonly TensorType[],
    attributes: Attributes = {},
    region: readonly string[] = [],
  ): readonly HloValue[] {
    const first = `%${this.#next()}`;
    const results = types.length === 1 ? first : `${first}:${types.length}`;
    const settings = Object.entries(attributes).map(([key, text]) => `${key} = ${text}`);
    const dictionary = settings.length === 0 ? "" : ` {${settings.join(", ")}}`;
    const body = region.length === 0 ? "" : ` ({\n${region.join("\n")}\n})`;
    const to = types.map(tensorTypeText).join(", ");
    this.#lines.push(
      `${results} = "${name}"(${operands.map(({ name: own }) => own).join(", ")})${body}${dictionary} : (${operands.map(({ type }) => tensorTypeText(type)).join(", ")}) -> ${types.length === 1 ? to : `(${to})`}`,
    );
    return types.map((type, index) => ({ name: types.length === 1 ? first : `${first}#${index}`, type }));
  }

  /** Appends statements that `write` returns, one a line, which define the results. */
  statements(
    operands: readonly HloValue[],
    types: readonly TensorType[],
    write: (names: Parameters<NonNullable<CallImplementation["stableHlo"]>>[0]) => string,
  ): readonly HloValue[] {
    const results = types.map((type) => ({ name: `%${this.#next()}`, type }));
    const text = write({
      inputs: operands.map(({ name }) => name),
      results: results.map(({ name }) => name),
      inputTypes: operands.map(({ type }) => tensorTypeText(type)),
      resultTypes: types.map(tensorTypeText),
      newName: () => `%${this.#next()}`,
    });
    this.#lines.push(...text.split("\n"));
    return results;
  }

  /** Text lines of a region with scalar arguments of these types, including the terminating `stablehlo.return`. */
  region(types: readonly ElementType[], compute: Region): readonly string[] {
    return this.#region(
      types.map((dataType) => ({ dataType, shape: [] })),
      compute,
    );
  }

  #region(types: readonly TensorType[], compute: Region): readonly string[] {
    const inner = new HloFunction(this.#names);
    const parameters = types.map((type) => ({ name: `%${this.#next()}`, type }));
    const results = compute(inner, parameters);
    const head = `^bb0(${parameters.map(({ name, type }) => `${name}: ${tensorTypeText(type)}`).join(", ")}):`;
    const end = `"stablehlo.return"(${results.map(({ name }) => name).join(", ")}) : (${results.map(({ type }) => tensorTypeText(type)).join(", ")}) -> ()`;
    return [head, ...inner.lines, end];
  }

  #next(): number {
    this.#names.count += 1;
    return this.#names.count;
  }

  /** Appends a constant. */
  constant(literal: Literal): HloValue {
    const { dataType, shape } = literal;
    const type = { dataType, shape };
    const flat = dataType === "bool" ? { dataType, shape: [elementCount(shape)] } : type;
    const value = this.operation("stablehlo.constant", [], flat, { value: `${denseText(literal)} : ${tensorTypeText(flat)}` });
    return this.reshape(value, shape);
  }

  /** Appends a scalar constant; see `scalarLiteral`. */
  scalar(dataType: ElementType, value: number): HloValue {
    return this.constant(scalarLiteral(dataType, value));
  }

  /** Appends a constant tensor whose elements all have one value. */
  filled(dataType: ElementType, value: number, shape: readonly number[]): HloValue {
    return this.broadcast(this.scalar(dataType, value), shape);
  }

  /** Appends a constant of int64 numbers, as a vector or in the given shape. */
  integers(values: readonly number[], shape: readonly number[] = [values.length]): HloValue {
    return this.constant(toLiteral("int64", shape, values));
  }

  /** Appends an operation with one operand; the result has the operand's type. */
  unary(name: string, x: HloValue): HloValue {
    return this.operation(name, [x], x.type);
  }

  /** Appends an operation with two operands of one element type, which are broadcast to a common shape. The result has the same element type. */
  binary(name: string, a: HloValue, b: HloValue): HloValue {
    const [one, other] = this.together(a, b);
    return this.operation(name, [one, other], one.type);
  }

  /** Compares two operands, which are broadcast to a common shape. The result is bool. A comparison with NaN is false, except NE. */
  compare(a: HloValue, comparison: Comparison, b: HloValue): HloValue {
    const [one, other] = this.together(a, b);
    const { dataType, shape } = one.type;
    const kind = isFloat(dataType) ? "FLOAT" : elementTypes[dataType].kind === "signed" ? "SIGNED" : "UNSIGNED";
    return this.operation(
      "stablehlo.compare",
      [one, other],
      { dataType: "bool", shape },
      {
        comparison_direction: `#stablehlo<comparison_direction ${comparison}>`,
        compare_type: `#stablehlo<comparison_type ${kind}>`,
      },
    );
  }

  /** Selects elements of `then` where the condition is true, otherwise of `otherwise`. All three operands are broadcast to a common shape. */
  select(condition: HloValue, then: HloValue, otherwise: HloValue): HloValue {
    const [chosen, one, other] = this.together(condition, then, otherwise);
    return this.operation("stablehlo.select", [chosen, one, other], one.type);
  }

  /** Converts elements as `stablehlo.convert` does; see `castElements` for ONNX's rules. */
  convert(x: HloValue, dataType: ElementType): HloValue {
    if (x.type.dataType === dataType) return x;
    return this.operation("stablehlo.convert", [x], { dataType, shape: x.type.shape });
  }

  /** Broadcasts the values to their common shape. */
  together<const Values extends readonly HloValue[]>(...values: Values): SameMany<Values> {
    const shape = broadcastShape(...values.map(({ type }) => type.shape));
    return values.map((value) => this.broadcast(value, shape)) as SameMany<Values>;
  }

  /** Broadcasts x to a shape by NumPy's rules. */
  broadcast(x: HloValue, shape: readonly number[]): HloValue {
    if (sameShape(x.type.shape, shape)) return x;
    const first = shape.length - x.type.shape.length;
    return this.broadcastAxes(
      x,
      shape,
      x.type.shape.map((_, axis) => first + axis),
    );
  }

  /** Broadcasts x to a shape (broadcast_in_dim): axis i of x becomes axis `axes[i]` of the result. */
  broadcastAxes(x: HloValue, shape: readonly number[], axes: readonly number[]): HloValue {
    return this.operation(
      "stablehlo.broadcast_in_dim",
      [x],
      { dataType: x.type.dataType, shape },
      { broadcast_dimensions: formatList(axes) },
    );
  }

  reshape(x: HloValue, shape: readonly number[]): HloValue {
    if (sameShape(x.type.shape, shape)) return x;
    return this.operation("stablehlo.reshape", [x], { dataType: x.type.dataType, shape });
  }

  /** Permutes axes: axis i of the result is axis `permutation[i]` of x. */
  transpose(x: HloValue, permutation: readonly number[]): HloValue {
    if (permutation.every((axis, index) => axis === index)) return x;
    const shape = permutation.map((axis) => at(x.type.shape, axis));
    return this.operation(
      "stablehlo.transpose",
      [x],
      { dataType: x.type.dataType, shape },
      { permutation: formatList(permutation) },
    );
  }

  /** Reverses the order of elements along axes. */
  reverse(x: HloValue, axes: readonly number[]): HloValue {
    return axes.length === 0 ? x : this.operation("stablehlo.reverse", [x], x.type, { dimensions: formatList(axes) });
  }

  /** Strided slice from `starts` (inclusive) to `limits` (exclusive). Starts and limits are at least 0, strides at least 1. */
  slice(x: HloValue, starts: readonly number[], limits: readonly number[], strides: readonly number[]): HloValue {
    const shape = starts.map((start, axis) => Math.max(0, Math.ceil((at(limits, axis) - start) / at(strides, axis))));
    const { dataType } = x.type;
    return this.operation(
      "stablehlo.slice",
      [x],
      { dataType, shape },
      {
        start_indices: formatList(starts),
        limit_indices: formatList(limits),
        strides: formatList(strides),
      },
    );
  }

  /** Pads with `value`: adds `before` and `after` elements to each axis. Negative numbers remove elements. */
  pad(x: HloValue, value: HloValue, before: readonly number[], after: readonly number[]): HloValue {
    const shape = x.type.shape.map((size, axis) => size + at(before, axis) + at(after, axis));
    return this.operation(
      "stablehlo.pad",
      [x, value],
      { dataType: x.type.dataType, shape },
      {
        edge_padding_low: formatList(before),
        edge_padding_high: formatList(after),
        interior_padding: formatList(before.map(() => 0)),
      },
    );
  }

  concatenate(values: readonly HloValue[], axis: number): HloValue {
    const first = at(values, 0);
    const size = values.reduce((sum, { type }) => sum + at(type.shape, axis), 0);
    const type = { dataType: first.type.dataType, shape: first.type.shape.with(axis, size) };
    return values.length === 1 ? first : this.operation("stablehlo.concatenate", values, type, { dimension: `${axis} : i64` });
  }

  /** Appends a tensor of a shape whose elements are their index along an axis. */
  iota(dataType: ElementType, shape: readonly number[], axis: number): HloValue {
    return this.operation("stablehlo.iota", [], { dataType, shape }, { iota_dimension: `${axis} : i64` });
  }

  /**
   * Reduces axes of one or several operands of equal shape together. `starts`: initial value for each operand, a scalar. `combine`: maps the
   * accumulated values and one element of each operand to the new accumulated values.
   */
  reduce(
    operands: readonly HloValue[],
    starts: readonly HloValue[],
    axes: readonly number[],
    combine: Region,
  ): readonly HloValue[] {
    const shape = at(operands, 0).type.shape.filter((_, axis) => !axes.includes(axis));
    const types = operands.map(({ type }) => type.dataType);
    return this.operations(
      "stablehlo.reduce",
      [...operands, ...starts],
      types.map((dataType) => ({ dataType, shape })),
      { dimensions: formatList(axes) },
      this.region([...types, ...types], combine),
    );
  }

  /** Runs `body` on values for as long as `condition` holds, and returns the last ones. Both regions are given the values of the turn. */
  loop<const Values extends readonly HloValue[]>(
    start: Values,
    condition: (inner: HloFunction, values: SameMany<Values>) => HloValue,
    body: (inner: HloFunction, values: SameMany<Values>) => readonly HloValue[],
  ): SameMany<Values> {
    const types = start.map(({ type }) => type);
    const test = this.#region(types, (inner, values) => [condition(inner, values as SameMany<Values>)]);
    const turn = this.#region(types, (inner, values) => body(inner, values as SameMany<Values>));
    return this.operations("stablehlo.while", start, types, {}, [...test, "}, {", ...turn]) as SameMany<Values>;
  }

  /** Appends a slice of a shape that begins at indices, which are int32 scalars. */
  dynamicSlice(x: HloValue, starts: readonly HloValue[], shape: readonly number[]): HloValue {
    const type = { dataType: x.type.dataType, shape };
    return this.operation("stablehlo.dynamic_slice", [x, ...starts], type, { slice_sizes: formatList(shape) });
  }

  /**
   * Batched matrix product (dot_general). The result has the batch axes first, then the remaining axes of a, then the remaining axes of b. `axes`:
   * number of batch axes, and the contracted axis of a and of b.
   */
  dot(
    a: HloValue,
    b: HloValue,
    result: TensorType,
    axes: { readonly batch: number; readonly a: number; readonly b: number },
  ): HloValue {
    const batch = Array.from({ length: axes.batch }, (_, axis) => axis).join(", ");
    return this.operation("stablehlo.dot_general", [a, b], result, {
      dot_dimension_numbers: `#stablehlo.dot<lhs_batching_dimensions = [${batch}], rhs_batching_dimensions = [${batch}], lhs_contracting_dimensions = [${axes.a}], rhs_contracting_dimensions = [${axes.b}]>`,
      precision_config: "[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]",
    });
  }
}

/** Text of an attribute that is an array of integers. */
export function formatList(values: readonly number[]): string {
  return values.length === 0 ? "array<i64>" : `array<i64: ${values.join(", ")}>`;
}
