/** Runs a case on our own engine, or on its reference interpreter alone. */
import {
  Builder,
  detectWasmFeatures,
  EngineModel,
  defaultLimits,
  isOptional,
  isSequence,
  isTensor,
  type OnnxModel,
  onnxSource,
  type Traced,
  traceModel,
} from "../../src/engine/index.ts";
import { switchOnRelaxedSimd } from "../../src/engine/host-features.ts";
import type { Tensor } from "../../src/tensor.ts";
import type { CaseValue } from "./values.ts";

/** Compiled kernels, as a loaded model has them. Sequences and optionals exist only in the interpreter. */
export async function runNative(model: OnnxModel, inputs: readonly CaseValue[]): Promise<readonly CaseValue[]> {
  const { graph } = model;
  if ([...graph.inputs, ...graph.outputs].some(({ type }) => type.kind !== "tensor")) return interpret(model, inputs);
  const engine = new EngineModel(onnxSource(model), { features: detectWasmFeatures(switchOnRelaxedSimd), optimize: true });
  const tensors = graph.inputs.flatMap(({ name }, index): [string, Tensor][] => {
    const value = inputs[index];
    return value?.kind === "tensor" ? [[name, value.literal as Tensor]] : [];
  });
  const results = await engine.run(Object.fromEntries(tensors));
  return graph.outputs.flatMap(({ name }): CaseValue[] => {
    const literal = results[name];
    return literal === undefined ? [] : [{ kind: "tensor", literal }];
  });
}

export function interpret(model: OnnxModel, inputs: readonly CaseValue[]): readonly CaseValue[] {
  const build = new Builder(defaultLimits, "run");
  const named = new Map(
    model.graph.inputs.flatMap(({ name }, index): [string, Traced][] => {
      const value = inputs[index];
      return value === undefined ? [] : [[name, traced(value, build)]];
    }),
  );
  return [...traceModel(model, named, build).values()].map(valueOf);
}

function traced(value: CaseValue, build: Builder): Traced {
  if (value.kind === "tensor") return build.constant(value.literal);
  if (value.kind === "sequence") return { items: value.items.map((item) => traced(item, build)) };
  return { optional: true, ...(value.content === undefined ? {} : { content: traced(value.content, build) }) };
}

function valueOf(value: Traced): CaseValue {
  if (isTensor(value)) {
    if (value.constant === undefined) throw new Error("an output is not known though all inputs are");
    return { kind: "tensor", literal: value.constant };
  }
  if (isSequence(value)) return { kind: "sequence", items: value.items.map(valueOf) };
  if (isOptional(value)) return { kind: "optional", ...(value.content === undefined ? {} : { content: valueOf(value.content) }) };
  throw new Error("an output is of no kind");
}
