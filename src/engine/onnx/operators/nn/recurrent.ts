/** RNN, GRU and LSTM, unrolled over the sequence. Directions are computed one after the other and stacked. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened, widenedIfGiven } from "../precision.ts";
import { type ActivationFunction, getActivations } from "./recurrent-activations.ts";

/** Inputs of one step: x W' plus bias [N, gates * H], and the states of the previous step [N, H]. */
interface Step {
  readonly input: Value;
  readonly hidden: Value;
  /** The cell state of LSTM; for others the same as `hidden`. */
  readonly cell: Value;
}

/** Weights and functions of one direction. */
interface Direction {
  /** Multiplies rows by R' [H, gates * H]. */
  readonly recurrence: MultiplyRows;
  /** Bias of R [gates * H], if the step must add it separately. */
  readonly bias: Value | undefined;
  /** Peephole weights of the gates i, o and f, [3 * H]. */
  readonly peepholes: Value | undefined;
  readonly activations: readonly ActivationFunction[];
  readonly hidden: number;
  readonly clip: (x: Value) => Value;
}

type StepRule = (call: OperatorCall, direction: Direction, step: Step) => readonly [hidden: Value, cell: Value];

interface RecurrentCell {
  readonly gates: number;
  readonly activations: readonly string[];
  /** Whether the biases of W and R can be added up in advance. */
  readonly joinsBiases: (call: OperatorCall) => boolean;
  readonly step: StepRule;
}

/** The columns of one gate of [N, gates * H]. */
function gate(call: OperatorCall, x: Value, index: number, hidden: number): Value {
  return call.slice(x, x.type.shape.length - 1, index * hidden, hidden);
}

/** Multiplies rows by the weights of a direction, or by `columns` columns of them, starting at `from`. */
export type MultiplyRows = (rows: Value, from?: number, columns?: number) => Value;

/** Access to the weight matrices of a recurrent operator: W for the inputs (input 1) and R for the hidden state (input 2). */
export interface RecurrentWeights {
  /** The product with W' or R' of one direction. */
  readonly multiplier: (call: OperatorCall, input: 1 | 2, direction: number) => MultiplyRows;
  /** [directions, rows, columns] of W' or R'. */
  readonly shape: (call: OperatorCall, input: 1 | 2) => readonly number[];
}

/** Weights as ONNX stores them: [directions, gates * H, input size or H]. */
const plainWeights: RecurrentWeights = {
  multiplier: (call, input, direction) => {
    const whole = widened(call, call.tensor(input));
    const [, columns = 0, rows = 0] = whole.type.shape;
    const turned = call.transpose(call.reshape(call.slice(whole, 0, direction, 1), [columns, rows]), [1, 0]);
    return (given, from = 0, some = columns) =>
      call.add({ kind: "matmul" }, given, some === columns ? turned : call.slice(turned, 1, from, some));
  },
  shape: (call, input) => {
    const [directions = 0, columns = 0, rows = 0] = call.tensor(input).type.shape;
    return [directions, rows, columns];
  },
};

/** Elman's network: H = f(x W' + H R' + b). */
const rnnCell: RecurrentCell = {
  gates: 1,
  activations: ["Tanh"],
  joinsBiases: () => true,
  step: (call, { recurrence, activations, clip }, { input, hidden }) => {
    const [f] = activations;
    if (f === undefined) throw new Error("an activation is missing");
    const next = f(call, clip(call.binary("add", input, recurrence(hidden))));
    return [next, next];
  },
};

/** LSTM (Hochreiter and Schmidhuber 1997). Order of gates: i, o, f, c; of peepholes: i, o, f. */
export const lstmCell: RecurrentCell = {
  gates: 4,
  activations: ["Sigmoid", "Tanh", "Tanh"],
  joinsBiases: () => true,
  step: (call, { recurrence, peepholes, activations, hidden: size, clip }, { input, hidden, cell }) => {
    const [f, g, h] = activations;
    if (f === undefined || g === undefined || h === undefined) throw new Error("an activation is missing");
    const sums = call.binary("add", input, recurrence(hidden));
    const peeped = (index: number, state: Value): Value => {
      const sum = gate(call, sums, index, size);
      if (peepholes === undefined) return clip(sum);
      return clip(call.binary("add", sum, call.binary("mul", gate(call, peepholes, index, size), state)));
    };
    const i = f(call, peeped(0, cell));
    const forget = call.int("input_forget", 0) === 1 ? call.binary("sub", 1, i) : f(call, peeped(2, cell));
    const candidate = g(call, clip(gate(call, sums, 3, size)));
    const next = call.binary("add", call.binary("mul", forget, cell), call.binary("mul", i, candidate));
    const o = f(call, peeped(1, next));
    return [call.binary("mul", o, h(call, next)), next];
  },
};

/** GRU (Cho et al., https://arxiv.org/abs/1406.1078). Order of gates: z, r, h. */
const gruCell: RecurrentCell = {
  gates: 3,
  activations: ["Sigmoid", "Tanh"],
  joinsBiases: (call) => call.int("linear_before_reset", 0) === 0,
  step: (call, { recurrence, bias, activations, hidden: size, clip }, { input, hidden }) => {
    const [f, g] = activations;
    if (f === undefined || g === undefined) throw new Error("an activation is missing");
    const linear = recurrence(hidden, 0, 2 * size);
    const recurrent = bias === undefined ? linear : call.binary("add", linear, call.slice(bias, 0, 0, 2 * size));
    const [z, r] = [0, 1].map((index) =>
      f(call, clip(call.binary("add", gate(call, input, index, size), gate(call, recurrent, index, size)))),
    );
    if (z === undefined || r === undefined) throw new Error("a gate is missing");
    let reset: Value;
    if (call.int("linear_before_reset", 0) === 0) reset = recurrence(call.binary("mul", r, hidden), 2 * size, size);
    else {
      const whole = recurrence(hidden, 2 * size, size);
      reset = call.binary("mul", r, bias === undefined ? whole : call.binary("add", whole, gate(call, bias, 2, size)));
    }
    const candidate = g(call, clip(call.binary("add", gate(call, input, 2, size), reset)));
    const next = call.binary("add", call.binary("mul", call.binary("sub", 1, z), candidate), call.binary("mul", z, hidden));
    return [next, next];
  },
};

/**
 * The translation of a recurrent operator, https://onnx.ai/onnx/operators/onnx__LSTM.html. Inputs: X, W, R, B, sequence lengths, initial hidden state,
 * and for LSTM initial cell state and peepholes. Outputs: Y, Y_h, and for LSTM Y_c.
 */
export function recurrent(
  kind: RecurrentCell,
  weights: RecurrentWeights = plainWeights,
): (call: OperatorCall) => readonly Value[] {
  return (call) => {
    const batchFirst = call.int("layout", 0) === 1;
    call.ignore("output_sequence"); // of version 1: whether Y is used
    const name = call.string("direction", "forward");
    if (name !== "forward" && name !== "reverse" && name !== "bidirectional") throw new Error(`direction "${name}" is unknown`);
    const given = widened(call, call.tensor(0));
    const x = batchFirst ? call.transpose(given, [1, 0, 2]) : given;
    const [, batch = 0] = x.type.shape;
    const directions = name === "bidirectional" ? 2 : 1;
    const [, size = 0, columns = 0] = weights.shape(call, 2);
    const wanted = [directions, at(x.type.shape, 2), kind.gates * size].join();
    if (call.int("hidden_size", size) !== size || weights.shape(call, 1).join() !== wanted || columns !== kind.gates * size)
      throw new Error(
        `the shapes of W [${weights.shape(call, 1).join(", ")}] and R [${weights.shape(call, 2).join(", ")}] do not fit ${directions} directions and hidden_size ${size}`,
      );
    const activations = getActivations(call, kind.activations, directions);
    const valid = validSteps(call, at(x.type.shape, 0), batch);
    const results = Array.from({ length: directions }, (_, direction) => {
      const initial = (input: number): Value => {
        const state = widenedIfGiven(call, input);
        if (state === undefined) return call.zeros(x.type.dataType, [batch, size]);
        return call.reshape(call.slice(state, batchFirst ? 1 : 0, direction, 1), [batch, size]);
      };
      const own = getDirection(call, kind, weights, direction, size, activations[direction] ?? []);
      const inputs = projected(call, x, kind, weights, direction, size);
      const backward = name === "reverse" || direction === 1;
      return unrolled(
        call,
        kind,
        own,
        inputs,
        { hidden: initial(5), cell: kind.gates === 4 ? initial(6) : initial(5) },
        valid,
        backward,
      );
    });
    const { dataType } = call.tensor(0).type;
    const stacked = (values: readonly Value[], axis: number): Value =>
      call.cast(values.length === 1 ? (values[0] ?? x) : call.add({ kind: "concat", axis }, ...values), dataType);
    const whole = stacked(
      results.map(({ all }) => all),
      1,
    );
    const y = batchFirst ? call.transpose(whole, [2, 0, 1, 3]) : whole;
    const lasts = (["hidden", "cell"] as const).map((state) => {
      const last = stacked(
        results.map((each) => call.reshape(each[state], [1, batch, size])),
        0,
      );
      return batchFirst ? call.transpose(last, [1, 0, 2]) : last;
    });
    return [y, ...lasts.slice(0, kind.gates === 4 ? 2 : 1)];
  };
}

function getDirection(
  call: OperatorCall,
  kind: RecurrentCell,
  weights: RecurrentWeights,
  direction: number,
  hidden: number,
  activations: readonly ActivationFunction[],
): Direction {
  const clip = call.float("clip", 0);
  const part = (input: number, shape: readonly number[]): Value | undefined => {
    const whole = widenedIfGiven(call, input);
    return whole === undefined ? undefined : call.reshape(call.slice(whole, 0, direction, 1), shape);
  };
  const biases = kind.joinsBiases(call) ? undefined : part(3, [2 * kind.gates * hidden]);
  return {
    recurrence: weights.multiplier(call, 2, direction),
    bias: biases === undefined ? undefined : call.slice(biases, 0, kind.gates * hidden, kind.gates * hidden),
    peepholes: kind.gates === 4 ? part(7, [3 * hidden]) : undefined,
    activations,
    hidden,
    clip: (x) => (clip === 0 ? x : call.binary("max", call.binary("min", x, clip), -clip)),
  };
}

/** x W' plus the bias of W, and that of R if the cell allows it: one product for all steps, [T, N, gates * H]. */
function projected(
  call: OperatorCall,
  x: Value,
  kind: RecurrentCell,
  weights: RecurrentWeights,
  direction: number,
  hidden: number,
): Value {
  const [length = 0, batch = 0, width = 0] = x.type.shape;
  const columns = kind.gates * hidden;
  const product = weights.multiplier(call, 1, direction)(call.reshape(x, [length * batch, width]));
  const rows = call.reshape(product, [length, batch, columns]);
  const biases = widenedIfGiven(call, 3);
  if (biases === undefined) return rows;
  const both = call.reshape(call.slice(biases, 0, direction, 1), [2, columns]);
  const [input, recurrence] = [0, 1].map((half) => call.reshape(call.slice(both, 0, half, 1), [columns]));
  const sum = call.binary("add", rows, input ?? 0);
  return kind.joinsBiases(call) ? call.binary("add", sum, recurrence ?? 0) : sum;
}

/** For each step, which sequences have not ended, bool [N, 1]; undefined if all are as long as the input. */
function validSteps(call: OperatorCall, length: number, batch: number): readonly Value[] | undefined {
  const lengths = call.tensorIfGiven(4);
  if (lengths === undefined) return undefined;
  const column = call.reshape(call.cast(lengths, "int32"), [batch, 1]);
  return Array.from({ length }, (_, step) => call.binary("greater", column, step));
}

/** All steps of one direction. After the end of a sequence its states stay, and its output is zero. */
function unrolled(
  call: OperatorCall,
  kind: RecurrentCell,
  direction: Direction,
  inputs: Value,
  initial: { readonly hidden: Value; readonly cell: Value },
  valid: readonly Value[] | undefined,
  backward: boolean,
): { readonly all: Value; readonly hidden: Value; readonly cell: Value } {
  const [length = 0, batch = 0, columns = 0] = inputs.type.shape;
  let { hidden, cell } = initial;
  const outputs: Value[] = [];
  for (let count = 0; count < length; count += 1) {
    const at = backward ? length - 1 - count : count;
    const input = call.reshape(call.slice(inputs, 0, at, 1), [batch, columns]);
    const [next, nextCell] = kind.step(call, direction, { input, hidden, cell });
    const lasts = valid?.[at];
    outputs[at] = call.reshape(lasts === undefined ? next : call.select(lasts, next, 0), [1, 1, batch, direction.hidden]);
    hidden = lasts === undefined ? next : call.select(lasts, next, hidden);
    cell = lasts === undefined ? nextCell : call.select(lasts, nextCell, cell);
  }
  const none = (): Value => call.zeros(inputs.type.dataType, [0, 1, batch, direction.hidden]);
  return { all: outputs.length === 0 ? none() : call.add({ kind: "concat", axis: 0 }, ...outputs), hidden, cell };
}

/** Translates the recurrent networks RNN, GRU and LSTM of ai.onnx to graph operations, unrolled over the sequence. */
export const recurrentNetworks: OperatorFamily = {
  RNN: since(1, recurrent(rnnCell)),
  GRU: since(3, recurrent(gruCell)),
  LSTM: since(1, recurrent(lstmCell)),
};
