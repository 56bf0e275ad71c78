/** Runs a case on our own engine, or on its reference interpreter alone. */
import {
  Builder,
  detectWasmFeatures,
  EngineModel,
  defaultTraceLimits,
  isOptional,
  isSequence,
  isTensor,
  type OnnxModel,
  onnxSource,
  type TracedValue,
  traceModel,
} from "../../src/engine/index.ts";
import type { MachineCode } from "../../src/engine/codegen/x64/index.ts";
import { enableRelaxedSimd } from "../../src/engine/codegen/wasm/v8-flags.ts";
import type { Literal } from "../../src/engine/ir/literal.ts";
import type { Tensor, TensorMap } from "../../src/contract/tensor.ts";
import type { CaseValue } from "./values.ts";

/** Whether generated kernels alone compute a case: as it is, or with what sets shapes known beforehand, as it is in models. */
export async function runsOnKernels(model: OnnxModel, inputs: readonly CaseValue[]): Promise<boolean> {
  if ([...model.graph.inputs, ...model.graph.outputs].some(({ type }) => type.kind !== "tensor")) return false;
  const given = tensorsOf(model, inputs);
  return (await computesAll(model, given)) || (await computesAll(withKnown(model, given), given));
}

async function computesAll(model: OnnxModel, given: TensorMap): Promise<boolean> {
  const engine = engineOf(model);
  const names = new Set(model.graph.inputs.map(({ name }) => name));
  await engine.run(Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name))));
  const steps = engine.lastStepCounts;
  return steps?.interpreted === 0;
}

/** Inputs of whole numbers behind the first, and single numbers, as constants. */
export function withKnown(model: OnnxModel, given: TensorMap): OnnxModel {
  const { graph } = model;
  const known = new Map<string, Literal>(graph.initializers);
  for (const { name } of graph.inputs.slice(1)) {
    const tensor = given[name];
    if (tensor !== undefined && (tensor.data.length === 1 || /int/.test(tensor.dataType))) known.set(name, tensor);
  }
  return { ...model, graph: { ...graph, initializers: known, inputs: graph.inputs.filter(({ name }) => !known.has(name)) } };
}

/**
 * Compiled kernels, as a loaded model has them: in machine code where `machineCode` is given and there is some. Sequences and optionals exist only in the interpreter.
 */
export async function runNative(
  model: OnnxModel,
  inputs: readonly CaseValue[],
  machineCode?: MachineCode,
): Promise<readonly CaseValue[]> {
  const { graph } = model;
  if ([...graph.inputs, ...graph.outputs].some(({ type }) => type.kind !== "tensor")) return interpret(model, inputs);
  const engine = engineOf(model, machineCode);
  const results = await engine.run(tensorsOf(model, inputs));
  await engine.dispose();
  return graph.outputs.flatMap(({ name }): CaseValue[] => {
    const literal = results[name];
    return literal === undefined ? [] : [{ kind: "tensor", literal }];
  });
}

function engineOf(model: OnnxModel, machineCode?: MachineCode): EngineModel {
  const settings = machineCode === undefined ? {} : { machineCode };
  return new EngineModel(onnxSource(model), { features: detectWasmFeatures(enableRelaxedSimd), ...settings });
}

function tensorsOf({ graph }: OnnxModel, inputs: readonly CaseValue[]): TensorMap {
  const tensors = graph.inputs.flatMap(({ name }, index): [string, Tensor][] => {
    const value = inputs[index];
    return value?.kind === "tensor" ? [[name, value.literal as Tensor]] : [];
  });
  return Object.fromEntries(tensors);
}

export function interpret(model: OnnxModel, inputs: readonly CaseValue[]): readonly CaseValue[] {
  const build = new Builder(defaultTraceLimits, "eager");
  const named = new Map(
    model.graph.inputs.flatMap(({ name }, index): [string, TracedValue][] => {
      const value = inputs[index];
      return value === undefined ? [] : [[name, traced(value, build)]];
    }),
  );
  return [...traceModel(model, named, build).values()].map(valueOf);
}

function traced(value: CaseValue, build: Builder): TracedValue {
  if (value.kind === "tensor") return build.constant(value.literal);
  if (value.kind === "sequence") return { items: value.items.map((item) => traced(item, build)) };
  return { optional: true, ...(value.content === undefined ? {} : { content: traced(value.content, build) }) };
}

function valueOf(value: TracedValue): CaseValue {
  if (isTensor(value)) {
    if (value.constant === undefined) throw new Error("an output is not known though all inputs are");
    return { kind: "tensor", literal: value.constant };
  }
  if (isSequence(value)) return { kind: "sequence", items: value.items.map(valueOf) };
  if (isOptional(value)) return { kind: "optional", ...(value.content === undefined ? {} : { content: valueOf(value.content) }) };
  throw new Error("an output is of no kind");
}
