/** Kernels of convolutions and pooling: one thread for each element of the result. */
import { at } from "../../../../contract/checked.ts";
import { InferyardError } from "../../../../contract/errors.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { contiguousStrides } from "../../../../engine/ir/broadcast.ts";
import type { NodeOf } from "../../../../engine/ir/graph.ts";
import { cType, loaded, rounded, storable, sumType } from "./c-types.ts";
import { activationCode } from "./element-code.ts";
import { coordinatesCode } from "./index-code.ts";
import type { ProgramText } from "./program-text.ts";

/** Nested loops over the positions of a kernel; `inner` runs where the position `p0, p1, ...` is inside of `sizes`. */
function windowLoops(
  kernel: readonly number[],
  positions: readonly (readonly string[])[],
  inner: readonly string[],
): readonly string[] {
  const open = kernel.flatMap((size, axis) => [
    `for (int k${axis} = 0; k${axis} < ${size}; k${axis} += 1) {`,
    ...at(positions, axis),
  ]);
  return [...open, ...inner, ...kernel.map(() => "}")];
}

const linear = (names: readonly string[], strides: readonly number[]): string =>
  names.map((name, axis) => `${name} * ${at(strides, axis)}`).join(" + ") || "0";

/** Prints `convolution` and `convolution-transpose`. */
export function printConvolution(
  text: ProgramText,
  { operation, inputs, outputs }: NodeOf<"convolution" | "convolution-transpose">,
): void {
  const [x, weights, bias, y] = [at(inputs, 0), at(inputs, 1), inputs[2], at(outputs, 0)];
  const { dataType, shape } = x.type;
  const [, channels = 0, ...sizes] = shape;
  const [, filters = 0] = y.type.shape;
  const kernel = weights.type.shape.slice(2);
  const { groups, strides, dilations, pads } = operation;
  const [xs, ws] = [contiguousStrides(shape), contiguousStrides(weights.type.shape)];
  const perGroup = channels / groups;
  const filtersPerGroup = filters / groups;
  const isTransposed = operation.kind === "convolution-transpose";
  const positions = kernel.map((_, axis) => {
    const [p, size, stride] = [`p${axis}`, at(sizes, axis), at(strides, axis)];
    const offset = `k${axis} * ${at(dilations, axis)}`;
    return isTransposed
      ? [
          `int ${p} = o${axis} + ${at(pads, axis)} - ${offset};`,
          `if (${p} < 0 || ${p} % ${stride} != 0) continue;`,
          `${p} /= ${stride};`,
          `if (${p} >= ${size}) continue;`,
        ]
      : [`const int ${p} = o${axis} * ${stride} + ${offset} - ${at(pads, axis)};`, `if (${p} < 0 || ${p} >= ${size}) continue;`];
  });
  const [p, k] = [kernel.map((_, axis) => `p${axis}`), kernel.map((_, axis) => `k${axis}`)];
  const read = loaded(dataType, `x[n * ${at(xs, 0)} + (group * ${perGroup} + c) * ${at(xs, 1)} + ${linear(p, xs.slice(2))}]`);
  const first = isTransposed
    ? `(group * ${perGroup} + c) * ${at(ws, 0)} + m % ${filtersPerGroup} * ${at(ws, 1)}`
    : `m * ${at(ws, 0)} + c * ${at(ws, 1)}`;
  const factor = loaded(weights.type.dataType, `w[${first} + ${linear(k, ws.slice(2))}]`);
  const type = sumType(dataType);
  const [n = "0", m = "0", ...o] = coordinatesCode("i", y.type.shape);
  const activation = operation.activation ?? "none";
  const reads = [
    { value: x, name: "x" },
    { value: weights, name: "w" },
    ...(bias === undefined ? [] : [{ value: bias, name: "b" }]),
  ];
  text.each(
    elementCount(y.type.shape),
    reads,
    [{ value: y, name: "y" }],
    [
      `const int n = ${n}, m = ${m}, group = m / ${filtersPerGroup};`,
      ...o.map((code, axis) => `const int o${axis} = ${code};`),
      `${type} sum = 0;`,
      `for (int c = 0; c < ${perGroup}; c += 1)`,
      "{",
      ...windowLoops(kernel, positions, [`sum += (${type})${read} * (${type})${factor};`]),
      "}",
      `${cType(dataType).computed} v = ${rounded(dataType, "sum")};`,
      ...(bias === undefined ? [] : [`v = ${rounded(dataType, `v + ${loaded(bias.type.dataType, "b[m]")}`)};`]),
      `y[i] = ${storable(dataType, activationCode(activation, "v", dataType))};`,
    ],
  );
}

/** Prints `max-pool` and `average-pool`. */
export function printPool(text: ProgramText, { operation, inputs, outputs }: NodeOf<"max-pool" | "average-pool">): void {
  const [x, y] = [at(inputs, 0), at(outputs, 0)];
  const { dataType, shape } = x.type;
  const sizes = shape.slice(2);
  const { kernel, strides, dilations, pads } = operation;
  const own = contiguousStrides(sizes);
  const volume = elementCount(sizes);
  if (volume === 0) throw new InferyardError("MODEL_UNSUPPORTED", "pooling of a tensor without elements has no kernel on CUDA");
  const [, , ...o] = coordinatesCode("i", y.type.shape);
  const area = elementCount(y.type.shape.slice(2));
  const type = sumType(dataType);
  const p = kernel.map((_, axis) => `p${axis}`);
  const isMax = operation.kind === "max-pool";
  const countsPadding = operation.kind === "average-pool" && operation.countPadding;
  const position = kernel.map((_, axis) => [
    `const int p${axis} = o${axis} * ${at(strides, axis)} + k${axis} * ${at(dilations, axis)} - ${at(pads, axis)};`,
  ]);
  const outside = kernel.map((_, axis) => `p${axis} < 0 || p${axis} >= ${at(sizes, axis)}`).join(" || ");
  const padded = kernel.map((_, axis) => `p${axis} < ${at(sizes, axis) + at(pads, axis + sizes.length)}`).join(" && ");
  const value = `x[start + ${linear(p, own)}]`;
  const inner = isMax
    ? [
        `if (${outside}) continue;`,
        `const int at = ${linear(p, own)};`,
        `if (best < 0 || ${loaded(dataType, "x[start + at]")} > ${loaded(dataType, "x[start + best]")}) best = at;`,
      ]
    : [
        ...(countsPadding ? [`if (${padded}) count += 1;`] : []),
        `if (${outside}) continue;`,
        ...(countsPadding ? [] : ["count += 1;"]),
        `sum += ${loaded(dataType, value)};`,
      ];
  const body = [
    `const int start = i / ${area} * ${volume};`,
    ...o.map((code, axis) => `const int o${axis} = ${code};`),
    ...(isMax ? ["int best = -1;"] : [`${type} sum = 0;`, "int count = 0;"]),
    ...windowLoops(kernel, position, inner),
  ];
  if (!isMax)
    return text.each(
      elementCount(y.type.shape),
      [{ value: x, name: "x" }],
      [{ value: y, name: "y" }],
      [...body, `y[i] = ${storable(dataType, "sum / count")};`],
    );
  const indices = outputs[1];
  const points = coordinatesCode("best", sizes);
  const columns = contiguousStrides(sizes.toReversed()).toReversed();
  const index = operation.kind === "max-pool" && operation.columnMajor ? linear(points, columns) : "best";
  return text.each(
    elementCount(y.type.shape),
    [{ value: x, name: "x" }],
    [{ value: y, name: "y" }, ...(indices === undefined ? [] : [{ value: indices, name: "z" }])],
    [
      ...body,
      "if (best < 0) best = 0;",
      "y[i] = x[start + best];",
      ...(indices === undefined ? [] : [`z[i] = start + ${index};`]),
    ],
  );
}
