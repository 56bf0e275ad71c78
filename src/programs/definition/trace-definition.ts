/** Traces a program that was written in TypeScript: each operator adds its operations to a graph by the rule that ONNX files use. */
import { required } from "../../contract/checked.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import type { Builder } from "../../engine/build/builder.ts";
import { DataDependencyError } from "../../engine/build/data-dependency-error.ts";
import { isTensor } from "../../engine/build/traced-value.ts";
import type { ElementType } from "../../engine/ir/element-types.ts";
import { elementTypes } from "../../engine/ir/element-types.ts";
import type { Value } from "../../engine/ir/graph.ts";
import { int64Literal, toLiteral } from "../../engine/ir/literal.ts";
import type { OnnxAttribute, OnnxNode } from "../../engine/onnx/onnx-model.ts";
import { describeInputs, OperatorCall, type Subgraphs } from "../../engine/onnx/operators/operator-call.ts";
import { newestVersions, operatorRule } from "../../engine/onnx/operators/table.ts";
import { onnxTypeNumber } from "../../formats/onnx/onnx-types.ts";
import type { Attributes } from "./attributes.ts";
import type { Definition } from "./definition.ts";
import type { TracedProgram, TraceOperands } from "./program.ts";
import { type ProgramOperand, type OperatorUse, ProgramValue, type UserOperatorUse } from "./program-value.ts";
import { implementationFor } from "./user-operator.ts";

/** The newest operator set, whose rules the builder's operators have. */
const version = required(newestVersions.get(""), "the newest version of ai.onnx");

type Use = OperatorUse | UserOperatorUse;

/** Attributes of the operators of a definition, each of the kind that its operator reads: builders take whole numbers for floats, and names for types of elements. */
export type TypedAttributes = ReadonlyMap<OperatorUse, ReadonlyMap<string, OnnxAttribute>>;

/** What one trace found out about the operators of a definition. */
export interface TracedUses {
  readonly attributes: TypedAttributes;
  /** The outputs of each operator that something reads. */
  readonly read: ReadonlyMap<OperatorUse | UserOperatorUse, ReadonlySet<number>>;
  /** The type that a number has among these operands: the type of the first tensor, or float32. */
  numberType(operands: readonly ProgramOperand[]): ElementType;
}

/** Adds the operations of a definition to a graph; see `Program.trace`. */
export function traceDefinition(
  definition: Definition,
  outputs: Readonly<Record<string, ProgramValue>>,
  operands: TraceOperands,
  builder: Builder,
): TracedProgram {
  const { values } = traceUses(definition, outputs, operands, builder);
  return {
    outputs: new Map(Object.entries(outputs).map(([name, value]) => [name, values.get(value)])),
    states: new Map(
      definition.states.map(({ name }) => {
        const updated = definition.updates.get(name);
        const before = required(operands.states.get(name), `the state "${name}"`);
        return [name, updated === undefined ? before : values.get(updated)];
      }),
    ),
  };
}

/** Traces the operators of a definition, and tells the kinds of their attributes and the types of their numbers. */
export function traceUses(
  { uses, updates }: Definition,
  outputs: Readonly<Record<string, ProgramValue>>,
  operands: TraceOperands,
  builder: Builder,
): TracedUses & { readonly values: Values } {
  const values = new Values(operands, builder);
  const attributes = new Map<OperatorUse, ReadonlyMap<string, OnnxAttribute>>();
  const operandsOfUses = uses.flatMap((use) => use.operands.flatMap((each) => (each instanceof ProgramValue ? [each] : [])));
  const read = getReadOutputs([...Object.values(outputs), ...updates.values(), ...operandsOfUses]);
  for (const [index, use] of uses.entries()) {
    const name = `${use.kind === "operator" ? use.operator : use.operator.name} ${index}`;
    const traced = builder.step(
      () => describeProblems(name, use, values, () => traceUse(use, name, { values, read, operands, attributes })),
      true,
    );
    values.set(
      use,
      traced.map((each) => (isTensor(each) ? each : undefined)),
    );
  }
  return { values, attributes, read, numberType: (given) => values.numberType(given) };
}

/** The outputs of each operator that something reads. */
function getReadOutputs(values: readonly ProgramValue[]): ReadonlyMap<Use, ReadonlySet<number>> {
  const read = new Map<Use, Set<number>>();
  for (const { source, output } of values) {
    if (source.kind !== "operator" && source.kind !== "user-operator") continue;
    const outputs = read.get(source) ?? new Set();
    read.set(source, outputs.add(output));
  }
  return read;
}

/** The values of one trace. */
class Values {
  readonly #operands: TraceOperands;
  readonly #builder: Builder;
  readonly #traced = new Map<Use, readonly (Value | undefined)[]>();
  readonly #constants = new Map<Tensor, Value>();

  constructor(operands: TraceOperands, builder: Builder) {
    this.#operands = operands;
    this.#builder = builder;
  }

  get builder(): Builder {
    return this.#builder;
  }

  set(use: Use, outputs: readonly (Value | undefined)[]): void {
    this.#traced.set(use, outputs);
  }

  /** Throws INPUT_INVALID for a value of another program, or of an output that the operator does not have. */
  get({ source, output }: ProgramValue): Value {
    const found = this.#find(source, output);
    if (found !== undefined) return found;
    const what = "name" in source ? `the ${source.kind} "${source.name}"` : "an operator's output";
    throw new InferyardError("INPUT_INVALID", `${what} is used that this program does not have`);
  }

  #find(source: ProgramValue["source"], output: number): Value | undefined {
    switch (source.kind) {
      case "input":
        return this.#operands.inputs.get(source.name);
      case "weight":
        return this.#operands.weights.get(source.name);
      case "state":
        return this.#operands.states.get(source.name);
      case "constant": {
        const value = this.#constants.get(source.tensor) ?? this.#builder.constant(source.tensor);
        this.#constants.set(source.tensor, value);
        return value;
      }
      case "operator":
      case "user-operator":
        return this.#traced.get(source)?.[output];
    }
    return source satisfies never;
  }

  /** See `TracedUses.numberType`. */
  numberType(operands: readonly ProgramOperand[]): ElementType {
    const first = operands.find((each) => each instanceof ProgramValue);
    const type: ElementType = first === undefined ? "float32" : this.get(first).type.dataType;
    return type === "bool" ? "float32" : type;
  }

  /** The operands of an operator. */
  all(operands: readonly ProgramOperand[]): readonly (Value | undefined)[] {
    const type = this.numberType(operands);
    return operands.map((operand) => {
      if (operand === undefined) return undefined;
      if (operand instanceof ProgramValue) return this.get(operand);
      const literal = typeof operand === "number" ? toLiteral(type, [], [operand]) : int64Literal(operand);
      return this.#builder.constant(literal);
    });
  }
}

interface UseContext {
  readonly values: Values;
  readonly read: ReadonlyMap<Use, ReadonlySet<number>>;
  readonly operands: TraceOperands;
  /** Receives the attributes of each operator. */
  readonly attributes: Map<OperatorUse, ReadonlyMap<string, OnnxAttribute>>;
}

function traceUse(use: Use, name: string, { values, read, operands, attributes }: UseContext): readonly Value[] {
  if (use.kind === "user-operator") return traceUserOperator(use, values, operands.backend);
  const rule = operatorRule("", use.operator, version);
  if (rule === undefined) throw new Error("the engine has no rule for it");
  const outputs = Array.from({ length: use.outputs }, (_, index) =>
    index === 0 || read.get(use)?.has(index) === true ? `${name} ${index}` : "",
  );
  const node: OnnxNode = {
    name,
    domain: "",
    operator: use.operator,
    inputs: use.operands.map((each, index) => (each === undefined ? "" : String(index))),
    outputs,
    attributes: new Map(Object.entries(use.attributes).map(([key, value]) => [key, toAttribute(key, value)])),
  };
  const call = new BuilderCall(node, version, values.all(use.operands), values.builder, noSubgraphs);
  const results = rule.translate(call);
  attributes.set(use, call.typed);
  const unread = call.unreadAttributes[0];
  if (unread !== undefined) throw new Error(`the attribute "${unread}" is unknown`);
  const list = Array.isArray(results) ? results : [results];
  return list.filter((each) => each !== undefined && isTensor(each)) as readonly Value[];
}

function traceUserOperator(
  { operator, operands, attributes }: UserOperatorUse,
  values: Values,
  backend: string | undefined,
): readonly Value[] {
  const given = operands.map((operand) => values.get(operand));
  const types = operator.types(
    given.map(({ type }) => type),
    attributes,
  );
  const implementation = implementationFor(operator, backend, attributes, types);
  const callAttributes = Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === "object" && "dataType" in value ? JSON.stringify(value) : value,
    ]),
  );
  return values.builder.addAll(
    { kind: "call", function: `user:${operator.name}`, attributes: callAttributes, types, implementation },
    ...given,
  );
}

/** Runs `trace`, and names the operator and the types of its inputs in the errors of its rule. */
function describeProblems<Result>(name: string, use: Use, values: Values, trace: () => Result): Result {
  try {
    return trace();
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    const reason =
      error instanceof DataDependencyError
        ? `${error.message}: a program needs a constant there, since its shapes are fixed before a run`
        : getMessage(error);
    throw new InferyardError("MODEL_UNSUPPORTED", `${name}, given ${describeInputs(values.all(use.operands))}: ${reason}`, {
      cause: error,
      data: { operator: name },
    });
  }
}

/** A call of an operator by the builder, whose attributes are values of JavaScript: whole numbers are floats where floats are expected. */
class BuilderCall extends OperatorCall {
  /** The attributes, each of the kind that the operator read. */
  readonly typed: Map<string, OnnxAttribute> = new Map(this.node.attributes);

  override float(name: string, otherwise: number): number {
    return this.floatIfGiven(name) ?? otherwise;
  }

  override floatIfGiven(name: string): number | undefined {
    const attribute = this.attribute(name);
    if (attribute?.kind !== "int") return super.floatIfGiven(name);
    this.typed.set(name, { kind: "float", value: attribute.value });
    return attribute.value;
  }

  override floats(name: string): readonly number[] | undefined {
    const attribute = this.attribute(name);
    if (attribute?.kind !== "ints") return super.floats(name);
    this.typed.set(name, { kind: "floats", value: attribute.value });
    return attribute.value;
  }

  override strings(name: string): readonly string[] | undefined {
    const attribute = this.attribute(name);
    if (attribute?.kind !== "ints" || attribute.value.length > 0) return super.strings(name);
    this.typed.set(name, { kind: "strings", value: [] });
    return [];
  }

  override elementType(name: string): ElementType | undefined {
    const attribute = this.attribute(name);
    if (attribute?.kind !== "string") return super.elementType(name);
    if (Object.hasOwn(elementTypes, attribute.value)) {
      this.typed.set(name, { kind: "int", value: onnxTypeNumber(attribute.value) });
      return attribute.value as ElementType;
    }
    throw new Error(`the attribute "${name}" is "${attribute.value}", which is no type of elements`);
  }
}

function toAttribute(name: string, value: Attributes[string]): OnnxAttribute {
  if (typeof value === "boolean") return { kind: "int", value: Number(value) };
  if (typeof value === "string") return { kind: "string", value };
  if (typeof value === "number") return { kind: Number.isSafeInteger(value) ? "int" : "float", value };
  if (!Array.isArray(value)) return { kind: "tensor", value: value as Tensor };
  const list: readonly unknown[] = value;
  if (list.every((each) => typeof each === "string"))
    return list.length === 0 ? { kind: "ints", value: [] } : { kind: "strings", value: list };
  if (list.every((each) => typeof each === "number"))
    return { kind: list.every(Number.isSafeInteger) ? "ints" : "floats", value: list };
  throw new Error(`the attribute "${name}" is a list of numbers and texts`);
}

const refuseSubgraph = (): never => {
  throw new Error("operators with subgraphs are not part of the builder");
};
const noSubgraphs: Subgraphs = { trace: refuseSubgraph, capture: refuseSubgraph };
