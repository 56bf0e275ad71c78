/** Branches and loops. Their conditions must be known while the model is traced: a loop is unrolled. */
import { type Literal, literalOf, numbersOf, wholeNumbersOf, zeroLiteral } from "../graph/literal.ts";
import type { Value } from "../graph/graph.ts";
import type { HostLoop } from "../trace/question.ts";
import { isTensor, type Traced } from "../trace/traced.ts";
import { axisOf, type OperatorCall } from "./operator-call.ts";
import { type OperatorFamily, since, versions } from "./operator-rule.ts";

function branch(call: OperatorCall): readonly Traced[] {
  const then = call.graph("then_branch");
  const otherwise = call.graph("else_branch");
  return call.inner.trace(numbersOf(call.known(0))[0] === 0 ? otherwise : then, []);
}

/**
 * Inputs: most rounds, the first condition, what is carried along. Outputs: what was carried, and of every round the rest, stacked. From the first
 * round on that asks for a value which only a run tells, the host computes the rounds.
 */
function loop(call: OperatorCall): readonly Traced[] {
  const body = call.graph("body");
  const most = call.tensorIfGiven(0);
  let going = call.tensorIfGiven(1);
  let carried: readonly Traced[] = Array.from({ length: call.inputCount - 2 }, (_, index) => call.traced(index + 2));
  const stacked: Value[][] = Array.from({ length: call.node.outputs.length - carried.length }, () => []);
  const types = body.outputs.slice(1 + carried.length);
  const what = `${call.node.operator} "${call.node.name}"`;
  for (let round = 0; ; round += 1) {
    const state = { round, most, going, carried };
    const { outputs, isHosted } = call.build.stepOrHost(
      () => {
        const ends = most === undefined ? Number.POSITIVE_INFINITY : (wholeNumbersOf(call.known(0))[0] ?? 0);
        const goes = going === undefined || numbersOf(call.build.known(going, `the condition of ${what}`))[0] !== 0;
        if (!goes || round >= ends) return [];
        call.build.count();
        const counter = call.build.constant(literalOf("int64", [], [round]));
        return call.inner.trace(body, [counter, call.build.constant(literalOf("bool", [], [1])), ...carried]);
      },
      (): HostLoop => ({
        kind: "loop",
        name: what,
        ...call.inner.enclose(body),
        ...state,
        rows: stacked.length,
        none: (row) => noRows(stacked[row] ?? [], types[row]?.type),
      }),
    );
    const rows = outputs.slice(outputs.length - stacked.length);
    if (isHosted) {
      carried = outputs.slice(0, carried.length);
      const parts = rows.map((more, index) => [...(stacked[index] ?? []).map((value) => opened(call, value, 0)), asRows(more)]);
      return [...carried, ...parts.map((values) => joined(call, values, 0))];
    }
    const [condition] = outputs;
    if (condition === undefined) break;
    if (!isTensor(condition)) throw new Error("its body gives no condition");
    going = condition;
    carried = outputs.slice(1, 1 + carried.length);
    for (const [index, value] of rows.entries()) if (isTensor(value)) stacked[index]?.push(value);
  }
  return [
    ...carried,
    ...stacked.map((values, index) => stack(call, values, 0, () => call.build.constant(noRows(values, types[index]?.type)))),
  ];
}

function asRows(traced: Traced): Value {
  if (!isTensor(traced)) throw new Error("it stacks what is no tensor");
  return traced;
}

/** One value per round of [..] becomes [rounds, ..] with the rounds at `axis`. */
function stack(call: OperatorCall, values: readonly Value[], axis: number, none: () => Value): Value {
  if (values.length === 0) return none();
  return joined(
    call,
    values.map((value) => opened(call, value, axis)),
    axis,
  );
}

function opened(call: OperatorCall, value: Value, axis: number): Value {
  return call.reshape(value, value.type.shape.toSpliced(axis, 0, 1));
}

function joined(call: OperatorCall, values: readonly Value[], axis: number): Value {
  const [first] = values;
  return first !== undefined && values.length === 1 ? first : call.add({ kind: "concat", axis }, ...values);
}

/** What a loop of no rounds stacks: nothing, of the type of the rounds before, or else of that which its body states. */
function noRows([before]: readonly Value[], type: BodyType | undefined): Literal {
  if (before !== undefined) return zeroLiteral(before.type.dataType, [0, ...before.type.shape]);
  if (type?.kind !== "tensor") throw new Error("it runs no round, and its body does not state what it would give");
  const shape = (type.shape ?? []).map((size) => (typeof size === "number" ? size : 0));
  return zeroLiteral(type.dataType, [0, ...shape]);
}

type BodyType = ReturnType<OperatorCall["graph"]>["outputs"][number]["type"];

/**
 * Version 8: inputs are the lengths of the sequences (may be left out), states [batch, ...] and sequences [batch, length, ...]; what a shorter
 * sequence does not fill of its outputs is zero.
 */
function batchedScan(call: OperatorCall): readonly Traced[] {
  const body = call.graph("body");
  const scanned = call.int("num_scan_inputs", 0);
  const states = call.inputCount - 1 - scanned;
  const count = call.node.outputs.length - states;
  if (!(scanned >= 1 && states >= 0 && count >= 0)) throw new Error(`it has ${call.inputCount} inputs and scans ${scanned}`);
  const tensors = call.tensors(1);
  const inputs = tensors.slice(states);
  const [batch = 0, length = 0] = inputs[0]?.type.shape ?? [];
  const lengths = call.knownIntegersIfGiven(0);
  const backwards = call.ints("directions");
  const rows: Value[][] = Array.from({ length: states + count }, () => []);
  for (let row = 0; row < batch; row += 1) {
    const rounds = lengths?.[row] ?? length;
    if (!(rounds > 0 && rounds <= length)) throw new Error(`a sequence of ${rounds} is not from 1 to ${length}`);
    let carried: readonly Traced[] = tensors.slice(0, states).map((state) => part(call, state, row));
    const stacked: Value[][] = Array.from({ length: count }, () => []);
    for (let round = 0; round < rounds; round += 1) {
      call.build.count();
      const slices = inputs.map((input, index) =>
        part(call, part(call, input, row), backwards?.[index] === 1 ? rounds - 1 - round : round),
      );
      const results = call.inner.trace(body, [...carried, ...slices]);
      carried = results.slice(0, states);
      for (const [index, value] of results.slice(states).entries()) if (isTensor(value)) stacked[index]?.push(value);
    }
    const filled = stacked.map((values) => {
      const [first] = values;
      if (first === undefined) throw new Error("its body gives no output of a round");
      const zeros = call.build.constant(zeroLiteral(first.type.dataType, first.type.shape));
      const missing = Array.from({ length: length - values.length }, () => zeros);
      return stack(call, [...values, ...missing], 0, () => first);
    });
    for (const [index, value] of [...carried, ...filled].entries()) if (isTensor(value)) rows[index]?.push(value);
  }
  return rows.map((values) => {
    if (values.length !== batch || batch === 0) throw new Error("it scans no sequence");
    return stack(call, values, 0, () => call.tensor(1));
  });
}

/** One index of the first axis. */
function part(call: OperatorCall, x: Value, at: number): Value {
  return call.reshape(call.slice(x, 0, at, 1), x.type.shape.slice(1));
}

/** From version 9 on axes are free, and there is no batch. */
function scan(call: OperatorCall): readonly Traced[] {
  const body = call.graph("body");
  const scanned = call.int("num_scan_inputs", 0);
  const states = call.inputCount - scanned;
  if (!(scanned >= 1 && states >= 0)) throw new Error(`it has ${call.inputCount} inputs and scans ${scanned}`);
  const tensors = call.tensors();
  const inputs = tensors.slice(states);
  const inputAxes = inputs.map(({ type }, index) => axisOf(call.ints("scan_input_axes")?.[index] ?? 0, type.shape.length));
  const inputDown = inputs.map((_, index) => call.ints("scan_input_directions")?.[index] === 1);
  const count = call.node.outputs.length - states;
  const outputAxes = Array.from({ length: count }, (_, index) => call.ints("scan_output_axes")?.[index] ?? 0);
  const outputDown = Array.from({ length: count }, (_, index) => call.ints("scan_output_directions")?.[index] === 1);
  const rounds = inputs[0]?.type.shape[inputAxes[0] ?? 0] ?? 0;
  let carried: readonly Traced[] = tensors.slice(0, states);
  const stacked: Value[][] = Array.from({ length: count }, () => []);
  for (let round = 0; round < rounds; round += 1) {
    call.build.count();
    const slices = inputs.map((input, index) => {
      const axis = inputAxes[index] ?? 0;
      const at = inputDown[index] ? rounds - 1 - round : round;
      return call.reshape(call.slice(input, axis, at, 1), input.type.shape.toSpliced(axis, 1));
    });
    const results = call.inner.trace(body, [...carried, ...slices]);
    carried = results.slice(0, states);
    for (const [index, value] of results.slice(states).entries()) {
      if (!isTensor(value)) continue;
      if (outputDown[index]) stacked[index]?.unshift(value);
      else stacked[index]?.push(value);
    }
  }
  const types = body.outputs.slice(states);
  return [
    ...carried,
    ...stacked.map((values, index) => {
      const rank = (values[0]?.type.shape.length ?? 0) + 1;
      return stack(call, values, axisOf(outputAxes[index] ?? 0, rank), () =>
        call.build.constant(noRows(values, types[index]?.type)),
      );
    }),
  ];
}

export const controlFlow: OperatorFamily = {
  If: since(1, branch),
  Loop: since(1, loop),
  Scan: versions([8, batchedScan], [9, scan]),
};
