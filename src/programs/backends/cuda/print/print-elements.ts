/** Kernels of elementwise operations and of fused chains of them: one thread for each element, intermediate values in registers. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { broadcastStrides } from "../../../../engine/ir/broadcast.ts";
import type { GraphNode, Value } from "../../../../engine/ir/graph.ts";
import type { ElementOperation, ElementStep, LinearEpilogue } from "../../../../engine/ir/operations.ts";
import { inferTypes } from "../../../../engine/ir/shape-inference/index.ts";
import { cType, loaded, rounded, storable } from "./c-types.ts";
import { activationCode, elementCode } from "./element-code.ts";
import { offsetCode } from "./index-code.ts";
import type { ProgramText } from "./program-text.ts";

/** The element of a tensor that broadcasts to `shape`, at the element `i` of that shape. */
export function elementAt(value: Value, name: string, shape: readonly number[]): string {
  const { dataType, shape: own } = value.type;
  return loaded(dataType, `${name}[${offsetCode("i", shape, broadcastStrides(own, shape))}]`);
}

/** Prints one operation, or a chain. */
export function printElements(text: ProgramText, { operation, inputs, outputs }: GraphNode): void {
  const steps: readonly ElementStep[] =
    operation.kind === "elementwise"
      ? operation.steps
      : [{ operation: operation as ElementOperation, operands: inputs.map((_, index) => index) }];
  const output = at(outputs, 0);
  const { shape } = output.type;
  const names = inputs.map((_, index) => `v${index}`);
  const types = inputs.map(({ type }) => type);
  const body = inputs.map(
    (value, index) => `const ${cType(value.type.dataType).computed} v${index} = ${elementAt(value, `x${index}`, shape)};`,
  );
  for (const step of steps) {
    const operands = step.operands.map((number) => at(types, number));
    const type = at(inferTypes(step.operation, operands), 0);
    const values = step.operands.map((number) => at(names, number));
    const code = elementCode(
      step.operation,
      values,
      operands.map(({ dataType }) => dataType),
      type.dataType,
    );
    const name = `v${names.length}`;
    body.push(`const ${cType(type.dataType).computed} ${name} = ${code};`);
    names.push(name);
    types.push(type);
  }
  body.push(`y[i] = ${storable(output.type.dataType, at(names, names.length - 1))};`);
  const reads = inputs.map((value, index) => ({ value, name: `x${index}` }));
  text.each(elementCount(shape), reads, [{ value: output, name: "y" }], body);
}

/** Prints what follows a product in the tensor of its result: bias, activation and residual. `others`: bias and residual, if the epilogue has them. */
export function printEpilogue(
  text: ProgramText,
  { bias, activation, residual }: LinearEpilogue,
  others: readonly Value[],
  output: Value,
): void {
  if (!bias && activation === "none" && residual === "none") return;
  const { dataType, shape } = output.type;
  const { computed } = cType(dataType);
  const reads = others.map((value, index) => ({ value, name: `x${index}` }));
  const round = (code: string): string => rounded(dataType, code);
  const added = residual === "none" ? undefined : elementAt(at(others, others.length - 1), `x${others.length - 1}`, shape);
  const body = [`${computed} v = ${loaded(dataType, "y[i]")};`];
  if (bias) body.push(`v = ${round(`v + ${elementAt(at(others, 0), "x0", shape)}`)};`);
  if (residual === "before-activation") body.push(`v = ${round(`v + ${added}`)};`);
  if (activation !== "none") body.push(`v = ${round(activationCode(activation, "v", dataType))};`);
  if (residual === "after-activation") body.push(`v = ${round(`v + ${added}`)};`);
  body.push(`y[i] = ${storable(dataType, "v")};`);
  text.each(elementCount(shape), reads, [{ value: output, name: "y" }], body);
}
