/** Runs a loop with a data-dependent trip count: its body runs like a model, on the values carried from the previous iteration. */
import { at } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { recordOverheadBytes } from "../../build/trace-budget.ts";
import { getType, type Value } from "../../ir/graph.ts";
import { byteSize, sameShape } from "../../ir/tensor-type.ts";
import { int64Literal, type Literal, toLiteral, toNumbers, reshaped, toIntegers } from "../../ir/literal.ts";
import { evaluateNode } from "../../interpret/evaluate.ts";
import { captureName, type InterpretedLoop } from "../../build/data-dependency.ts";
import { isTensor, type TracedValue, mapTensors } from "../../build/traced-value.ts";
import type { ModelRun } from "./model-run.ts";
import type { LoopBody } from "./segment.ts";

/**
 * Runs a loop until its condition is false or its trip count is reached. `known` holds the elements of live values. Returns the final carried values,
 * then the stacked scan outputs.
 */
export async function runLoop(
  loop: InterpretedLoop,
  known: (value: Value) => Value,
  body: LoopBody,
  run: ModelRun,
): Promise<readonly TracedValue[]> {
  const maxIterations =
    loop.maxIterations === undefined ? Number.POSITIVE_INFINITY : at(toIntegers(knownLiteral(known(loop.maxIterations))), 0);
  let continues = loop.initialCondition === undefined || isTrue(known(loop.initialCondition));
  let carried = loop.carried.map((each) => mapTensors(each, known));
  const captures = [...loop.captures].map(([name, each]): [string, TracedValue] => [captureName(name), mapTensors(each, known)]);
  const stacks = Array.from({ length: loop.scanOutputCount }, () => new RowStack(loop.name, run));
  for (let iteration = 0; continues && iteration < maxIterations; iteration += 1) {
    run.countIteration();
    const constants = [int64Literal([iteration], []), toLiteral("bool", [], [1])].map(constantValue);
    const bodyInputs = [...constants, ...carried].map((each, index): [string, TracedValue] => [String(index), each]);
    const outputs = await body.run(new Map([...bodyInputs, ...captures]), undefined, run);
    const [condition, ...rest] = [...outputs.values()];
    if (condition === undefined || !isTensor(condition))
      throw new InferyardError("MODEL_UNSUPPORTED", `the body of ${loop.name} has no condition as its first output`);
    continues = isTrue(condition);
    carried = rest.slice(0, carried.length);
    for (const [row, value] of rest.slice(carried.length).entries()) at(stacks, row).add(value);
    await run.yieldPolicy.yieldIfDue();
  }
  return [...carried, ...stacks.map((stack, row) => constantValue(stack.joined() ?? loop.emptyScanOutput(row)))];
}

/** The rows of one scan output, one per iteration. */
class RowStack {
  readonly #loop: string;
  readonly #run: ModelRun;
  readonly #rows: Literal[] = [];

  constructor(loop: string, run: ModelRun) {
    this.#loop = loop;
    this.#run = run;
  }

  add(value: TracedValue): void {
    if (!isTensor(value)) throw new InferyardError("MODEL_UNSUPPORTED", `${this.#loop} has a scan output that is not a tensor`);
    const row = knownLiteral(value);
    const [first] = this.#rows;
    if (first !== undefined && (first.dataType !== row.dataType || !sameShape(first.shape, row.shape)))
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `${this.#loop} has scan outputs of different shapes: [${first.shape.join(", ")}] and [${row.shape.join(", ")}]`,
      );
    this.#run.chargeGathered(byteSize(getType(row)) + recordOverheadBytes.literal, this.#loop);
    this.#rows.push(row);
  }

  /** Returns the rows stacked along a new first axis; undefined if there are none. */
  joined(): Literal | undefined {
    const opened = this.#rows.map((row) => reshaped(row, [1, ...row.shape]));
    return opened.length === 0 ? undefined : evaluateNode({ kind: "concat", axis: 0 }, opened)[0];
  }
}

function constantValue(literal: Literal): Value {
  return { type: getType(literal), constant: literal };
}

function knownLiteral({ constant }: Value): Literal {
  if (constant === undefined) throw new Error("a loop runs with a value that has no elements");
  return constant;
}

function isTrue(value: Value): boolean {
  return toNumbers(knownLiteral(value))[0] !== 0;
}
