/** Programs written in TypeScript as ONNX models. */
import { required } from "../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { elementCount, type TensorInfo } from "../../contract/tensor.ts";
import { Builder } from "../../engine/build/builder.ts";
import type { Value } from "../../engine/ir/graph.ts";
import { int64Literal, type Literal, toLiteral } from "../../engine/ir/literal.ts";
import type { OnnxModel, OnnxNode, OnnxValueInfo } from "../../engine/onnx/onnx-model.ts";
import { newestVersions } from "../../engine/onnx/operators/table.ts";
import type { Definition } from "./definition.ts";
import { type OperatorUse, type ProgramOperand, ProgramValue } from "./program-value.ts";
import { traceUses } from "./trace-definition.ts";
import { type Sizes, sizedShape, statePrefix } from "./trace-program.ts";

/** Version of the file format: the first with all types of elements that programs have. */
const irVersion = 10;

/** What a definition becomes a model with. */
export interface ExportSettings {
  /** The weights by name; they become initializers. */
  readonly weights: ReadonlyMap<string, Literal>;
  /** Sizes of the free dimensions that types of numbers are found with. */
  readonly sizes: Sizes;
  /** The outputs by name. */
  readonly outputs: Readonly<Record<string, ProgramValue>>;
}

/**
 * The model of a definition, in the newest operator set; states are inputs, and their values after a run outputs under `statePrefix` and their name. Throws
 * MODEL_UNSUPPORTED for user-defined operators, and INPUT_INVALID for an output with the name of an input: ONNX has neither.
 */
export function definitionToOnnx(definition: Definition, { weights, sizes, outputs }: ExportSettings): OnnxModel {
  const { inputs, states, updates } = definition;
  const names = new ValueNames(definition, weights);
  const info = (name: string, dataType: TensorInfo["dataType"], shape: TensorInfo["shape"]): OnnxValueInfo => ({
    name,
    type: { kind: "tensor", dataType, shape },
  });
  const results: [string, ProgramValue][] = Object.entries(outputs);
  const twice = results.find(([name]) => names.isGiven(name));
  if (twice !== undefined)
    throw invalidInput(`the output "${twice[0]}" has the name of an input, a weight or a state`, "ONNX needs a name of its own");
  const changed = states.flatMap(({ name }): [string, ProgramValue][] => {
    const value = updates.get(name);
    return value === undefined || isSameState(value, name) ? [] : [[`${statePrefix}${name}`, value]];
  });
  const { nodes, types } = names.nodes(sizes, outputs);
  const ends = [...results, ...changed];
  const copies = ends.map(([name, value]) => node("Identity", [names.get(value)], [name]));
  return {
    irVersion,
    opsets: new Map([["", required(newestVersions.get(""), "the newest version of ai.onnx")]]),
    functions: new Map(),
    graph: {
      name: "program",
      nodes: [...nodes, ...copies],
      initializers: names.initializers,
      inputs: [...inputs, ...states].map(({ name, dataType, shape }) => info(name, dataType, shape)),
      outputs: ends.map(([name, value]) => ({
        name,
        type: { kind: "tensor", dataType: required(types(value), name).type.dataType },
      })),
    },
    elementCount: [...names.initializers.values()].reduce((sum, { shape }) => sum + elementCount(shape), 0),
  };
}

function isSameState({ source }: ProgramValue, name: string): boolean {
  return source.kind === "state" && source.name === name;
}

function node(
  operator: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: OnnxNode["attributes"] = new Map(),
): OnnxNode {
  return { name: outputs[0] ?? "", domain: "", operator, inputs, outputs, attributes };
}

/** The names of the values of one definition. */
class ValueNames {
  /** Weights, constants and numbers. */
  readonly initializers: Map<string, Literal>;
  readonly #definition: Definition;
  readonly #taken: Set<string>;
  readonly #given: ReadonlySet<string>;
  readonly #names = new Map<object, string>();

  constructor(definition: Definition, weights: ReadonlyMap<string, Literal>) {
    const { inputs, weights: declared, states } = definition;
    this.#definition = definition;
    this.#given = new Set([...inputs, ...declared, ...states].map(({ name }) => name));
    this.#taken = new Set(this.#given);
    this.initializers = new Map(declared.map(({ name }) => [name, required(weights.get(name), `the weight "${name}"`)]));
  }

  isGiven(name: string): boolean {
    return this.#given.has(name);
  }

  get({ source, output }: ProgramValue): string {
    if (source.kind === "constant") return this.#known(source.tensor, source.tensor, "constant");
    if ("name" in source) return source.name;
    return `${required(this.#names.get(source), "the name of an operator")}_${output}`;
  }

  /** The nodes of the operators, and what tells the type of a value. */
  nodes(
    sizes: Sizes,
    outputs: Readonly<Record<string, ProgramValue>>,
  ): {
    readonly nodes: readonly OnnxNode[];
    readonly types: (value: ProgramValue) => Value | undefined;
  } {
    const { inputs, weights, states, uses } = this.#definition;
    const typed = (infos: readonly TensorInfo[]): Map<string, Value> =>
      new Map(infos.map(({ name, dataType, shape }) => [name, { type: { dataType, shape: sizedShape(shape, sizes) } }]));
    const operands = { inputs: typed(inputs), weights: typed(weights), states: typed(states), backend: undefined };
    const { values, attributes, read, numberType } = traceUses(this.#definition, outputs, operands, new Builder());
    const nodes = uses.map((use, index) => {
      if (use.kind === "user-operator")
        throw new InferyardError(
          "MODEL_UNSUPPORTED",
          `the operator "${use.operator.name}" is not ONNX's, so that the program is no ONNX model`,
        );
      const name = this.#name(`${use.operator.toLowerCase()}_${index}`);
      this.#names.set(use, name);
      const given = use.operands.map((operand) => this.#operand(operand, use, numberType));
      const last = Math.max(0, ...(read.get(use) ?? []));
      const results = Array.from({ length: last + 1 }, (_, output) =>
        output === 0 || read.get(use)?.has(output) === true ? `${name}_${output}` : "",
      );
      return node(use.operator, given, results, attributes.get(use));
    });
    return { nodes, types: (value) => values.get(value) };
  }

  #operand(
    operand: ProgramOperand,
    use: OperatorUse,
    numberType: (operands: readonly ProgramOperand[]) => Literal["dataType"],
  ): string {
    if (operand === undefined) return "";
    if (operand instanceof ProgramValue) return this.get(operand);
    if (typeof operand !== "number") return this.#known(operand, int64Literal(operand), "list");
    return this.#known({}, toLiteral(numberType(use.operands), [], [operand]), "number");
  }

  #known(key: object, literal: Literal, prefix: string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = this.#name(`${prefix}_${this.initializers.size}`);
    this.#names.set(key, name);
    this.initializers.set(name, literal);
    return name;
  }

  /** A name that no other value has. */
  #name(wanted: string): string {
    let name = wanted;
    while (this.#taken.has(name)) name = `${name}_`;
    this.#taken.add(name);
    return name;
  }
}
