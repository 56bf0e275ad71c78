/**
 * One loop over a fused chain of elementwise operations: operands are loaded four elements at a time, intermediate results stay in registers, and the
 * result is stored once.
 */
import { at } from "../../../../../contract/checked.ts";
import type { I32 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { minimum, addressAt, product, unravel } from "../loops/addressing.ts";
import { contiguousStrides } from "../../../../ir/broadcast.ts";
import { type Axis, collapseAxes } from "../loops/axes.ts";
import { type RegisterValue, elementAddress, loadElements, storeElements } from "./registers.ts";
import { type ElementwiseRequest, laneBytes } from "./request.ts";
import { emitStep } from "./steps.ts";

/** Elements per piece when all operands collapse to one axis. */
const blockElements = 1024;

/**
 * Generates the kernel of a fused chain of elementwise operations. Parameters: input0, input1, ..., output. One piece (unit of parallel work) is a
 * row of the collapsed shape, or a block of 1,024 elements when that is a single row. Throws CONTRACT_VIOLATION during code generation for requests
 * that `supportsElementwise` rejects.
 */
export function elementwise(request: ElementwiseRequest): Kernel {
  const { shape, inputs, steps, output } = request;
  const dense = contiguousStrides(shape);
  const axes = collapseAxes(shape, [...inputs.map(({ strides }) => strides ?? dense), dense]);
  const inner = axes.at(-1) ?? { size: 1, strides: [] };
  const outer = axes.slice(0, -1);
  const rows = product(outer.map(({ size }) => size));
  const isOneRow = outer.length === 0;
  return defineKernel({
    family: "elementwise",
    request: {
      axes: [...outer, { rest: inner.size % 4, strides: inner.strides }],
      inputs: inputs.map(({ type }) => type),
      steps,
      output,
    },
    dynamicSizes: { size: inner.size },
    inputs: inputs.map((_, index): string => `input${index}`),
    outputs: ["output"],
    pieces: isOneRow ? Math.ceil(inner.size / blockElements) : rows,
    pieceNanoseconds: (isOneRow ? blockElements : inner.size) * (0.3 + 0.3 * steps.length) + 5,
    machine: { request: { inputs, steps, output, outer, strides: inner.strides, blockElements } },
    emit(f, offsets, from, to, { size }) {
      const bases = [...inputs.map((_, index) => `input${index}`), "output"].map((name) => offsets[name] ?? i32.const(0));
      if (isOneRow) {
        const end = minimum(i32.mul(to, i32.const(blockElements)), size);
        emitRow(f, request, inner, bases, { from: i32.mul(from, i32.const(blockElements)), end: f.value(end), size });
        return;
      }
      f.range(from, to, 1, (row) => {
        const coordinates = unravel(
          f,
          row,
          outer.map(({ size }) => size),
        );
        const starts = bases.map((base, operand) => {
          const bytes = laneBytes[inputs[operand]?.type ?? output];
          return f.value(
            addressAt(
              base,
              coordinates,
              outer.map(({ strides }) => at(strides, operand) * bytes),
            ),
          );
        });
        emitRow(f, request, inner, starts, { from: i32.const(0), end: size, size });
      });
    },
  });
}

/** The elements `from` to `end` (exclusive) of a row of `size` elements. `end` is a multiple of 4 or equal to `size`. */
interface RowRange {
  readonly from: I32;
  readonly end: I32;
  readonly size: I32;
}

/**
 * Generates the loop over part of a row. `starts` are the addresses of the row in each input and in the output. The code depends on the size of the
 * row modulo 4 only.
 */
function emitRow(f: FunctionBuilder, request: ElementwiseRequest, axis: Axis, starts: readonly I32[], part: RowRange): void {
  const { from, end, size } = part;
  const rest = axis.size % 4;
  const whole = f.value(i32.sub(size, i32.const(rest)));
  const body = (place: I32, lanes: number): void => {
    const address = (operand: number): I32 =>
      elementAddress(
        starts[operand] ?? i32.const(0),
        place,
        at(axis.strides, operand),
        request.inputs[operand]?.type ?? request.output,
      );
    const values: RegisterValue[] = request.inputs.map(({ type }, operand) =>
      loadElements(f, type, address(operand), at(axis.strides, operand)),
    );
    const constants = new Map<number, number>();
    for (const step of request.steps) {
      if (step.op === "constant") constants.set(values.length, step.value);
      values.push(emitStep(f, step, values, constants));
    }
    const result = values.at(-1);
    if (result !== undefined) storeElements(f, request.output, address(request.inputs.length), result, lanes);
  };
  f.range(from, minimum(end, whole), 4, (place) => body(place, 4));
  if (rest > 0) f.when(i32.eq(end, size), () => body(whole, rest));
}
