/** ONNX Scan, https://onnx.ai/onnx/operators/onnx__Scan.html, unrolled over the sequence. */
import { at, required } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { zeroLiteral } from "../../../ir/literal.ts";
import { isTensor, type TracedValue } from "../../../build/traced-value.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { emptyStack, stack } from "./stack.ts";

/**
 * Scan of version 8. Inputs: sequence lengths (optional), states [batch, ...] and sequences [batch, length, ...]. The part of the outputs after the end of a
 * shorter sequence is zero.
 */
export function batchedScan(call: OperatorCall): readonly TracedValue[] {
  const body = call.graph("body");
  const scanned = call.int("num_scan_inputs", 0);
  const stateCount = call.inputCount - 1 - scanned;
  const outputCount = call.node.outputs.length - stateCount;
  checkCounts(call, scanned, Math.min(stateCount, outputCount));
  const tensors = call.tensors(1);
  const sequences = tensors.slice(stateCount);
  const [batch = 0, length = 0] = at(sequences, 0).type.shape;
  const lengths = call.knownIntegersIfGiven(0);
  const directions = call.ints("directions");
  const rows: Value[][] = Array.from({ length: stateCount + outputCount }, () => []);
  for (let row = 0; row < batch; row += 1) {
    const steps = lengths?.[row] ?? length;
    if (!(steps > 0 && steps <= length)) throw new Error(`the sequence length ${steps} is not between 1 and ${length}`);
    let states: readonly TracedValue[] = tensors.slice(0, stateCount).map((state) => entry(call, state, row));
    const outputs: Value[][] = Array.from({ length: outputCount }, () => []);
    for (let step = 0; step < steps; step += 1) {
      call.builder.count();
      const elements = sequences.map((sequence, index) =>
        entry(call, entry(call, sequence, row), directions?.[index] === 1 ? steps - 1 - step : step),
      );
      const results = call.subgraphs.trace(body, [...states, ...elements]);
      states = results.slice(0, stateCount);
      for (const [index, value] of results.slice(stateCount).entries()) if (isTensor(value)) outputs[index]?.push(value);
    }
    const padded = outputs.map((values) => {
      const first = required(values[0], "the output of the scan body");
      const zeros = call.builder.constant(zeroLiteral(first.type.dataType, first.type.shape));
      call.builder.reserve({ dataType: "int64", shape: [length] });
      const padding = Array.from({ length: length - values.length }, () => zeros);
      return stack(call, [...values, ...padding], 0, () => first);
    });
    for (const [index, value] of [...states, ...padded].entries()) if (isTensor(value)) rows[index]?.push(value);
  }
  return rows.map((values) => {
    if (values.length !== batch || batch === 0) throw new Error("the batch is empty");
    return stack(call, values, 0, () => call.tensor(1));
  });
}

/** One index of the first axis, without that axis. */
function entry(call: OperatorCall, x: Value, index: number): Value {
  return call.reshape(call.slice(x, 0, index, 1), x.type.shape.slice(1));
}

/** Scan from version 9 on: without a batch axis, with a scan axis and direction for each input and output. */
export function scan(call: OperatorCall): readonly TracedValue[] {
  const body = call.graph("body");
  const scanned = call.int("num_scan_inputs", 0);
  const stateCount = call.inputCount - scanned;
  checkCounts(call, scanned, stateCount);
  const tensors = call.tensors();
  const sequences = tensors.slice(stateCount).map((tensor, index) => ({
    tensor,
    axis: normalizeAxis(call.ints("scan_input_axes")?.[index] ?? 0, tensor.type.shape.length),
    reverse: call.ints("scan_input_directions")?.[index] === 1,
  }));
  const outputCount = call.node.outputs.length - stateCount;
  const outputs = Array.from({ length: outputCount }, (_, index) => ({
    values: [] as Value[],
    axis: call.ints("scan_output_axes")?.[index] ?? 0,
    reverse: call.ints("scan_output_directions")?.[index] === 1,
  }));
  const [first] = sequences;
  const steps = first === undefined ? 0 : at(first.tensor.type.shape, first.axis);
  let states: readonly TracedValue[] = tensors.slice(0, stateCount);
  for (let step = 0; step < steps; step += 1) {
    call.builder.count();
    const elements = sequences.map(({ tensor, axis, reverse }) =>
      call.reshape(call.slice(tensor, axis, reverse ? steps - 1 - step : step, 1), tensor.type.shape.toSpliced(axis, 1)),
    );
    const results = call.subgraphs.trace(body, [...states, ...elements]);
    states = results.slice(0, stateCount);
    for (const [index, value] of results.slice(stateCount).entries()) if (isTensor(value)) outputs[index]?.values.push(value);
  }
  const declared = body.outputs.slice(stateCount);
  return [
    ...states,
    ...outputs.map(({ values, axis, reverse }, index) => {
      const rank = (values[0]?.type.shape.length ?? 0) + 1; // an empty output is declared by the body
      const ordered = reverse ? values.toReversed() : values;
      return stack(call, ordered, normalizeAxis(axis, rank), () => call.builder.constant(emptyStack(declared[index]?.type)));
    }),
  ];
}

function checkCounts(call: OperatorCall, scanned: number, rest: number): void {
  if (!(scanned >= 1 && rest >= 0))
    throw new Error(`num_scan_inputs is ${scanned}, with ${call.inputCount} inputs and ${call.node.outputs.length} outputs`);
}
