/**
 * The text form of check cases, one line each: the function that is checked, and an operation as `../../ir/print.ts` writes it, with the type of each operand in
 * place of its name. A kernel must compute it, with the interpreter's results (`=`), or with nearly these (`~`, `floatTolerance`).
 *
 *     norm ~ layer-norm(special float32[3,19], float32[19]#2) axis=1
 *     gather = gather(float32[6,5], int64[2,3] below 6) axis=0
 *     declined matmul = linear(float64[3,4], constant float64[4,5]#2)
 *
 * An operand has ordinary numbers, with a seed after #, unless it says otherwise: `special`, those of `withSpecialRow`; `below` n, indices of an axis of n
 * elements; or its elements in brackets. Attributes that are left out have the values of `defaultAttributes`. `declined`: the interpreter must compute the
 * operation; `refused`: moreover, it or planning refuses it.
 */
import { readLiteralElements, readOperation, readType } from "../../ir/parse.ts";
import type { Literal } from "../../ir/literal.ts";
import type { Operation } from "../../ir/operations.ts";
import { TextCursor } from "../../ir/text-cursor.ts";
import { type CaseInput, type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { checkIndices, ordinary, withSpecialRow } from "./check-values.ts";

const form = /^(?<mark>declined |refused )?(?<name>.+?) (?<relation>[=~]) (?<operation>.+)$/;

/** The name of the function that a line checks; undefined for a line without a case. */
export function checkedName(line: string): string | undefined {
  return form.exec(line.trim())?.groups?.["name"];
}

/** Reads a line with a case. Throws Error if it is malformed. */
export function readCase(line: string): CheckCase {
  const { mark, name, relation, operation: text = "" } = form.exec(line.trim())?.groups ?? {};
  if (name === undefined) throw new Error(`"${line}" is not a check case`);
  const cursor = new TextCursor(text);
  const { operation, inputs } = readOperation(cursor, () => readInput(cursor));
  const [first] = inputs;
  const shape = first === undefined ? [] : ("constant" in first ? first.constant : first).shape;
  const whole = { ...defaultAttributes(shape)[operation.kind], ...operation } as Operation;
  const made = single(name, whole, inputs, relation === "~" ? floatTolerance : 0);
  if (mark === undefined) return made;
  return { ...made, isDeclined: true, ...(mark === "refused " ? { isRefused: true } : {}) };
}

/** The elements of an operand as text. */
export function elements(values: Iterable<number>): string {
  return `[${Array.from(values, (value) => (Object.is(value, -0) ? "-0" : String(value))).join(", ")}]`;
}

function readInput(cursor: TextCursor): CaseInput {
  if (cursor.takeWord("constant")) return { constant: readLiteral(cursor) };
  return readLiteral(cursor);
}

function readLiteral(cursor: TextCursor): Literal {
  const isSpecial = cursor.takeWord("special");
  const type = readType(cursor);
  const { dataType, shape } = type;
  if (isSpecial) return withSpecialRow(shape);
  if (cursor.take("=")) return readLiteralElements(type, cursor);
  if (cursor.take("below")) return checkIndices(shape, Number(cursor.word()), dataType === "int32" ? "int32" : "int64");
  return ordinary(dataType, shape, cursor.take("#") ? Number(cursor.word()) : 1);
}

type Defaults = { readonly [Kind in Operation["kind"]]?: Partial<Extract<Operation, { readonly kind: Kind }>> };

/** Attributes that a line may leave out, for a first operand of this shape. */
function defaultAttributes({ length: rank }: readonly number[]): Defaults {
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const [ones, zeros] = [axes.map(() => 1), axes.map(() => 0)];
  const spatial = { strides: ones.slice(2), dilations: ones.slice(2), pads: [...zeros.slice(2), ...zeros.slice(2)] };
  const epilogue = { bias: false, activation: "none", residual: "none" } as const;
  return {
    reduce: { keep: false },
    arg: { last: false },
    cumulative: { exclusive: false, reverse: false },
    convolution: { groups: 1, ...spatial },
    "convolution-transpose": { groups: 1, outputPads: zeros.slice(2), ...spatial },
    "max-pool": { ceil: false, columnMajor: false, ...spatial },
    "average-pool": { ceil: false, countPadding: false, ...spatial },
    "gather-nd": { batchAxes: 0 },
    "scatter-elements": { reduction: "none" },
    "scatter-nd": { reduction: "none" },
    slice: { starts: zeros, steps: ones },
    softmax: { logarithm: false },
    "top-k": { largest: true },
    "layer-norm": { epsilon: 1e-5 },
    "rms-norm": { epsilon: 1e-5 },
    linear: epilogue,
    "fused-matmul": { a: axes, b: axes, result: axes, alpha: 1 },
  };
}
