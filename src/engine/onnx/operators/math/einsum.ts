/** ONNX Einsum, opset 12, https://onnx.ai/onnx/operators/onnx__Einsum.html: translated to transposes, sums and batched matrix products. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** A tensor with a label for each axis; no label twice. */
interface Term {
  readonly value: Value;
  readonly labels: readonly string[];
}

function einsum(call: OperatorCall): Value {
  const { terms, output } = parse(call);
  const types = call.tensors().map(({ type }) => type.dataType);
  const [dataType] = types;
  if (dataType === undefined) throw new Error("there are no operands");
  const small = dataType === "int8" || dataType === "uint8" || dataType === "int16" || dataType === "uint16";
  const operands = terms.map((labels, index) => {
    const value = call.tensor(index);
    return withoutRepeats(call, { value: small ? call.cast(value, "int32") : value, labels });
  });
  const sizes = new Map<string, number>();
  for (const { value, labels } of operands) {
    for (const [axis, label] of labels.entries()) sizes.set(label, Math.max(sizes.get(label) ?? 0, at(value.type.shape, axis)));
  }
  // An axis of size 1 that is longer in another operand broadcasts: it is dropped here.
  const fitting = operands.map(({ value, labels }) => {
    const kept = labels.filter((label, axis) => value.type.shape[axis] === sizes.get(label) || value.type.shape[axis] !== 1);
    return {
      value: call.reshape(
        value,
        kept.map((label) => value.type.shape[labels.indexOf(label)] ?? 1),
      ),
      labels: kept,
    };
  });
  const [first, ...others] = fitting;
  if (first === undefined) throw new Error("there are no operands");
  const neededAfter = (index: number): ReadonlySet<string> =>
    new Set([...output, ...others.slice(index).flatMap(({ labels }) => labels)]);
  const product = others.reduce<Term>(
    (sum, term, index) =>
      multiplied(call, summed(call, sum, new Set([...neededAfter(index + 1), ...term.labels])), term, neededAfter(index + 1)),
    first,
  );
  const whole = summed(call, product, new Set(output));
  const order = output.filter((label) => whole.labels.includes(label));
  const turned = call.transpose(
    whole.value,
    order.map((label) => whole.labels.indexOf(label)),
  );
  return call.cast(
    call.add(
      { kind: "expand", shape: output.map((label) => sizes.get(label) ?? 1) },
      call.reshape(
        turned,
        output.map((label) => (order.includes(label) ? (sizes.get(label) ?? 1) : 1)),
      ),
    ),
    dataType,
  );
}

/** The labels of every operand and of the output. Axes of an ellipsis are labelled ".1", ".2", ... from the last one. */
function parse(call: OperatorCall): { readonly terms: readonly (readonly string[])[]; readonly output: readonly string[] } {
  const equation = call.string("equation", "").replaceAll(/\s/g, "");
  const [left = "", right, ...rest] = equation.split("->");
  const texts = left.split(",");
  if (rest.length > 0 || texts.length !== call.inputCount)
    throw new Error(`the equation "${equation}" is not for ${call.inputCount} operands`);
  let longest = 0;
  const getLabels = (text: string, hidden: number): readonly string[] => {
    if (!/^[A-Za-z]*(\.\.\.[A-Za-z]*)?$/.test(text)) throw new Error(`the term "${text}" of the equation is malformed`);
    const [before = "", after] = text.split("...");
    if (after === undefined) return Array.from(before);
    return Array.from(before).concat(
      Array.from({ length: hidden }, (_, index) => `.${hidden - index}`),
      Array.from(after),
    );
  };
  const terms = texts.map((text, index) => {
    const rank = call.tensor(index).type.shape.length;
    const hidden = rank - text.replace("...", "").length;
    if (hidden < 0 || (hidden > 0 && !text.includes("...")))
      throw new Error(`the term "${text}" does not fit an operand of rank ${rank}`);
    if (text.includes("...")) longest = Math.max(longest, hidden);
    return getLabels(text, hidden);
  });
  if (right !== undefined) {
    const output = getLabels(right, longest);
    if (output.some((label) => !terms.some((labels) => labels.includes(label))))
      throw new Error(`the output "${right}" has a label that no operand has`);
    if (new Set(output).size !== output.length) throw new Error(`the output "${right}" has a label twice`);
    return { terms, output };
  }
  // As numpy.einsum: labels that occur once, in alphabetical order, after the axes of the ellipsis.
  const counts = new Map<string, number>();
  for (const label of terms.flat()) counts.set(label, (counts.get(label) ?? 0) + 1);
  const once = [...counts]
    .filter(([label, count]) => count === 1 && !label.startsWith("."))
    .map(([label]) => label)
    .toSorted();
  return { terms, output: [...getLabels("...", longest), ...once] };
}

/** Replaces axes with the same label by their diagonal: they are merged, and every (n + 1)-th element is taken. */
function withoutRepeats(call: OperatorCall, { value, labels }: Term): Term {
  const second = labels.findIndex((label, axis) => labels.indexOf(label) < axis);
  if (second < 0) return { value, labels };
  const first = labels.indexOf(labels[second] ?? "");
  const rest = [...labels.keys()].filter((axis) => axis !== first && axis !== second);
  const turned = call.transpose(value, [...rest, first, second]);
  const shape = rest.map((axis) => at(value.type.shape, axis));
  const size = at(value.type.shape, first);
  if (value.type.shape[second] !== size) throw new Error(`axes labelled "${labels[first]}" have different sizes`);
  const flat = call.reshape(turned, [...shape, size * size]);
  const diagonal = call.add(
    { kind: "slice", starts: [...shape.map(() => 0), 0], steps: [...shape.map(() => 1), size + 1], sizes: [...shape, size] },
    flat,
  );
  return withoutRepeats(call, { value: diagonal, labels: [...rest.map((axis) => labels[axis] ?? ""), labels[first] ?? ""] });
}

/** The sum over the axes whose labels are not needed any more. */
function summed(call: OperatorCall, { value, labels }: Term, needed: ReadonlySet<string>): Term {
  const axes = [...labels.keys()].filter((axis) => !needed.has(labels[axis] ?? ""));
  if (axes.length === 0) return { value, labels };
  return { value: call.reduce("sum", value, axes, false), labels: labels.filter((label) => needed.has(label)) };
}

/** The product of two terms: common labels that are still needed are batch axes of the matrix product, others are summed over. */
function multiplied(call: OperatorCall, one: Term, given: Term, needed: ReadonlySet<string>): Term {
  const other = summed(call, given, new Set([...needed, ...one.labels]));
  const shared = one.labels.filter((label) => other.labels.includes(label));
  const batch = shared.filter((label) => needed.has(label));
  const inner = shared.filter((label) => !needed.has(label));
  const rows = one.labels.filter((label) => !shared.includes(label));
  const columns = other.labels.filter((label) => !shared.includes(label));
  const sizes = (term: Term, labels: readonly string[]): readonly number[] =>
    labels.map((label) => term.value.type.shape[term.labels.indexOf(label)] ?? 1);
  const laid = (term: Term, ...groups: readonly (readonly string[])[]): Value => {
    const order = groups.flat();
    const turned = call.transpose(
      term.value,
      order.map((label) => term.labels.indexOf(label)),
    );
    return call.reshape(
      turned,
      groups.map((labels) => elementCount(sizes(term, labels))),
    );
  };
  const product = call.add({ kind: "matmul" }, laid(one, batch, rows, inner), laid(other, batch, inner, columns));
  const labels = [...batch, ...rows, ...columns];
  return { value: call.reshape(product, [...sizes(one, [...batch, ...rows]), ...sizes(other, columns)]), labels };
}

/** Translates the ONNX operator Einsum to transpositions, reductions and matrix products. */
export const einsums: OperatorFamily = {
  Einsum: since(12, einsum),
};
