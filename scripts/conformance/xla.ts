/** Cases as StableHLO programs on XLA, through the PJRT plugin that PJRT_PLUGIN_LIBRARY_PATH names. */
import { at, required } from "../../src/contract/checked.ts";
import type { PjrtClientOptions } from "../../src/backends/xla/pjrt/client-options.ts";
import { PjrtClient } from "../../src/backends/xla/pjrt/client.ts";
import { PjrtPlugin } from "../../src/backends/xla/pjrt/plugin.ts";
import { DataDependencyError } from "../../src/engine/build/data-dependency-error.ts";
import { emitGraph, type StableHloProgram } from "../../src/engine/codegen/stablehlo/index.ts";
import { Builder, isTensor, type OnnxModel, traceModel } from "../../src/engine/index.ts";
import type { Value } from "../../src/engine/ir/graph.ts";
import type { Literal } from "../../src/engine/ir/literal.ts";
import { ForeignFunctions } from "../../src/libraries/ffi/index.ts";
import { type OpenCase, Refused } from "./judge.ts";
import { withKnown } from "./native.ts";
import type { TensorMap } from "../../src/contract/tensor.ts";
import type { CaseValue } from "./values.ts";

/** Options for the client of a CPU plugin: one device. */
const onCpu: PjrtClientOptions = { cpu_device_count: { integer: 1 } };

/** Opens cases on one client of the plugin at `path`. Throws where the plugin cannot be used. */
export async function openerOnXla(path: string | undefined, options: PjrtClientOptions = onCpu): Promise<OpenCase> {
  if (path === undefined) throw new Error("set PJRT_PLUGIN_LIBRARY_PATH to the absolute path of a PJRT plugin");
  process.env["TF_CPP_MIN_LOG_LEVEL"] ??= "3"; // plugins write what they do to standard error
  const plugin = PjrtPlugin.open(await ForeignFunctions.load(), path);
  const client = new PjrtClient(plugin, options);
  return (model) => ({ run: (inputs) => run(client, model, inputs) });
}

function run(client: PjrtClient, model: OnnxModel, inputs: readonly CaseValue[]): readonly CaseValue[] {
  const { graph } = model;
  const given = new Map<string, Literal>();
  for (const [index, { name, type }] of graph.inputs.entries()) {
    const value = inputs[index];
    if (type.kind !== "tensor" || (value !== undefined && value.kind !== "tensor"))
      throw new Refused("an input that is no tensor");
    if (value !== undefined) given.set(name, value.literal);
  }
  const program = programOf(model, given);
  const [takes, gives] = [program.arguments, program.results].map((values) => values.map(({ type }) => type));
  const compiled = client.compile(program.text, { arguments: takes ?? [], results: gives ?? [] });
  const uploaded = program.arguments.map((argument) => {
    if (argument.kind !== "input" && argument.kind !== "constant") throw new TypeError("only decoders take caches");
    const literal = argument.kind === "input" ? required(given.get(argument.name), argument.name) : argument.literal;
    return client.upload({ type: argument.type, data: literal.data as Uint8Array });
  });
  const computed = compiled.run(uploaded);
  const results = new Map(computed.map((tensor, index) => [at(program.results, index).name, tensor.read()]));
  for (const each of [...uploaded, ...computed, compiled]) each.dispose();
  return graph.outputs.flatMap(({ name }): CaseValue[] => {
    const result = results.get(name);
    return result === undefined ? [] : [{ kind: "tensor", literal: { ...result.type, data: result.data as Uint8Array } }];
  });
}

/** The program for inputs of these shapes; where the graph depends on values, those that models know beforehand are constants. */
function programOf(model: OnnxModel, given: ReadonlyMap<string, Literal>): StableHloProgram {
  try {
    return trace(model, given);
  } catch (error) {
    if (!(error instanceof DataDependencyError)) throw error;
  }
  try {
    return trace(withKnown(model, Object.fromEntries(given) as TensorMap), given);
  } catch (error) {
    if (error instanceof DataDependencyError) throw new Refused(error.message);
    throw error;
  }
}

function trace(model: OnnxModel, given: ReadonlyMap<string, Literal>): StableHloProgram {
  const builder = new Builder(undefined, "decoding");
  const inputs = model.graph.inputs.flatMap(({ name }) => {
    const literal = given.get(name);
    const value: Value | undefined = literal && { type: { dataType: literal.dataType, shape: literal.shape } };
    return value === undefined ? [] : [{ name, value }];
  });
  const traced = traceModel(model, new Map(inputs.map(({ name, value }) => [name, value])), builder);
  const outputs = [...traced].map(([name, value]) => {
    if (!isTensor(value)) throw new Refused(`the output ${name} is no tensor`);
    return { name, value };
  });
  return emitGraph(builder.graph(inputs, outputs));
}
