/**
 * Writes src/engine/execute/interpreter-checks/answer-table.ts: operations with inputs and the right outputs, from the conformance cases of ONNX in
 * ../shared/data/onnx-conformance. Each case is computed by the interpreter, as it is traced and as the passes rewrite it; if its outputs are ONNX's, its operations
 * are known answers. An output of the case is recorded as ONNX has it, a value in between as it led there. Of operations that differ in values and sizes alone,
 * one is kept.
 *
 *     npx tsx scripts/generate/interpreter-answers.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { at, required } from "../../src/contract/checked.ts";
import { elementCount } from "../../src/contract/tensor.ts";
import {
  Builder,
  defaultTraceLimits,
  isTensor,
  type OnnxModel,
  readOnnxModel,
  type TracedValue,
  traceModel,
} from "../../src/engine/index.ts";
import { findDifference, interpretedNames } from "../../src/engine/execute/interpreter-checks/known-answers.ts";
import { type ConstantFolder, evaluateNode } from "../../src/engine/interpret/evaluate.ts";
import { type Graph, getType, type Value } from "../../src/engine/ir/graph.ts";
import type { Literal } from "../../src/engine/ir/literal.ts";
import type { Operation } from "../../src/engine/ir/operations.ts";
import { printGraph } from "../../src/engine/ir/print.ts";
import { inferTypes } from "../../src/engine/ir/shape-inference/index.ts";
import { runPasses } from "../../src/engine/passes/index.ts";
import { type ConformanceCase, dataSets, findCases, readValues } from "../conformance/cases.ts";
import { isRandom } from "../conformance/operators.ts";
import { type CaseValue, difference } from "../conformance/values.ts";
import { interpreterCases } from "./interpreter-cases.ts";
import type { InterpreterCase } from "./case-builder.ts";

interface Answer {
  readonly operation: Operation;
  readonly inputs: readonly Literal[];
  readonly outputs: readonly Literal[];
}

/** Elements of the inputs and outputs of an answer: as near as possible to the first, at most the second. */
const [wantedElements, maxElements] = [16, 160];
/** Fewer are not told apart by what reads the wrong one. */
const minElements = 5;
/** Longest fused chain: each of its steps is an operation of its own as well. */
const maxSteps = 3;

const data = fileURLToPath(new URL("../../../shared/data/onnx-conformance", import.meta.url));
const answers = findCases(data).flatMap(answersOf);
const chosen = new Map<string, { readonly answer: Answer; readonly distance: number }>();
for (const answer of answers) {
  const elements = [...answer.inputs, ...answer.outputs].reduce((sum, { shape }) => sum + elementCount(shape), 0);
  if (elements > maxElements || (answer.operation.kind === "elementwise" && answer.operation.steps.length > maxSteps)) continue;
  const distance = elements < minElements ? maxElements : Math.abs(elements - wantedElements);
  const signature = signatureOf(answer);
  if (distance < (chosen.get(signature)?.distance ?? Infinity)) chosen.set(signature, { answer, distance });
}
const added = interpreterCases().map(withOutputs);
const texts = new Map<string, string[]>();
for (const answer of [...[...chosen.values()].map(({ answer }) => answer), ...added]) {
  const name = at(interpretedNames(answer.operation), 0);
  texts.set(name, [...(texts.get(name) ?? []), printed(answer)]);
}
const table = Object.fromEntries([...texts].toSorted().map(([name, graphs]) => [name, graphs.toSorted().join("\n\n")]));
const packed = deflateRawSync(JSON.stringify(table), { level: 9 }).toString("base64");
const text = `/** Made by scripts/generate/interpreter-answers.ts from the conformance cases of ONNX; not to be edited. */

/** The known answers of the interpreter: JSON, compressed (raw deflate) and in base64. */
export const packedAnswers =
  "${packed}";
`;
writeFileSync(new URL("../../src/engine/execute/interpreter-checks/answer-table.ts", import.meta.url), text);
console.log(`${chosen.size} of ${answers.length} operations, ${added.length} cases, ${text.length} bytes`);

/** A case with what the interpreter computes where it has no outputs. Throws if the interpreter computes something else than the outputs that it has. */
function withOutputs({ operation, inputs, outputs }: InterpreterCase): Answer {
  if (outputs?.length === 0) return { operation, inputs, outputs };
  const computed = evaluateNode(operation, inputs);
  const problem = outputs === undefined ? undefined : findDifference(computed, outputs);
  if (problem !== undefined) throw new Error(`${JSON.stringify(operation)}: ${problem}`);
  return { operation, inputs, outputs: outputs ?? computed };
}

/** The operations of a case; none if the interpreter does not compute what ONNX says, or the case has other values than tensors. */
function answersOf(each: ConformanceCase): readonly Answer[] {
  const { model } = readOnnxModel(readFileSync(each.modelPath), each.modelPath);
  const { inputs, outputs } = model.graph;
  if (isRandom(model) || [...inputs, ...outputs].some(({ type }) => type.kind !== "tensor")) return [];
  const folder = at(dataSets(each), 0);
  const read = (kind: "input" | "output"): readonly Literal[] =>
    readValues(
      folder,
      kind,
      (kind === "input" ? inputs : outputs).map(({ type }) => type),
    ).map(tensorOf);
  const [given, right] = [read("input"), read("output")];
  return [evaluated, evaluatedOptimized].flatMap((compute) => {
    const found: Answer[] = [];
    const record: ConstantFolder = (operation, operands) => {
      const results = evaluateNode(operation, operands);
      found.push({ operation, inputs: operands, outputs: results });
      return results;
    };
    try {
      return confirmed(found, compute(model, given, record), right);
    } catch {
      return []; // an operator that the engine does not have, or whose shapes depend on values
    }
  });
}

function tensorOf(value: CaseValue): Literal {
  if (value.kind !== "tensor") throw new Error("a value of another kind than its type");
  return value.literal;
}

/** The outputs of a model, computed while it is traced. */
function evaluated(model: OnnxModel, given: readonly Literal[], fold: ConstantFolder): readonly Literal[] {
  const builder = new Builder(defaultTraceLimits, "eager", fold);
  const named = new Map<string, TracedValue>();
  for (const [index, { name }] of model.graph.inputs.entries()) {
    const literal = given[index];
    if (literal !== undefined) named.set(name, builder.constant(literal));
  }
  return [...traceModel(model, named, builder).values()].map((value) =>
    required(isTensor(value) ? value.constant : undefined, "y"),
  );
}

/** The outputs of a model, computed node by node of its optimized graph. */
function evaluatedOptimized(model: OnnxModel, given: readonly Literal[], fold: ConstantFolder): readonly Literal[] {
  const builder = new Builder(defaultTraceLimits, "graph", fold);
  const [named, elements] = [new Map<string, Value>(), new Map<Value, Literal>()];
  for (const [index, { name }] of model.graph.inputs.entries()) {
    const literal = given[index];
    if (literal === undefined) continue;
    const isParameter = index > 0 && (literal.data.length === 1 || literal.dataType.includes("int"));
    const value = isParameter ? builder.constant(literal) : { type: getType(literal) };
    named.set(name, value);
    elements.set(value, literal);
  }
  const results = [...traceModel(model, named, builder).values()].filter(isTensor);
  const inputs = [...named].map(([name, value]) => ({ name, value })).filter(({ value }) => value.constant === undefined);
  const traced: Graph = builder.graph(
    inputs,
    results.map((value, index) => ({ name: `y${index}`, value })),
  );
  const { nodes, outputs } = runPasses(traced);
  const elementsOf = (value: Value): Literal => required(value.constant ?? elements.get(value), "a value");
  for (const node of nodes) {
    const computed = fold(node.operation, node.inputs.map(elementsOf));
    for (const [index, value] of node.outputs.entries()) elements.set(value, at(computed, index));
  }
  return outputs.map(({ value }) => elementsOf(value));
}

/** The operations with ONNX's outputs in the place of those of the interpreter. None if they differ by more than ONNX allows. */
function confirmed(found: readonly Answer[], results: readonly Literal[], right: readonly Literal[]): readonly Answer[] {
  const outputs = new Map<Literal, Literal>();
  for (const [index, wanted] of right.entries()) {
    const given = at(results, index);
    if (difference({ kind: "tensor", literal: given }, { kind: "tensor", literal: wanted }) !== undefined) return [];
    if (findDifference([given], [wanted]) === undefined) outputs.set(given, wanted);
  }
  return found.map((answer) => ({ ...answer, outputs: answer.outputs.map((literal) => outputs.get(literal) ?? literal) }));
}

/** What an answer is about: the operation, the types, and the shapes in relation to each other, without values and sizes. */
function signatureOf({ operation, inputs, outputs }: Answer): string {
  if (operation.kind === "elementwise") return `elementwise of ${operation.steps.length}`;
  const rank = inputs[0]?.shape.length ?? 0;
  const attributes = Object.entries(operation).map(([name, value]) => {
    if (name === "types") return "";
    if (name === "axis") return value === rank - 1 ? "last" : value === 0 ? "first" : "middle";
    if (name === "permutation") return String(value);
    if (Array.isArray(value)) return name + [...new Set(value.map(classOf))].toSorted().join("");
    return typeof value === "number" ? name : name + JSON.stringify(value);
  });
  const result = outputs[0]?.shape.join();
  const operands = inputs.map(
    ({ dataType, shape }) => `${dataType}${Math.min(shape.length, 4)}${shape.join() === result ? "=" : ""}`,
  );
  return [...attributes, ...operands].join("|");
}

function classOf(value: unknown): unknown {
  return typeof value !== "number" || value === 0 || value === 1 ? value : value < 0 ? "-" : "+";
}

function printed({ operation, inputs, outputs }: Answer): string {
  const constant = (literal: Literal): Value => ({ type: getType(literal), constant: literal });
  // What is refused has no types.
  const types = outputs.length === 0 ? [{ dataType: "bool" as const, shape: [] }] : inferTypes(operation, inputs.map(getType));
  const computed = types.map((type): Value => ({ type }));
  const named = [...computed, ...outputs.map(constant)].map((value, index) => ({ name: `y${index}`, value }));
  const node = { operation, inputs: inputs.map(constant), outputs: computed };
  return printGraph({ inputs: [], nodes: [node], outputs: named }, { maxElements: Infinity });
}
