/** Kernels that copy elements: one thread for each element that is written, or for each line where the order of updates counts. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { broadcastStrides, contiguousStrides } from "../../../../engine/ir/broadcast.ts";
import type { GraphNode, NodeOf, Value } from "../../../../engine/ir/graph.ts";
import type { ScatterReduction } from "../../../../engine/ir/operations.ts";
import { loaded, rounded, storable } from "./c-types.ts";
import { coordinatesCode, offsetCode } from "./index-code.ts";
import type { ProgramText } from "./program-text.ts";

/** Copies the elements of `from` at these strides, from `start` on, to `to`, a contiguous tensor. */
export function printCopy(text: ProgramText, from: Value, to: Value, strides: readonly number[], start = 0): void {
  const { shape } = to.type;
  const body = [`y[i] = x[${offsetCode("i", shape, strides, start)}];`];
  text.each(elementCount(shape), [{ value: from, name: "x" }], [{ value: to, name: "y" }], body);
}

/** Prints `transpose`, `slice` and `expand`. */
export function printView(text: ProgramText, { operation, inputs, outputs }: NodeOf<"transpose" | "slice" | "expand">): void {
  const [x, y] = [at(inputs, 0), at(outputs, 0)];
  const own = contiguousStrides(x.type.shape);
  if (operation.kind === "expand") return printCopy(text, x, y, broadcastStrides(x.type.shape, y.type.shape));
  if (operation.kind === "transpose")
    return printCopy(
      text,
      x,
      y,
      operation.permutation.map((axis) => at(own, axis)),
    );
  const start = operation.starts.reduce((sum, first, axis) => sum + first * at(own, axis), 0);
  return printCopy(
    text,
    x,
    y,
    operation.steps.map((step, axis) => step * at(own, axis)),
    start,
  );
}

/** Prints `concat`: a kernel for each input. */
export function printConcat(text: ProgramText, { operation, inputs, outputs }: NodeOf<"concat">): void {
  const y = at(outputs, 0);
  const strides = contiguousStrides(y.type.shape);
  let before = 0;
  for (const x of inputs) {
    const { shape } = x.type;
    const start = before * at(strides, operation.axis);
    const body = [`y[${offsetCode("i", shape, strides, start)}] = x[i];`];
    text.each(elementCount(shape), [{ value: x, name: "x" }], [{ value: y, name: "y" }], body);
    before += at(shape, operation.axis);
  }
}

/** Prints `pad`. */
export function printPad(text: ProgramText, { operation, inputs, outputs }: NodeOf<"pad">): void {
  const [x, value, y] = [at(inputs, 0), inputs[1], at(outputs, 0)];
  const { mode, before } = operation;
  const { shape } = x.type;
  const strides = contiguousStrides(shape);
  const coordinates = coordinatesCode("i", y.type.shape);
  const body = coordinates.map((code, axis) => `int c${axis} = ${code} - ${at(before, axis)};`);
  const inside = shape.map((size, axis) => `c${axis} >= 0 && c${axis} < ${size}`);
  if (mode !== "constant")
    for (const [axis, size] of shape.entries()) {
      const c = `c${axis}`;
      const period = 2 * (size - 1);
      if (mode === "edge") body.push(`${c} = ${c} < 0 ? 0 : ${c} >= ${size} ? ${size - 1} : ${c};`);
      else if (mode === "wrap") body.push(`${c} = (${c} % ${size} + ${size}) % ${size};`);
      else if (size > 1)
        body.push(`${c} = (${c} % ${period} + ${period}) % ${period};`, `if (${c} >= ${size}) ${c} = ${period} - ${c};`);
    }
  const source = `x[${shape.map((_, axis) => `c${axis} * ${at(strides, axis)}`).join(" + ") || "0"}]`;
  const reads = [{ value: x, name: "x" }];
  if (mode === "constant" && value !== undefined) reads.push({ value, name: "v" });
  const other = mode === "constant" ? (value === undefined ? "0" : "v[0]") : undefined;
  body.push(`y[i] = ${other === undefined ? source : `(${inside.join(" && ") || "true"}) ? ${source} : ${other}`};`);
  text.each(elementCount(y.type.shape), reads, [{ value: y, name: "y" }], body);
}

/** Lines that read an index of an axis of `size` elements into `name`: negative ones count from the end, others are limited to the axis. */
function indexLines(name: string, code: string, size: number): readonly string[] {
  return [
    `int ${name} = (int)${code};`,
    `${name} = ${name} < 0 ? ${name} + ${size} : ${name};`,
    `${name} = ${name} < 0 ? 0 : ${name} >= ${size} ? ${size - 1} : ${name};`,
  ];
}

/** Prints `gather`, `gather-elements` and `gather-nd`. */
export function printGather(
  text: ProgramText,
  { operation, inputs, outputs }: NodeOf<"gather" | "gather-elements" | "gather-nd">,
): void {
  const [data, indices, y] = [at(inputs, 0), at(inputs, 1), at(outputs, 0)];
  const { shape } = data.type;
  const strides = contiguousStrides(shape);
  const body: string[] = [];
  if (operation.kind === "gather") {
    const inner = elementCount(shape.slice(operation.axis + 1));
    const count = elementCount(indices.type.shape);
    const size = at(shape, operation.axis);
    body.push(...indexLines("k", `n[i / ${inner} % ${count}]`, size));
    body.push(`y[i] = x[(i / ${inner * count} * ${size} + k) * ${inner} + i % ${inner}];`);
  } else if (operation.kind === "gather-elements") {
    const coordinates = coordinatesCode("i", indices.type.shape);
    body.push(...indexLines("k", "n[i]", at(shape, operation.axis)));
    const terms = coordinates.map((code, axis) => `${axis === operation.axis ? "k" : code} * ${at(strides, axis)}`);
    body.push(`y[i] = x[${terms.join(" + ")}];`);
  } else {
    body.push(...blockLines(data, indices, operation.batchAxes, "i"));
    body.push("y[i] = x[begin + inside];");
  }
  const reads = [
    { value: data, name: "x" },
    { value: indices, name: "n" },
  ];
  text.each(elementCount(y.type.shape), reads, [{ value: y, name: "y" }], body);
}

/** Lines with the row of indices, the first element of its block (`begin`), and the position in the block (`inside`) of the element `element` of all blocks. */
function blockLines(data: Value, indices: Value, batchAxes: number, element: string): readonly string[] {
  const depth = indices.type.shape.at(-1) ?? 0;
  const { shape } = data.type;
  const strides = contiguousStrides(shape);
  const length = elementCount(shape.slice(batchAxes + depth));
  const rows = elementCount(indices.type.shape.slice(0, -1));
  const batches = elementCount(indices.type.shape.slice(0, batchAxes));
  const batchSize = elementCount(shape.slice(batchAxes));
  const lines = [
    `const int block = ${element} / ${length}, inside = ${element} % ${length};`,
    `int begin = block / ${Math.max(1, rows / Math.max(1, batches))} * ${batchSize};`,
  ];
  for (let axis = 0; axis < depth; axis += 1) {
    lines.push(...indexLines(`k${axis}`, `n[block * ${depth} + ${axis}]`, at(shape, batchAxes + axis)));
    lines.push(`begin += k${axis} * ${at(strides, batchAxes + axis)};`);
  }
  return lines;
}

/** The statement that combines an update with the element `y[to]`. */
function updateCode(reduction: ScatterReduction, { type: { dataType } }: Value, update: string): string {
  if (reduction === "none") return `y[to] = ${update};`;
  const [old, next] = [loaded(dataType, "y[to]"), loaded(dataType, update)];
  const value =
    reduction === "add"
      ? `${old} + ${next}`
      : reduction === "mul"
        ? `${old} * ${next}`
        : `${reduction === "min" ? "least" : "greatest"}(${old}, ${next})`;
  return `y[to] = ${storable(dataType, rounded(dataType, value))};`;
}

/** Prints `scatter-elements` and `scatter-nd`: a copy of the data, then updates in their order, on threads that never write the same element. */
export function printScatter(text: ProgramText, { operation, inputs, outputs }: NodeOf<"scatter-elements" | "scatter-nd">): void {
  const [data, indices, updates, y] = [at(inputs, 0), at(inputs, 1), at(inputs, 2), at(outputs, 0)];
  const { shape } = data.type;
  const strides = contiguousStrides(shape);
  printCopy(text, data, y, strides);
  const reads = [
    { value: indices, name: "n" },
    { value: updates, name: "u" },
  ];
  const writes = [{ value: y, name: "y" }];
  if (operation.kind === "scatter-nd") {
    const length = elementCount(shape.slice(indices.type.shape.at(-1) ?? 0));
    const rows = elementCount(indices.type.shape.slice(0, -1));
    text.each(length, reads, writes, [
      `for (int r = 0; r < ${rows}; r += 1) {`,
      `  const int e = r * ${length} + i;`,
      ...blockLines(data, indices, 0, "e").map((line) => `  ${line}`),
      "  const int to = begin + inside;",
      `  ${updateCode(operation.reduction, y, "u[e]")}`,
      "}",
    ]);
    return;
  }
  const own = indices.type.shape;
  const line = own.with(operation.axis, 1);
  const coordinates = coordinatesCode("i", line);
  const [from, size] = [contiguousStrides(own), at(shape, operation.axis)];
  const sum = (of: readonly number[], along: string): string =>
    coordinates.map((code, axis) => `${axis === operation.axis ? along : code} * ${at(of, axis)}`).join(" + ");
  text.each(elementCount(line), reads, writes, [
    `for (int r = 0; r < ${at(own, operation.axis)}; r += 1) {`,
    `  const int e = ${sum(from, "r")};`,
    ...indexLines("k", "n[e]", size).map((each) => `  ${each}`),
    `  const int to = ${sum(strides, "k")};`,
    `  ${updateCode(operation.reduction, y, "u[e]")}`,
    "}",
  ]);
}

/** Whether an operation gives its input's elements in the same order and size, so that nothing is computed. */
export function isAlias({ operation, inputs, outputs }: GraphNode): boolean {
  if (operation.kind === "reshape" || operation.kind === "bitcast") return true;
  return operation.kind === "cast" && inputs[0]?.type.dataType === outputs[0]?.type.dataType;
}
