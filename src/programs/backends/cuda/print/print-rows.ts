/** Kernels that read rows: reductions, softmax and layer normalization with one block for each row, and searches and prefix sums with one thread for each. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { broadcastStrides, contiguousStrides } from "../../../../engine/ir/broadcast.ts";
import type { ElementType } from "../../../../engine/ir/element-types.ts";
import type { NodeOf } from "../../../../engine/ir/graph.ts";
import type { ReduceFunction } from "../../../../engine/ir/operations.ts";
import { cType, literal, loaded, storable, sumType } from "./c-types.ts";
import { offsetCode } from "./index-code.ts";
import type { ProgramText } from "./program-text.ts";

/** Rows of up to this many elements are read by one thread. */
const maxThreadRow = 16;

/** Threads of a block that reads a row of this length. */
function rowThreads(length: number): number {
  return Math.min(256, Math.max(32, 2 ** Math.ceil(Math.log2(Math.max(1, length)))));
}

const combined: Readonly<Record<ReduceFunction, (a: string, b: string) => string>> = {
  sum: (a, b) => `${a} + ${b}`,
  mean: (a, b) => `${a} + ${b}`,
  product: (a, b) => `${a} * ${b}`,
  min: (a, b) => `least(${a}, ${b})`,
  max: (a, b) => `greatest(${a}, ${b})`,
};

/** What a reduction of this type starts with. */
function startOf(name: ReduceFunction, type: ElementType): string {
  const { kind } = cType(type);
  if (name === "sum" || name === "mean") return "0";
  if (name === "product") return "1";
  if (kind === "float") return name === "min" ? "infinity()" : "-infinity()";
  if (sumType(type) === "unsigned long long") return name === "min" ? "18446744073709551615ULL" : "0ULL";
  return name === "min" ? "9223372036854775807LL" : "(-9223372036854775807LL - 1)";
}

/** Lines that combine the variable `name` of all lanes, in a fixed order; afterwards each lane has the result. */
function combineLanes(name: string, cName: string, threads: number, combine: ReduceFunction): readonly string[] {
  const shared = `${name}_lanes`;
  return [
    `__shared__ ${cName} ${shared}[${threads}];`,
    `${shared}[lane] = ${name};`,
    "__syncthreads();",
    `for (int half = ${threads / 2}; half > 0; half /= 2) {`,
    `  if (lane < half) ${shared}[lane] = ${combined[combine](`${shared}[lane]`, `${shared}[lane + half]`)};`,
    "  __syncthreads();",
    "}",
    `${name} = ${shared}[0];`,
  ];
}

/** Prints `reduce`. */
export function printReduce(text: ProgramText, { operation, inputs, outputs }: NodeOf<"reduce">): void {
  const [x, y] = [at(inputs, 0), at(outputs, 0)];
  const { shape, dataType } = x.type;
  const { function: name, axes } = operation;
  const strides = contiguousStrides(shape);
  const part = (index: string, isReduced: boolean): string => {
    const chosen = [...shape.keys()].filter((axis) => axes.includes(axis) === isReduced);
    const [sizes, steps] = [chosen.map((axis) => at(shape, axis)), chosen.map((axis) => at(strides, axis))];
    return offsetCode(index, sizes, steps);
  };
  const length = elementCount(axes.map((axis) => at(shape, axis)));
  const rows = elementCount(y.type.shape);
  const type = sumType(dataType);
  const [reads, writes] = [[{ value: x, name: "x" }], [{ value: y, name: "y" }]];
  const { kind, bytes } = cType(dataType);
  const isEmptyInteger =
    length === 0 && kind !== "float" && (name === "mean" || ((name === "min" || name === "max") && bytes < 8));
  const result = isEmptyInteger
    ? "0"
    : name === "mean"
      ? `sum / ${kind === "float" ? literal(dataType, length) : `(${type})${Math.max(1, length)}`}`
      : "sum";
  const store = `= ${storable(dataType, result)};`;
  const start = startOf(name, dataType);
  const next = combined[name]("sum", `(${type})${loaded(dataType, "x[base + offset]")}`);
  if (length <= maxThreadRow)
    return text.each(rows, reads, writes, [
      `const int base = ${part("i", false)};`,
      `${type} sum = ${start};`,
      `for (int r = 0; r < ${length}; r += 1) {`,
      `  const int offset = ${part("r", true)};`,
      `  sum = ${next};`,
      "}",
      `y[i] ${store}`,
    ]);
  const threads = rowThreads(length);
  return text.rows(rows, threads, reads, writes, [
    `const int base = ${part("row", false)};`,
    `${type} sum = ${start};`,
    `for (int r = lane; r < ${length}; r += ${threads}) {`,
    `  const int offset = ${part("r", true)};`,
    `  sum = ${next};`,
    "}",
    ...combineLanes("sum", type, threads, name),
    `if (lane == 0) y[row] ${store}`,
  ]);
}

/** Prints `softmax`: the maximum of a row, the sum of the exponentials, then the quotients. */
export function printSoftmax(text: ProgramText, { operation, inputs, outputs }: NodeOf<"softmax">): void {
  const [x, y] = [at(inputs, 0), at(outputs, 0)];
  const mask = inputs[1];
  const { shape, dataType } = x.type;
  const { computed } = cType(dataType);
  const suffix = computed === "float" ? "f" : "";
  const length = at(shape, operation.axis);
  const inner = elementCount(shape.slice(operation.axis + 1));
  const rows = elementCount(shape.with(operation.axis, 1));
  const threads = rowThreads(length);
  const reads = [{ value: x, name: "x" }, ...(mask === undefined ? [] : [{ value: mask, name: "m" }])];
  const added =
    mask === undefined
      ? ""
      : ` + ${loaded(mask.type.dataType, `m[${offsetCode("at", shape, broadcastStrides(mask.type.shape, shape))}]`)}`;
  const value = `(${loaded(dataType, "x[at]")}${added})`;
  const loop = (statement: string): readonly string[] => [
    `for (int r = lane; r < ${length}; r += ${threads}) {`,
    `  const int at = base + r * ${inner};`,
    `  ${statement}`,
    "}",
  ];
  const quotient = operation.logarithm ? `${value} - largest - log${suffix}(sum)` : `exp${suffix}(${value} - largest) / sum`;
  text.rows(
    rows,
    threads,
    reads,
    [{ value: y, name: "y" }],
    [
      `const int base = row / ${inner} * ${length * inner} + row % ${inner};`,
      `${computed} largest = -infinity();`,
      ...loop(`largest = greatest(largest, ${value});`),
      ...combineLanes("largest", computed, threads, "max"),
      `${computed} sum = 0;`,
      ...loop(`sum += exp${suffix}(${value} - largest);`),
      ...combineLanes("sum", computed, threads, "sum"),
      ...loop(`y[at] = ${storable(dataType, quotient)};`),
    ],
  );
}

/** Prints `layer-norm`, with the variance as the mean of squared differences from the mean. */
export function printLayerNorm(text: ProgramText, { operation, inputs, outputs }: NodeOf<"layer-norm">): void {
  const [x, y] = [at(inputs, 0), at(outputs, 0)];
  const { shape, dataType } = x.type;
  const { computed } = cType(dataType);
  const length = elementCount(shape.slice(operation.axis));
  const threads = rowThreads(length);
  const reads = inputs.map((value, index) => ({ value, name: index === 0 ? "x" : `s${index}` }));
  const operand = (index: number): string | undefined => {
    const value = inputs[index];
    if (value === undefined) return undefined;
    return loaded(value.type.dataType, `s${index}[${offsetCode("at", shape, broadcastStrides(value.type.shape, shape))}]`);
  };
  const value = `(${loaded(dataType, "x[at]")} - mean)`;
  const [scale, shift] = [operand(1), operand(2)];
  const result = `${value} * factor${scale === undefined ? "" : ` * ${scale}`}${shift === undefined ? "" : ` + ${shift}`}`;
  const count = literal(dataType, length);
  const loop = (statement: string): readonly string[] => [
    `for (int r = lane; r < ${length}; r += ${threads}) {`,
    `  const int at = row * ${length} + r;`,
    `  ${statement}`,
    "}",
  ];
  text.rows(
    elementCount(shape.slice(0, operation.axis)),
    threads,
    reads,
    [{ value: y, name: "y" }],
    [
      `${computed} mean = 0;`,
      ...loop(`mean += ${loaded(dataType, "x[at]")};`),
      ...combineLanes("mean", computed, threads, "sum"),
      `mean /= ${count};`,
      `${computed} squares = 0;`,
      ...loop(`squares += ${value} * ${value};`),
      ...combineLanes("squares", computed, threads, "sum"),
      `const ${computed} factor = ${literal(dataType, 1)} / sqrt${computed === "float" ? "f" : ""}(squares / ${count} + ${literal(dataType, operation.epsilon)});`,
      ...loop(`y[at] = ${storable(dataType, result)};`),
    ],
  );
}

/** The first element of each row along an axis and the distance between its elements; the number of the row is `i`. */
function lines(
  shape: readonly number[],
  axis: number,
): { readonly start: string; readonly count: number; readonly inner: number } {
  const inner = elementCount(shape.slice(axis + 1));
  const length = at(shape, axis);
  return { start: `i / ${inner} * ${length * inner} + i % ${inner}`, count: elementCount(shape.with(axis, 1)), inner };
}

/** Prints `arg`. */
export function printArg(text: ProgramText, { operation, inputs, outputs }: NodeOf<"arg">): void {
  const [x, y] = [at(inputs, 0), at(outputs, 0)];
  const { dataType, shape } = x.type;
  const { start, count, inner } = lines(shape, operation.axis);
  const better = `value ${operation.function === "max" ? ">" : "<"} found${operation.last ? " || value == found" : ""}`;
  text.each(
    count,
    [{ value: x, name: "x" }],
    [{ value: y, name: "y" }],
    [
      `const int start = ${start};`,
      "int best = 0;",
      `for (int r = 1; r < ${at(shape, operation.axis)}; r += 1) {`,
      `  const ${cType(dataType).computed} value = ${loaded(dataType, `x[start + r * ${inner}]`)}, found = ${loaded(dataType, `x[start + best * ${inner}]`)};`,
      `  if (${better}) best = r;`,
      "}",
      "y[i] = best;",
    ],
  );
}

/** Prints `cumulative`. */
export function printCumulative(text: ProgramText, { operation, inputs, outputs }: NodeOf<"cumulative">): void {
  const [x, y] = [at(inputs, 0), at(outputs, 0)];
  const { dataType, shape } = x.type;
  const { start, count, inner } = lines(shape, operation.axis);
  const length = at(shape, operation.axis);
  const isSum = operation.function === "sum";
  const step = `total = total ${isSum ? "+" : "*"} ${loaded(dataType, "x[at]")};`;
  const store = `y[at] = ${storable(dataType, "total")};`;
  text.each(
    count,
    [{ value: x, name: "x" }],
    [{ value: y, name: "y" }],
    [
      `const int start = ${start};`,
      `${sumType(dataType)} total = ${isSum ? 0 : 1};`,
      `for (int r = 0; r < ${length}; r += 1) {`,
      `  const int at = start + ${operation.reverse ? `(${length - 1} - r)` : "r"} * ${inner};`,
      ...(operation.exclusive ? [`  ${store}`, `  ${step}`] : [`  ${step}`, `  ${store}`]),
      "}",
    ],
  );
}

/** Prints `top-k`: each of the elements is the first in order of those after the one before. NaN is before everything. */
export function printTopK(text: ProgramText, { operation, inputs, outputs }: NodeOf<"top-k">): void {
  const x = at(inputs, 0);
  const [values, indices] = [at(outputs, 0), at(outputs, 1)];
  const { dataType, shape } = x.type;
  const { axis, largest } = operation;
  const { start, count, inner } = lines(shape, axis);
  const found = lines(values.type.shape, axis);
  const { computed } = cType(dataType);
  const precedes = (a: string, ia: string, b: string, ib: string): string =>
    `(${a} != ${a} || ${b} != ${b} ? (${a} != ${a} && ${b} != ${b} ? ${ia} < ${ib} : ${a} != ${a}) : ${a} == ${b} ? ${ia} < ${ib} : ${a} ${largest ? ">" : "<"} ${b})`;
  const writes = [
    { value: values, name: "y" },
    { value: indices, name: "z" },
  ];
  text.each(count, [{ value: x, name: "x" }], writes, [
    `const int start = ${start}, to = ${found.start};`,
    `${computed} before = 0;`,
    "int before_at = -1;",
    `for (int rank = 0; rank < ${operation.count}; rank += 1) {`,
    `  ${computed} best = 0;`,
    "  int best_at = -1;",
    `  for (int r = 0; r < ${at(shape, axis)}; r += 1) {`,
    `    const ${computed} value = ${loaded(dataType, `x[start + r * ${inner}]`)};`,
    `    if (before_at >= 0 && !${precedes("before", "before_at", "value", "r")}) continue;`,
    `    if (best_at < 0 || ${precedes("value", "r", "best", "best_at")}) { best = value; best_at = r; }`,
    "  }",
    `  y[to + rank * ${found.inner}] = ${storable(dataType, "best")};`,
    `  z[to + rank * ${found.inner}] = best_at;`,
    "  before = best;",
    "  before_at = best_at;",
    "}",
  ]);
}
