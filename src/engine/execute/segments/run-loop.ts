/** Rounds of a loop whose end depends on values: its body runs as a model does, with what the round before gave. */
import { InferyardError } from "../../../errors.ts";
import { recordBytes } from "../../build/trace-budget.ts";
import { byteSize, sameShape, typeOf, type Value } from "../../ir/graph.ts";
import { int64Literal, type Literal, literalOf, numbersOf, reshaped, wholeNumbersOf } from "../../ir/literal.ts";
import { evaluate } from "../../interpret/evaluate.ts";
import { aroundName, type HostLoop } from "../../build/data-dependency.ts";
import { isTensor, type Traced, withTensors } from "../../build/traced-value.ts";
import type { StageRun } from "./model-run.ts";
import type { LoopBody } from "./segment.ts";

/** `known` gives values their elements. Gives what is carried, then the stacked rows. */
export async function runLoop(
  loop: HostLoop,
  known: (value: Value) => Value,
  body: LoopBody,
  run: StageRun,
): Promise<readonly Traced[]> {
  const most = loop.most === undefined ? Number.POSITIVE_INFINITY : (wholeNumbersOf(literalIn(known(loop.most)))[0] ?? 0);
  let goes = loop.going === undefined || holds(known(loop.going));
  let carried = loop.carried.map((each) => withTensors(each, known));
  const around = [...loop.around].map(([name, each]): [string, Traced] => [aroundName(name), withTensors(each, known)]);
  const stacks = Array.from({ length: loop.rows }, () => new Stack(loop.name, run));
  for (let round = 0; goes && round < most; round += 1) {
    run.countRound();
    const constants = [int64Literal([round], []), literalOf("bool", [], [1])].map(valueOf);
    const places = [...constants, ...carried].map((each, place): [string, Traced] => [String(place), each]);
    const outputs = await body.run(new Map([...places, ...around]), undefined, run);
    const [condition, ...rest] = [...outputs.values()];
    if (condition === undefined || !isTensor(condition))
      throw new InferyardError("MODEL_UNSUPPORTED", `the body of ${loop.name} gives no condition`);
    goes = holds(condition);
    carried = rest.slice(0, carried.length);
    for (const [row, value] of rest.slice(carried.length).entries()) stacks[row]?.add(value);
    await run.pace.turn();
  }
  return [...carried, ...stacks.map((stack, row) => valueOf(stack.joined() ?? loop.none(row)))];
}

/** Rows of one output, round by round. */
class Stack {
  readonly #loop: string;
  readonly #run: StageRun;
  readonly #rows: Literal[] = [];

  constructor(loop: string, run: StageRun) {
    this.#loop = loop;
    this.#run = run;
  }

  add(value: Traced): void {
    if (!isTensor(value)) throw new InferyardError("MODEL_UNSUPPORTED", `${this.#loop} stacks what is no tensor`);
    const row = literalIn(value);
    const [first] = this.#rows;
    if (first !== undefined && (first.dataType !== row.dataType || !sameShape(first.shape, row.shape)))
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `${this.#loop} stacks rows of [${first.shape.join(", ")}] and of [${row.shape.join(", ")}]`,
      );
    this.#run.gather(byteSize(typeOf(row)) + recordBytes.literal, this.#loop);
    this.#rows.push(row);
  }

  /** undefined where there is none. */
  joined(): Literal | undefined {
    const opened = this.#rows.map((row) => reshaped(row, [1, ...row.shape]));
    return opened.length === 0 ? undefined : evaluate({ kind: "concat", axis: 0 }, opened)[0];
  }
}

function valueOf(literal: Literal): Value {
  return { type: typeOf(literal), constant: literal };
}

function literalIn({ constant }: Value): Literal {
  if (constant === undefined) throw new Error("a loop runs with what is not known");
  return constant;
}

function holds(value: Value): boolean {
  return numbersOf(literalIn(value))[0] !== 0;
}
