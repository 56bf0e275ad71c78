/** If, Loop and Scan. If needs its condition at trace time; a loop is unrolled, or left to the host when its trip count depends on data. */
import { InferyardError } from "../../../../errors.ts";
import { type Literal, literalOf, numbersOf, zeroLiteral } from "../../../ir/literal.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OnnxGraph } from "../../onnx-model.ts";
import type { InterpretedLoop } from "../../../build/data-dependency.ts";
import { isTensor, type TracedValue } from "../../../build/traced-value.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since, versions } from "../operator-rule.ts";

function branch(call: OperatorCall): readonly TracedValue[] {
  const then = call.graph("then_branch");
  const otherwise = call.graph("else_branch");
  return call.subgraphs.trace(numbersOf(call.known(0))[0] === 0 ? otherwise : then, []);
}

/**
 * Inputs: most rounds, the first condition, what is carried along. Outputs: what was carried, and of every round the rest, stacked. The host computes
 * the rounds where one of them asks for a value which only a run tells.
 */
function loop(call: OperatorCall): readonly TracedValue[] {
  const body = call.graph("body");
  const [maxIterations, initialCondition] = [call.tensorIfGiven(0), call.tensorIfGiven(1)];
  const carried = Array.from({ length: call.inputCount - 2 }, (_, index) => call.input(index + 2));
  const scanOutputCount = call.node.outputs.length - carried.length;
  const types = body.outputs.slice(1 + carried.length);
  return call.builder.stepOrInterpret(
    () => unrolled(call, body, carried, scanOutputCount),
    (): InterpretedLoop => ({
      kind: "loop",
      name: `${call.node.operator} "${call.node.name}"`,
      ...call.subgraphs.capture(body),
      maxIterations,
      initialCondition,
      carried,
      scanOutputCount,
      emptyScanOutput: (row) => noRows(types[row]?.type),
    }),
  );
}

function unrolled(call: OperatorCall, body: OnnxGraph, first: readonly TracedValue[], rows: number): readonly TracedValue[] {
  const most = call.tensorIfGiven(0) === undefined ? Number.POSITIVE_INFINITY : (call.knownIntegers(0)[0] ?? 0);
  let going = call.tensorIfGiven(1) === undefined || numbersOf(call.known(1))[0] !== 0;
  let carried = first;
  const stacked: Value[][] = Array.from({ length: rows }, () => []);
  for (let round = 0; going && round < most; round += 1) {
    call.builder.count();
    const counter = call.builder.constant(literalOf("int64", [], [round]));
    const [condition, ...rest] = call.subgraphs.trace(body, [
      counter,
      call.builder.constant(literalOf("bool", [], [1])),
      ...carried,
    ]);
    if (condition === undefined || !isTensor(condition)) throw new Error("its body gives no condition");
    going = numbersOf(call.builder.known(condition, `the condition of ${call.node.operator} "${call.node.name}"`))[0] !== 0;
    carried = rest.slice(0, carried.length);
    for (const [index, value] of rest.slice(carried.length).entries()) if (isTensor(value)) stacked[index]?.push(value);
  }
  const types = body.outputs.slice(1 + carried.length);
  return [
    ...carried,
    ...stacked.map((values, index) => stack(call, values, 0, () => call.builder.constant(noRows(types[index]?.type)))),
  ];
}

/** One value per round of [..] becomes [rounds, ..] with the rounds at `axis`. */
function stack(call: OperatorCall, values: readonly Value[], axis: number, none: () => Value): Value {
  const [first] = values;
  if (first === undefined) return none();
  const grown = values.map((value) => call.reshape(value, value.type.shape.toSpliced(axis, 0, 1)));
  return grown.length === 1 ? (grown[0] ?? first) : call.add({ kind: "concat", axis }, ...grown);
}

/** What a loop of no rounds stacks: nothing, of the type its body states. */
function noRows(type: BodyType | undefined): Literal {
  if (type?.kind !== "tensor")
    throw new InferyardError("MODEL_UNSUPPORTED", "a loop runs no round, and its body does not state what it would give");
  const shape = (type.shape ?? []).map((size) => (typeof size === "number" ? size : 0));
  return zeroLiteral(type.dataType, [0, ...shape]);
}

type BodyType = OnnxGraph["outputs"][number]["type"];

/**
 * Version 8: inputs are the lengths of the sequences (may be left out), states [batch, ...] and sequences [batch, length, ...]; what a shorter
 * sequence does not fill of its outputs is zero.
 */
function batchedScan(call: OperatorCall): readonly TracedValue[] {
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
    let carried: readonly TracedValue[] = tensors.slice(0, states).map((state) => part(call, state, row));
    const stacked: Value[][] = Array.from({ length: count }, () => []);
    for (let round = 0; round < rounds; round += 1) {
      call.builder.count();
      const slices = inputs.map((input, index) =>
        part(call, part(call, input, row), backwards?.[index] === 1 ? rounds - 1 - round : round),
      );
      const results = call.subgraphs.trace(body, [...carried, ...slices]);
      carried = results.slice(0, states);
      for (const [index, value] of results.slice(states).entries()) if (isTensor(value)) stacked[index]?.push(value);
    }
    const filled = stacked.map((values) => {
      const [first] = values;
      if (first === undefined) throw new Error("its body gives no output of a round");
      const zeros = call.builder.constant(zeroLiteral(first.type.dataType, first.type.shape));
      call.builder.reserve({ dataType: "int64", shape: [length] });
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
function scan(call: OperatorCall): readonly TracedValue[] {
  const body = call.graph("body");
  const scanned = call.int("num_scan_inputs", 0);
  const states = call.inputCount - scanned;
  if (!(scanned >= 1 && states >= 0)) throw new Error(`it has ${call.inputCount} inputs and scans ${scanned}`);
  const tensors = call.tensors();
  const inputs = tensors.slice(states);
  const inputAxes = inputs.map(({ type }, index) => normalizeAxis(call.ints("scan_input_axes")?.[index] ?? 0, type.shape.length));
  const inputDown = inputs.map((_, index) => call.ints("scan_input_directions")?.[index] === 1);
  const count = call.node.outputs.length - states;
  const outputAxes = Array.from({ length: count }, (_, index) => call.ints("scan_output_axes")?.[index] ?? 0);
  const outputDown = Array.from({ length: count }, (_, index) => call.ints("scan_output_directions")?.[index] === 1);
  const rounds = inputs[0]?.type.shape[inputAxes[0] ?? 0] ?? 0;
  let carried: readonly TracedValue[] = tensors.slice(0, states);
  const stacked: Value[][] = Array.from({ length: count }, () => []);
  for (let round = 0; round < rounds; round += 1) {
    call.builder.count();
    const slices = inputs.map((input, index) => {
      const axis = inputAxes[index] ?? 0;
      const at = inputDown[index] ? rounds - 1 - round : round;
      return call.reshape(call.slice(input, axis, at, 1), input.type.shape.toSpliced(axis, 1));
    });
    const results = call.subgraphs.trace(body, [...carried, ...slices]);
    carried = results.slice(0, states);
    for (const [index, value] of results.slice(states).entries()) {
      if (!isTensor(value)) continue;
      stacked[index]?.push(value);
    }
  }
  const types = body.outputs.slice(states);
  return [
    ...carried,
    ...stacked.map((values, index) => {
      const rank = (values[0]?.type.shape.length ?? 0) + 1;
      const ordered = outputDown[index] ? values.toReversed() : values;
      return stack(call, ordered, normalizeAxis(outputAxes[index] ?? 0, rank), () =>
        call.builder.constant(noRows(types[index]?.type)),
      );
    }),
  ];
}

export const controlFlow: OperatorFamily = {
  If: since(1, branch),
  Loop: since(1, loop),
  Scan: versions([8, batchedScan], [9, scan]),
};
