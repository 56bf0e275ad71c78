/** Rounds of a loop whose end depends on values: its body runs as a model does, with what the round before gave. */
import { InferyardError } from "../../../errors.ts";
import { recordOverheadBytes } from "../../build/trace-budget.ts";
import { byteSize, sameShape, typeOf, type Value } from "../../ir/graph.ts";
import { int64Literal, type Literal, literalOf, numbersOf, reshaped, integersOf } from "../../ir/literal.ts";
import { evaluate } from "../../interpret/evaluate.ts";
import { captureName, type InterpretedLoop } from "../../build/data-dependency.ts";
import { isTensor, type TracedValue, mapTensors } from "../../build/traced-value.ts";
import type { ModelRun } from "./model-run.ts";
import type { LoopBody } from "./segment.ts";

/** `known` gives values their elements. Gives what is carried, then the stacked rows. */
export async function runLoop(
  loop: InterpretedLoop,
  known: (value: Value) => Value,
  body: LoopBody,
  run: ModelRun,
): Promise<readonly TracedValue[]> {
  const most =
    loop.maxIterations === undefined ? Number.POSITIVE_INFINITY : (integersOf(knownLiteral(known(loop.maxIterations)))[0] ?? 0);
  let goes = loop.initialCondition === undefined || isTrue(known(loop.initialCondition));
  let carried = loop.carried.map((each) => mapTensors(each, known));
  const around = [...loop.captures].map(([name, each]): [string, TracedValue] => [captureName(name), mapTensors(each, known)]);
  const stacks = Array.from({ length: loop.scanOutputCount }, () => new RowStack(loop.name, run));
  for (let round = 0; goes && round < most; round += 1) {
    run.countIteration();
    const constants = [int64Literal([round], []), literalOf("bool", [], [1])].map(constantValue);
    const places = [...constants, ...carried].map((each, place): [string, TracedValue] => [String(place), each]);
    const outputs = await body.run(new Map([...places, ...around]), undefined, run);
    const [condition, ...rest] = [...outputs.values()];
    if (condition === undefined || !isTensor(condition))
      throw new InferyardError("MODEL_UNSUPPORTED", `the body of ${loop.name} gives no condition`);
    goes = isTrue(condition);
    carried = rest.slice(0, carried.length);
    for (const [row, value] of rest.slice(carried.length).entries()) stacks[row]?.add(value);
    await run.yieldPolicy.yieldIfDue();
  }
  return [...carried, ...stacks.map((stack, row) => constantValue(stack.joined() ?? loop.emptyScanOutput(row)))];
}

/** Rows of one output, round by round. */
class RowStack {
  readonly #loop: string;
  readonly #run: ModelRun;
  readonly #rows: Literal[] = [];

  constructor(loop: string, run: ModelRun) {
    this.#loop = loop;
    this.#run = run;
  }

  add(value: TracedValue): void {
    if (!isTensor(value)) throw new InferyardError("MODEL_UNSUPPORTED", `${this.#loop} stacks what is no tensor`);
    const row = knownLiteral(value);
    const [first] = this.#rows;
    if (first !== undefined && (first.dataType !== row.dataType || !sameShape(first.shape, row.shape)))
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `${this.#loop} stacks rows of [${first.shape.join(", ")}] and of [${row.shape.join(", ")}]`,
      );
    this.#run.chargeGathered(byteSize(typeOf(row)) + recordOverheadBytes.literal, this.#loop);
    this.#rows.push(row);
  }

  /** undefined where there is none. */
  joined(): Literal | undefined {
    const opened = this.#rows.map((row) => reshaped(row, [1, ...row.shape]));
    return opened.length === 0 ? undefined : evaluate({ kind: "concat", axis: 0 }, opened)[0];
  }
}

function constantValue(literal: Literal): Value {
  return { type: typeOf(literal), constant: literal };
}

function knownLiteral({ constant }: Value): Literal {
  if (constant === undefined) throw new Error("a loop runs with what is not known");
  return constant;
}

function isTrue(value: Value): boolean {
  return numbersOf(knownLiteral(value))[0] !== 0;
}
