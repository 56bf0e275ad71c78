/** If and Loop. Conditions and trip counts must be known when the model is traced; a loop for which they are not is left to the interpreter. */
import { toNumbers, toLiteral } from "../../../ir/literal.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OnnxGraph } from "../../onnx-model.ts";
import type { InterpretedLoop } from "../../../build/data-dependency.ts";
import { isTensor, type TracedValue } from "../../../build/traced-value.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since, versions } from "../operator-rule.ts";
import { batchedScan, scan } from "./scan.ts";
import { emptyStack, stack } from "./stack.ts";

/** ONNX If, https://onnx.ai/onnx/operators/onnx__If.html: inlines the branch that the condition selects. */
function branch(call: OperatorCall): readonly TracedValue[] {
  const then = call.graph("then_branch");
  const otherwise = call.graph("else_branch");
  return call.subgraphs.trace(toNumbers(call.known(0))[0] === 0 ? otherwise : then, []);
}

/**
 * ONNX Loop, https://onnx.ai/onnx/operators/onnx__Loop.html. Inputs: maximum trip count, initial condition, loop-carried values. Outputs: the final
 * loop-carried values, then the scan outputs of all iterations, stacked. The loop is unrolled; if an iteration depends on data that is only known
 * in a run, the interpreter runs the iterations instead.
 */
function loop(call: OperatorCall): readonly TracedValue[] {
  const body = call.graph("body");
  const [maxIterations, initialCondition] = [call.tensorIfGiven(0), call.tensorIfGiven(1)];
  const carried = Array.from({ length: call.inputCount - 2 }, (_, index) => call.input(index + 2));
  const scanOutputCount = call.node.outputs.length - carried.length;
  const scanOutputs = body.outputs.slice(1 + carried.length);
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
      emptyScanOutput: (output) => emptyStack(scanOutputs[output]?.type),
    }),
  );
}

/** The iterations of a loop, one after the other. `initial`: loop-carried values before the first. */
function unrolled(
  call: OperatorCall,
  body: OnnxGraph,
  initial: readonly TracedValue[],
  scanOutputCount: number,
): readonly TracedValue[] {
  const maxIterations = call.tensorIfGiven(0) === undefined ? Number.POSITIVE_INFINITY : call.knownInteger(0);
  let continues = call.tensorIfGiven(1) === undefined || toNumbers(call.known(1))[0] !== 0;
  let carried = initial;
  const scanOutputs: Value[][] = Array.from({ length: scanOutputCount }, () => []);
  for (let iteration = 0; continues && iteration < maxIterations; iteration += 1) {
    call.builder.count();
    const counter = call.builder.constant(toLiteral("int64", [], [iteration]));
    const [condition, ...rest] = call.subgraphs.trace(body, [
      counter,
      call.builder.constant(toLiteral("bool", [], [1])),
      ...carried,
    ]);
    if (condition === undefined || !isTensor(condition)) throw new Error("the loop body has no condition output");
    const known = call.builder.known(condition, `the condition of ${call.node.operator} "${call.node.name}"`);
    continues = toNumbers(known)[0] !== 0;
    carried = rest.slice(0, carried.length);
    for (const [index, value] of rest.slice(carried.length).entries()) if (isTensor(value)) scanOutputs[index]?.push(value);
  }
  const declared = body.outputs.slice(1 + carried.length);
  return [
    ...carried,
    ...scanOutputs.map((values, index) => stack(call, values, 0, () => call.builder.constant(emptyStack(declared[index]?.type)))),
  ];
}

/**
 * Translates the ONNX operators If, Loop and Scan: traces the branch that the condition selects, and unrolls loops. A Loop whose trip count depends
 * on data runs between two graph segments.
 */
export const controlFlow: OperatorFamily = {
  If: since(1, branch),
  Loop: since(1, loop),
  Scan: versions([8, batchedScan], [9, scan]),
};
