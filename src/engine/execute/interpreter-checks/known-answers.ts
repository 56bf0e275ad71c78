/**
 * Known answers of the interpreter. Generated code is compared with the interpreter, constants are folded with it, and it computes what has no kernel: so what
 * it computes itself is held against results that came from elsewhere.
 */
import { at } from "../../../contract/checked.ts";
import { getMessage } from "../../../contract/errors.ts";
import { getElements, type Literal } from "../../ir/literal.ts";
import type { Operation } from "../../ir/operations.ts";
import { parseGraph } from "../../ir/parse.ts";
import { evaluateNode } from "../../interpret/evaluate.ts";

/** Relative difference that results of float32 and float64 may have: functions of Math differ in their last bits between versions of JavaScript engines. */
const tolerance = 1e-6;
/** Absolute difference that results near 0 may have. */
const nearZero = 1e-9;

/**
 * By name of the operation: graphs of one node in text, with an empty line between two. The outputs of a graph are the node's outputs, then the right outputs; without
 * right ones the interpreter must refuse the node.
 */
export type InterpreterAnswerTable = Readonly<Record<string, string>>;

/** Names of the computations by which the interpreter evaluates an operation, each with known answers: "gather"; "elementwise" and "unary erf". */
export function interpretedNames(operation: Operation): readonly string[] {
  if (operation.kind === "elementwise")
    return [operation.kind, ...operation.steps.flatMap((step) => interpretedNames(step.operation))];
  const name = "function" in operation ? `${operation.kind} ${operation.function}` : operation.kind;
  const { activation = "none" } = "activation" in operation ? operation : {};
  return activation === "none" ? [name] : [name, activationNames[activation]];
}

const activationNames = {
  relu: "binary max",
  gelu: "gelu",
  "gelu-tanh": "gelu",
  tanh: "unary tanh",
  sigmoid: "unary sigmoid",
  silu: "unary sigmoid",
} as const;

/** The known answers of the interpreter, by the names of operations. */
export class InterpreterAnswers {
  readonly #table: InterpreterAnswerTable;
  readonly #evaluate: typeof evaluateNode;

  constructor(table: InterpreterAnswerTable, interpreter: typeof evaluateNode = evaluateNode) {
    this.#table = table;
    this.#evaluate = interpreter;
  }

  /** Names of the operations that have known answers. */
  get names(): readonly string[] {
    return Object.keys(this.#table);
  }

  /** The first wrong result of the interpreter for an operation, as a message; undefined if all known answers are reproduced, or there are none. */
  findProblem(name: string): string | undefined {
    const texts = Object.hasOwn(this.#table, name) ? this.#table[name] : undefined;
    for (const text of texts?.split("\n\n") ?? []) {
      const problem = this.#findProblemIn(text);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #findProblemIn(text: string): string | undefined {
    const { nodes, outputs } = parseGraph(text);
    const { operation, inputs, outputs: computed } = at(nodes, 0);
    const right = outputs.slice(computed.length).map(({ value }) => value.constant as Literal);
    const operands = inputs.map(({ constant }) => constant as Literal);
    try {
      const results = this.#evaluate(operation, operands);
      return right.length === 0 ? "it accepts what it must refuse" : findDifference(results, right);
    } catch (error) {
      return right.length === 0 ? undefined : getMessage(error);
    }
  }
}

/** The first difference between computed and right tensors, as a message. */
export function findDifference(computed: readonly Literal[], right: readonly Literal[]): string | undefined {
  for (const [index, wanted] of right.entries()) {
    const given = computed[index];
    const type = `${wanted.dataType}[${wanted.shape.join(",")}]`;
    if (given === undefined) return `output ${index} is missing, and ${type} is right`;
    if (given.dataType !== wanted.dataType || given.shape.join() !== wanted.shape.join())
      return `output ${index} is ${given.dataType}[${given.shape.join(",")}], and ${type} is right`;
    const [a, b] = [getElements(given), getElements(wanted)];
    if (a.length !== b.length) return `output ${index} has ${a.length} elements, and ${b.length} are right`;
    const mayDiffer = wanted.dataType === "float32" || wanted.dataType === "float64";
    for (let element = 0; element < b.length; element += 1) {
      if (Object.is(a[element], b[element]) || a[element] === b[element] || (mayDiffer && isNear(a[element], b[element])))
        continue;
      return `element ${element} of ${type} is ${String(a[element])}, and ${String(b[element])} is right`;
    }
  }
  return undefined;
}

function isNear(a: unknown, b: unknown): boolean {
  return Math.abs(Number(a) - Number(b)) <= nearZero + tolerance * Math.abs(Number(b));
}
