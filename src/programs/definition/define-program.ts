/** Programs written in TypeScript. */
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { type DataType, dataTypes, elementCount, type Tensor, zeros } from "../../contract/tensor.ts";
import { isFilled } from "./tensor-arguments.ts";
import {
  type BuilderName,
  manyOutputOperators,
  operatorAliases,
  singleOutputOperators,
  toBuilderName,
} from "./operator-names.ts";
import type { Attributes } from "./attributes.ts";
import { definitionToOnnx } from "./definition-to-onnx.ts";
import type { Definition } from "./definition.ts";
import type { Program } from "./program.ts";
import {
  type Dimensions,
  type ProgramOperand,
  type OperatorUse,
  ProgramValue,
  type StateOptions,
  type UserOperatorUse,
} from "./program-value.ts";
import { traceDefinition } from "./trace-definition.ts";
import type { UserOperator } from "./user-operator.ts";
import { checkProgram, type DefinitionOptions } from "./check-program.ts";

/** An operator of ONNX: its inputs in ONNX's order, then its attributes under ONNX's names, if it has any. */
export type OneOutput = (...operands: readonly (ProgramOperand | Attributes)[]) => ProgramValue;
/** An operator of ONNX with several outputs, in ONNX's order. */
export type ManyOutputs = (...operands: readonly (ProgramOperand | Attributes)[]) => readonly [ProgramValue, ...ProgramValue[]];

type SingleName = (typeof singleOutputOperators)[number];
type ManyName = keyof typeof manyOutputOperators;

/** The operators of the builder: ONNX's, by their names in camelCase, and second names as NumPy and PyTorch spell them. */
export type ProgramOperators = { readonly [Name in SingleName as BuilderName<Name>]: OneOutput } & {
  readonly [Name in ManyName as BuilderName<Name>]: ManyOutputs;
} & { readonly [Name in keyof typeof operatorAliases]: OneOutput };

/** What `defineProgram` hands to the function that builds a program. */
export interface ProgramBuilder extends ProgramOperators {
  /** An input of each run. A dimension that is a name may differ from run to run. Default type: "float32". */
  input(name: string, dimensions: Dimensions, type?: DataType): ProgramValue;
  /** A tensor that `compileProgram` is given and that stays on the device. Default type: "float32". */
  weight(name: string, dimensions: readonly number[], type?: DataType): ProgramValue;
  /** A tensor that is part of the program. */
  constant(tensor: Tensor): ProgramValue;
  /** A tensor that stays on the device between runs: its value before the run. `update` sets its value after the run. */
  state(name: string, dimensions: readonly number[], options?: StateOptions): ProgramValue;
  /** Sets the value that a state has after the run, of the type of the state. At most once for each state; a state that is never updated does not change. */
  update(state: ProgramValue, value: ProgramValue): void;
  /** An operator of `defineOperator`: one value for each of its outputs. */
  call(
    operator: UserOperator,
    inputs: readonly ProgramValue[],
    attributes?: Attributes,
  ): readonly [ProgramValue, ...ProgramValue[]];
}

/**
 * Defines a program: `build` is called once, with the operators of ONNX in camelCase, and returns the outputs by name. Throws INPUT_INVALID for names that are given
 * twice, dimensions that are none and values of other programs, and MODEL_UNSUPPORTED for an operator that does not take its inputs; the message names it.
 */
export function defineProgram(
  build: (builder: ProgramBuilder) => Readonly<Record<string, ProgramValue>>,
  options: DefinitionOptions = {},
): Program {
  const definition: Definition = { inputs: [], weights: [], states: [], updates: new Map(), uses: [] };
  const outputs = build(createBuilder(definition));
  const names = Object.keys(outputs ?? {});
  if (names.length === 0) throw invalidInput("the program has no outputs", "return them by name: return { y }");
  for (const name of names)
    if (!(outputs[name] instanceof ProgramValue)) throw invalidInput(`the output "${name}" is not a value of the program`);
  const { inputs, weights, states } = definition;
  const program = {
    inputs,
    weights,
    states,
    outputs: names,
    open: () => ({ ownWeights: [], trace: (operands, builder) => traceDefinition(definition, outputs, operands, builder) }),
    toOnnx: (given) => definitionToOnnx(definition, { weights: given, sizes, outputs }),
  } satisfies Omit<Program, "exampleSizes">;
  const sizes = checkProgram(program, options);
  return { ...program, exampleSizes: sizes };
}

function createBuilder(definition: Definition): ProgramBuilder {
  const taken = new Set<string>();
  const declare = (kind: "input" | "weight" | "state", name: string, dimensions: Dimensions, type: DataType): void => {
    checkDeclaration(kind, name, dimensions, type);
    if (taken.has(name)) throw invalidInput(`the name "${name}" is given to two tensors of the program`);
    taken.add(name);
  };
  const own: Omit<ProgramBuilder, keyof ProgramOperators> = {
    input(name, dimensions, type = "float32") {
      declare("input", name, dimensions, type);
      definition.inputs.push({ name, dataType: type, shape: [...dimensions] });
      return new ProgramValue({ kind: "input", name });
    },
    weight(name, dimensions, type = "float32") {
      declare("weight", name, dimensions, type);
      definition.weights.push({ name, dataType: type, shape: [...dimensions] });
      return new ProgramValue({ kind: "weight", name });
    },
    constant(tensor) {
      if (!isFilled(tensor)) throw invalidInput("a constant is not a tensor", "write { dataType, shape, data }");
      return new ProgramValue({ kind: "constant", tensor });
    },
    state(name, dimensions, { type = "float32", initial } = {}) {
      declare("state", name, dimensions, type);
      const shape = [...dimensions];
      const given: Tensor = initial === undefined ? zeros(type, shape) : { dataType: type, shape, data: initial };
      if (!isFilled(given))
        throw invalidInput(`the elements of the state "${name}" are not ${elementCount(shape)} elements of ${type}`);
      definition.states.push({ name, dataType: type, shape, initial: given });
      return new ProgramValue({ kind: "state", name });
    },
    update(state, value) {
      const source = state instanceof ProgramValue ? state.source : undefined;
      if (source?.kind !== "state") throw invalidInput("update takes a state, and the value that it has after the run");
      if (!(value instanceof ProgramValue)) throw invalidInput(`the new value of the state "${source.name}" is not a value`);
      if (definition.updates.has(source.name)) throw invalidInput(`the state "${source.name}" is updated twice`);
      definition.updates.set(source.name, value);
    },
    call(operator, inputs, attributes = {}) {
      const known = definition.uses.find((use) => use.kind === "user-operator" && use.operator.name === operator.name);
      if (known !== undefined && known.operator !== operator)
        throw invalidInput(`two operators of the program have the name "${operator.name}"`);
      if (!inputs.every((each) => each instanceof ProgramValue))
        throw invalidInput(`the inputs of the operator "${operator.name}" are not all values of the program`);
      const use: UserOperatorUse = {
        kind: "user-operator",
        operator,
        operands: [...inputs],
        attributes,
        outputs: maxUserOutputs,
      };
      definition.uses.push(use);
      return outputsOf(use);
    },
  };
  const operators: Record<string, OneOutput | ManyOutputs> = {};
  const one =
    (name: string): OneOutput =>
    (...given) =>
      outputsOf(addUse(definition, name, given, 1))[0];
  for (const name of singleOutputOperators) operators[toBuilderName(name)] = one(name);
  for (const [alias, name] of Object.entries(operatorAliases)) operators[alias] = one(name);
  for (const [name, outputs] of Object.entries(manyOutputOperators))
    operators[toBuilderName(name)] = (...given) =>
      outputsOf(addUse(definition, name, given, outputs === "parts" ? countParts(given) : outputs));
  return Object.assign({} as ProgramOperators, operators, own);
}

/** Most outputs of a user-defined operator. Values of outputs that it does not have are refused when the program is checked. */
const maxUserOutputs = 8;

function addUse(
  { uses }: Definition,
  operator: string,
  given: readonly (ProgramOperand | Attributes)[],
  outputs: number,
): OperatorUse {
  const last = given.at(-1);
  const hasAttributes = isAttributes(last);
  const operands = hasAttributes ? given.slice(0, -1) : given;
  for (const [index, operand] of operands.entries())
    if (!isOperand(operand))
      throw invalidInput(`input ${index} of ${operator} is neither a value nor a number nor a list of whole numbers`);
  const attributes = hasAttributes ? last : {};
  const use: OperatorUse = { kind: "operator", operator, operands: operands as readonly ProgramOperand[], attributes, outputs };
  uses.push(use);
  return use;
}

function outputsOf(use: OperatorUse | UserOperatorUse): [ProgramValue, ...ProgramValue[]] {
  const others = Array.from({ length: use.outputs - 1 }, (_, index) => new ProgramValue(use, index + 1));
  return [new ProgramValue(use), ...others];
}

function isAttributes(given: ProgramOperand | Attributes): given is Attributes {
  return typeof given === "object" && !(given instanceof ProgramValue) && !Array.isArray(given);
}

function isOperand(given: unknown): given is ProgramOperand {
  if (given === undefined || given instanceof ProgramValue || typeof given === "number") return true;
  return Array.isArray(given) && given.every((each) => Number.isSafeInteger(each));
}

/** Outputs of Split: as many as it is told to make. Throws INPUT_INVALID if it is not told. */
function countParts(given: readonly (ProgramOperand | Attributes)[]): number {
  const attributes = given.find(isAttributes);
  const stated = attributes?.["num_outputs"];
  const sizes = given[1];
  const count = Array.isArray(sizes) ? sizes.length : stated;
  if (typeof count === "number" && Number.isSafeInteger(count) && count > 0) return count;
  throw invalidInput("split needs the number of its parts", "give a list of sizes as its second input, or { num_outputs }");
}

function checkDeclaration(kind: string, name: unknown, dimensions: unknown, type: unknown): void {
  if (typeof name !== "string" || name === "") throw invalidInput(`the name of an ${kind} is ${JSON.stringify(name)}`);
  if (typeof type !== "string" || !dataTypes.has(type) || type === "string")
    throw invalidInput(
      `the type of the ${kind} "${name}" is ${JSON.stringify(type)}`,
      `write one of ${numericTypes().join(", ")}`,
    );
  const isSize = (size: unknown): boolean =>
    (Number.isSafeInteger(size) && Number(size) >= 0) || (kind === "input" && typeof size === "string" && size !== "");
  if (Array.isArray(dimensions) && dimensions.every(isSize)) return;
  const allowed = kind === "input" ? "whole numbers from 0 and names" : "whole numbers from 0";
  throw new InferyardError(
    "INPUT_INVALID",
    `the dimensions of the ${kind} "${name}" are ${JSON.stringify(dimensions)}, and must be a list of ${allowed}`,
  );
}

function numericTypes(): readonly string[] {
  return [...dataTypes].filter((type) => type !== "string");
}
