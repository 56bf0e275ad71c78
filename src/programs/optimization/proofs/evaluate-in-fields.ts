/** Evaluates the graphs of the engine over finite fields: see `finite-fields.ts`. */
import { at, required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { evaluateNode } from "../../../engine/interpret/evaluate.ts";
import { broadcastShape } from "../../../engine/ir/broadcast.ts";
import { isFloat } from "../../../engine/ir/element-types.ts";
import type { Graph, GraphNode, Value } from "../../../engine/ir/graph.ts";
import { type Literal, toNumbers } from "../../../engine/ir/literal.ts";
import type { Operation, OperationKind, OperationOf } from "../../../engine/ir/operations.ts";
import {
  toResidues,
  fieldExponential,
  type FieldTensor,
  inverse,
  mix,
  multiply,
  p,
  power,
  q,
  randomResidues,
  toLiterals,
  uninterpreted,
} from "./finite-fields.ts";

/** An operation that has no meaning over finite fields. */
export class Unprovable extends Error {}

/** Products whose sum a double holds exactly. */
const productsPerRemainder = 512;
/** Exponents below it are powers; others are uninterpreted. */
const maxExponent = 64;

/** The outputs of a graph whose inputs have these elements. Throws Unprovable, and UnluckyDraw. */
export function evaluateInFields(
  { nodes, outputs }: Graph,
  given: ReadonlyMap<Value, FieldTensor | Literal>,
): readonly FieldTensor[] {
  const known = new Map<Value, FieldTensor>();
  const read = (value: Value): FieldTensor => {
    const found = known.get(value) ?? toFieldTensor(given.get(value) ?? required(value.constant, "a value that no node defines"));
    known.set(value, found);
    return found;
  };
  const literalOf = (value: Value | undefined): Literal | undefined => {
    const literal = value && (given.get(value) ?? value.constant);
    return literal !== undefined && "dataType" in literal ? literal : undefined;
  };
  for (const node of nodes) {
    const [output] = node.outputs;
    const result = node.outputs.length === 1 ? evaluate(node, { read, literalOf }) : undefined;
    if (result !== undefined && output !== undefined) known.set(output, result);
    else
      for (const [index, each] of uninterpretedNode(node, { read, literalOf }).entries())
        known.set(at(node.outputs, index), each);
  }
  return outputs.map(({ value }) => read(value));
}

function toFieldTensor(given: FieldTensor | Literal): FieldTensor {
  if (!("dataType" in given)) return given;
  const tensor = given.dataType === "string" ? undefined : toResidues(toNumbers(given), given.shape);
  if (tensor === undefined) throw new Unprovable(`texts, and floats that are not finite, have no residues`);
  return tensor;
}

interface Operands {
  read(value: Value): FieldTensor;
  /** The elements of a value that are known numbers. */
  literalOf(value: Value | undefined): Literal | undefined;
}

/** The output of an operation; undefined for one that is uninterpreted. */
function evaluate({ operation, inputs, outputs }: GraphNode, operands: Operands): FieldTensor | undefined {
  if (outputs.some(({ type }) => !isFloat(type.dataType))) return undefined; // whole numbers are divided and wrap around in ways of their own
  const meaning = meanings[operation.kind] as Meaning<never> | undefined;
  return meaning?.(operation as never, inputs, operands);
}

/** Computes the output of an operation; undefined where its attributes make it one that is uninterpreted. */
type Meaning<Of extends Operation> = (operation: Of, inputs: readonly Value[], operands: Operands) => FieldTensor | undefined;

const moveAll: Meaning<Operation> = (operation, inputs, { read }) => move(operation, inputs.map(read));

/** What operations mean over finite fields. Operations that are not listed are uninterpreted. */
const meanings: { readonly [Kind in OperationKind]?: Meaning<OperationOf<Kind>> } = {
  unary: ({ function: name }, inputs, { read }) => unary(name, read(at(inputs, 0))),
  binary({ function: name }, inputs, { read, literalOf }) {
    const [a, b] = [at(inputs, 0), at(inputs, 1)];
    const exponent = name === "pow" ? literalOf(b) : undefined;
    const number = exponent !== undefined && elementCount(exponent.shape) === 1 ? toNumbers(exponent)[0] : undefined;
    if (number !== undefined && Number.isInteger(number) && number >= 0 && number < maxExponent)
      return map(read(a), (x, m) => power(x, number, m));
    return binary(name, read(a), read(b));
  },
  cast: ({ to }, inputs, { read }) => (isFloat(to) ? read(at(inputs, 0)) : undefined),
  gelu: ({ approximate }, inputs, { read }) => uninterpreted(`gelu ${approximate}`, [read(at(inputs, 0))]),
  reduce: (operation, inputs, { read }) => reduce(operation, read(at(inputs, 0))),
  matmul: (_, inputs, { read }) => matmul(read(at(inputs, 0)), read(at(inputs, 1))),
  softmax({ axis, logarithm }, inputs, { read }) {
    if (logarithm) return undefined;
    const [x, mask] = inputs.map(read);
    return softmax(mask === undefined ? required(x, "x") : binary("add", required(x, "x"), mask), axis);
  },
  "layer-norm"(operation, inputs, { read }) {
    const [x, scale, shift] = inputs.map(read);
    return layerNorm(required(x, "x"), scale, shift, operation);
  },
  reshape: moveAll,
  transpose: moveAll,
  expand: moveAll,
  slice: moveAll,
  concat: moveAll,
};

/** The outputs of an operation as a function of all elements of its inputs, of which nothing else is known. */
function uninterpretedNode({ operation, inputs, outputs }: GraphNode, { read, literalOf }: Operands): readonly FieldTensor[] {
  let state = JSON.stringify(operation)
    .split("")
    .reduce((sum, letter) => mix(sum, letter.codePointAt(0) ?? 0), 3);
  for (const input of inputs) {
    const literal = literalOf(input);
    if (literal !== undefined && !isFloat(literal.dataType)) {
      for (const element of Array.from(literal.data as ArrayLike<number | bigint>)) state = mix(state, Number(element));
      continue;
    }
    const { values, exponents } = read(input);
    for (const value of values) state = mix(state, value);
    for (const value of exponents ?? []) state = mix(state, value);
  }
  return outputs.map(({ type: { shape } }, index) => randomResidues(shape, mix(state, index)));
}

/** Applies an operation that only moves elements. */
function move(operation: Operation, tensors: readonly FieldTensor[]): FieldTensor {
  const literals = tensors.map(toLiterals);
  const moved = (parts: readonly Literal[]): Literal => at(evaluateNode(operation, parts), 0);
  const values = moved(literals.map(([value]) => value));
  const others = literals.flatMap(([, exponent]) => exponent ?? []);
  const exponents = others.length === literals.length ? moved(others) : undefined;
  return { shape: values.shape, values: values.data as Float64Array, exponents: exponents?.data as Float64Array | undefined };
}

/** Applies a function of residues and the modulus to each element. */
function map({ shape, values, exponents }: FieldTensor, apply: (x: number, modulus: number) => number): FieldTensor {
  return { shape, values: values.map((x) => apply(x, p)), exponents: exponents?.map((x) => apply(x, q)) };
}

function unary(name: OperationOf<"unary">["function"], x: FieldTensor): FieldTensor {
  if (name === "neg") return map(x, (value, m) => (m - value) % m);
  if (name === "reciprocal") return map(x, inverse);
  if (name === "exp" && x.exponents !== undefined)
    return { shape: x.shape, values: x.exponents.map(fieldExponential), exponents: undefined };
  return uninterpreted(name, [x]);
}

const fieldFunctions: Readonly<Record<string, (a: number, b: number, m: number) => number>> = {
  add: (a, b, m) => (a + b) % m,
  sub: (a, b, m) => (a - b + m) % m,
  mul: multiply,
  div: (a, b, m) => multiply(a, inverse(b, m), m),
};

function binary(name: OperationOf<"binary">["function"], one: FieldTensor, other: FieldTensor): FieldTensor {
  const shape = broadcastShape(one.shape, other.shape);
  const [a, b] = [one, other].map((tensor) =>
    tensor.shape.join() === shape.join() ? tensor : move({ kind: "expand", shape }, [tensor]),
  );
  if (a === undefined || b === undefined) throw new Error("an operand is missing");
  const apply = fieldFunctions[name];
  if (apply === undefined) return uninterpreted(name, [a, b]);
  const zip = (x: Float64Array, y: Float64Array, m: number): Float64Array =>
    x.map((value, index) => apply(value, y[index] ?? 0, m));
  const exponents = a.exponents && b.exponents && zip(a.exponents, b.exponents, q);
  return { shape, values: zip(a.values, b.values, p), exponents };
}

/** Reduces the last axes after moving the reduced ones there. */
function reduce({ function: name, axes, keep }: OperationOf<"reduce">, x: FieldTensor): FieldTensor {
  const rest = x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
  const { values, exponents } = move({ kind: "transpose", permutation: [...rest, ...axes] }, [x]);
  const length = axes.reduce((product, axis) => product * at(x.shape, axis), 1);
  const shape = x.shape.flatMap((size, axis) => (axes.includes(axis) ? (keep ? [1] : []) : [size]));
  const count = elementCount(shape);
  if (name === "max" || name === "min") {
    const rows = Array.from({ length }, (_, index): FieldTensor => {
      const pick = (from: Float64Array): Float64Array =>
        Float64Array.from({ length: count }, (_unused, row) => from[row * length + index] ?? 0);
      return { shape, values: pick(values), exponents: exponents && pick(exponents) };
    });
    return uninterpreted(`reduce ${name}`, rows);
  }
  const combine = (from: Float64Array, m: number): Float64Array => {
    const factor = name === "mean" ? inverse(length % m, m) : 1;
    return Float64Array.from({ length: count }, (_, row) => {
      let result = name === "product" ? 1 : 0;
      for (let index = row * length; index < (row + 1) * length; index += 1) {
        const value = from[index] ?? 0;
        result = name === "product" ? multiply(result, value, m) : result + value; // below 2^53 for 2^31 elements
      }
      return multiply(result % m, factor, m);
    });
  };
  return { shape, values: combine(values, p), exponents: exponents && combine(exponents, q) };
}

function matmul(one: FieldTensor, other: FieldTensor): FieldTensor {
  const batch = broadcastShape(one.shape.slice(0, -2), other.shape.slice(0, -2));
  const [rows = 0, inner = 0] = one.shape.slice(-2);
  const columns = other.shape.at(-1) ?? 0;
  const [a, b] = [one, other].map((tensor) => {
    const shape = [...batch, ...tensor.shape.slice(-2)];
    return shape.join() === tensor.shape.join() ? tensor : move({ kind: "expand", shape }, [tensor]);
  });
  if (a === undefined || b === undefined) throw new Error("an operand is missing");
  const matrices = elementCount(batch);
  const multiplied = (x: Float64Array, y: Float64Array, m: number): Float64Array => {
    const sums = new Float64Array(matrices * rows * columns);
    for (let matrix = 0; matrix < matrices; matrix += 1)
      for (let row = 0; row < rows; row += 1) {
        const line = (matrix * rows + row) * columns;
        for (let k = 0; k < inner; k += 1) {
          const factor = x[(matrix * rows + row) * inner + k] ?? 0;
          const from = (matrix * inner + k) * columns;
          for (let column = 0; column < columns; column += 1)
            sums[line + column] = (sums[line + column] ?? 0) + factor * (y[from + column] ?? 0);
          if (k % (productsPerRemainder - 1) === productsPerRemainder - 2 || k === inner - 1)
            for (let column = 0; column < columns; column += 1) sums[line + column] = (sums[line + column] ?? 0) % m;
        }
      }
    return sums;
  };
  const exponents = a.exponents && b.exponents && multiplied(a.exponents, b.exponents, q);
  return { shape: [...batch, rows, columns], values: multiplied(a.values, b.values, p), exponents };
}

/** exp(x) / sum(exp(x)): a subtracted maximum cancels out. */
function softmax(x: FieldTensor, axis: number): FieldTensor {
  const exponentials = unary("exp", x);
  return binary("div", exponentials, reduce({ kind: "reduce", function: "sum", axes: [axis], keep: true }, exponentials));
}

function layerNorm(
  x: FieldTensor,
  scale: FieldTensor | undefined,
  shift: FieldTensor | undefined,
  { axis, epsilon }: OperationOf<"layer-norm">,
): FieldTensor {
  const axes = x.shape.flatMap((_, index) => (index >= axis ? [index] : []));
  const mean = (of: FieldTensor): FieldTensor => reduce({ kind: "reduce", function: "mean", axes, keep: true }, of);
  const centred = binary("sub", x, mean(x));
  const variance = mean(binary("mul", centred, centred));
  const root = unary("sqrt", binary("add", variance, required(toResidues([epsilon], []), "epsilon")));
  const normalized = binary("div", centred, root);
  const scaled = scale === undefined ? normalized : binary("mul", normalized, scale);
  return shift === undefined ? scaled : binary("add", scaled, shift);
}
