/**
 * Known answers of the interpreter. Generated code is compared with the interpreter, constants are folded with it, and it computes what has no kernel: so what
 * it computes itself is held against results that came from elsewhere.
 */
import { at } from "../../../contract/checked.ts";
import { messageOf } from "../../../contract/errors.ts";
import { elementsOf, type Literal } from "../../ir/literal.ts";
import type { Operation } from "../../ir/operations.ts";
import { parseGraph } from "../../ir/parse.ts";
import { evaluate } from "../../interpret/evaluate.ts";

/** Relative difference that results of float32 and float64 may have: functions of Math differ in their last bits between versions of JavaScript engines. */
const tolerance = 1e-6;
/** Absolute difference that results near 0 may have. */
const nearZero = 1e-9;

/** Names of what the interpreter computes for an operation, each with known answers of its own: "gather"; "elementwise" and "unary erf". */
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
  readonly #texts = new Map<string, string[]>();

  readonly #evaluate: typeof evaluate;

  /** `table`: graphs of one node in text, whose outputs are those of the node, then the right ones; without right ones the interpreter must refuse the node. */
  constructor(table: readonly string[], interpreter: typeof evaluate = evaluate) {
    this.#evaluate = interpreter;
    for (const text of table) {
      const name = nameIn(text);
      const texts = this.#texts.get(name) ?? [];
      texts.push(text);
      this.#texts.set(name, texts);
    }
  }

  /** Names of the operations that have known answers. */
  get names(): readonly string[] {
    return [...this.#texts.keys()];
  }

  /** What the interpreter computes wrong of an operation, as a message; undefined if its known answers are right, or there are none. */
  findProblem(name: string): string | undefined {
    for (const text of this.#texts.get(name) ?? []) {
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
      return right.length === 0 ? undefined : messageOf(error);
    }
  }
}

/** The name of the operation of a graph in text, which is parsed when it is needed. */
function nameIn(text: string): string {
  const [, kind = "", functionName] = /^v0: .* = ([a-z-]+)\(.*?\)(?: function=(\S+))?/m.exec(text) ?? [];
  return functionName === undefined ? kind : `${kind} ${functionName}`;
}

/** The first difference between computed and right tensors, as a message. */
export function findDifference(computed: readonly Literal[], right: readonly Literal[]): string | undefined {
  for (const [index, wanted] of right.entries()) {
    const given = computed[index];
    const type = `${wanted.dataType}[${wanted.shape.join(",")}]`;
    if (given === undefined) return `output ${index} is missing, and ${type} is right`;
    if (given.dataType !== wanted.dataType || given.shape.join() !== wanted.shape.join())
      return `output ${index} is ${given.dataType}[${given.shape.join(",")}], and ${type} is right`;
    const [a, b] = [elementsOf(given), elementsOf(wanted)];
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
