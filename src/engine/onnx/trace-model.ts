/** Walks an ONNX model with inputs of known types, and builds what it computes: a program, or at once the results where the inputs are known. */
import { InferyardError, messageOf } from "../../errors.ts";
import type { OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode } from "./onnx-model.ts";
import { describeInputs, type SubgraphClosure, OperatorCall } from "./operators/operator-call.ts";
import { newestVersions, operatorRule } from "./operators/table.ts";
import { Builder } from "../build/builder.ts";
import type { GraphSource } from "../build/graph-source.ts";
import { captureName, type InterpretedNode } from "../build/data-dependency.ts";
import { DataDependencyError } from "../build/data-dependency-error.ts";
import { isTensor, type TracedValue, tensorsIn } from "../build/traced-value.ts";
import { innerGraphs, namesUsed } from "./used-names.ts";

/** Functions of a model that call each other, and graphs in graphs, end somewhere. */
const maxScopeDepth = 64;
/** Characters of a name in a message, and of a message: both come from the file. */
const maxNameLength = 80;
const maxMessageLength = 1000;

type Names = Map<string, TracedValue>;

/** Where nodes stand: versions of their operators, and how many graphs and functions around them. */
interface GraphContext {
  readonly opsets: ReadonlyMap<string, number>;
  readonly depth: number;
}

/** Outputs of the model, by name. `inputs` holds every input that has no initial value. */
export function traceModel(
  model: OnnxModel,
  inputs: ReadonlyMap<string, TracedValue>,
  build: Builder,
): ReadonlyMap<string, TracedValue> {
  const { graph } = model;
  const names = new Scope(undefined, new Map(inputs));
  try {
    const values = new Tracer(model, build).graph(graph, names, { opsets: model.opsets, depth: 0 });
    return new Map(graph.outputs.map(({ name }, index) => [name, values[index] as TracedValue]));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Of the JavaScript engine: its stack, an array or a text is full.
    const at = build.budget.currentOperator;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model cannot be traced at ${at}: ${messageOf(error)}`, { cause: error });
  }
}

export function onnxSource(model: OnnxModel): GraphSource {
  return {
    trace: (inputs, build) => traceModel(model, inputs, build),
    weights: [...model.graph.initializers.values()],
    weightElements: model.elementCount,
  };
}

/** Names of a graph, and those of the graphs around it. */
class Scope {
  readonly #outer: Scope | undefined;
  readonly #names: Names;

  constructor(outer: Scope | undefined, names: Names) {
    this.#outer = outer;
    this.#names = names;
  }

  find(name: string): TracedValue | undefined {
    return this.#names.get(name) ?? this.#outer?.find(name);
  }

  set(name: string, value: TracedValue): void {
    this.#names.set(name, value);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  drop(name: string): void {
    this.#names.delete(name);
  }
}

class Tracer {
  readonly #model: OnnxModel;
  readonly #build: Builder;

  constructor(model: OnnxModel, build: Builder) {
    this.#model = model;
    this.#build = build;
  }

  graph(graph: OnnxGraph, names: Scope, place: GraphContext): readonly TracedValue[] {
    if (place.depth > maxScopeDepth) throw invalid(`it nests more than ${maxScopeDepth} graphs and functions`);
    for (const [name, literal] of graph.initializers) if (!names.has(name)) names.set(name, this.#build.constant(literal));
    const outputs = graph.outputs.map(({ name }) => name);
    this.#nodes(graph.nodes, outputs, names, place);
    return outputs.map((name) => {
      const value = this.#find(name, names);
      if (value === undefined) throw invalid(`nothing gives the output "${name}"`);
      return value;
    });
  }

  /** What was asked for is a constant from then on. */
  #find(name: string, names: Scope): TracedValue | undefined {
    const value = names.find(name);
    return value !== undefined && isTensor(value) ? this.#build.resolved(value) : value;
  }

  /** `wanted`: names that somebody uses after them. */
  #nodes(nodes: readonly OnnxNode[], wanted: readonly string[], names: Scope, place: GraphContext): void {
    for (const [index, node] of nodes.entries()) {
      this.#build.count();
      const inputs = node.inputs.map((name) => {
        if (name === "") return undefined;
        const value = this.#find(name, names);
        if (value === undefined) throw invalid(`${describeNode(node)} takes "${name}", which nothing before it gives`);
        return value;
      });
      let outputs: readonly TracedValue[];
      try {
        outputs = this.#build.stepOrInterpret(
          () => this.#node(node, inputs, names, place),
          (unknown) => this.#interpretedNode(unknown, node, inputs, place),
          true,
        );
      } catch (error) {
        if (error instanceof DataDependencyError) {
          this.#build.budget.checkTime(); // once more for each graph around this one
          for (const name of [...wanted, ...namesUsed(nodes.slice(index))]) {
            const value = names.find(name);
            if (value !== undefined) error.liveValues.add(value);
          }
        }
        throw error;
      }
      for (const [output, name] of node.outputs.entries()) {
        const value = outputs[output];
        if (name === "") continue;
        if (value === undefined) throw invalid(`${describeNode(node)} gives no output ${output}`);
        names.set(name, value);
      }
    }
  }

  /** An operator that must know elements which are no constants of a program is computed by the interpreter, as a whole. */
  #interpretedNode(
    { dependency, message }: DataDependencyError,
    node: OnnxNode,
    inputs: readonly (TracedValue | undefined)[],
    place: GraphContext,
  ): InterpretedNode | undefined {
    if (dependency !== undefined) return undefined;
    if (innerGraphs(node).length > 0) throw new InferyardError("MODEL_UNSUPPORTED", `${describeNode(node)}: ${message}`);
    return {
      kind: "node",
      inputs,
      compute: (known, limits) =>
        new Tracer(this.#model, new Builder(limits, "eager")).#node(node, known, new Scope(undefined, new Map()), place),
    };
  }

  /** A graph as a model of its own. What it uses of what is around it and is known belongs to it. */
  #enclose(graph: OnnxGraph, names: Scope, place: GraphContext): SubgraphClosure {
    this.#build.budget.checkTime(); // it walks all that the graph holds
    const captures = new Map<string, TracedValue>();
    const known: Names = new Map();
    for (const name of [...graph.outputs.map((output) => output.name), ...namesUsed(graph.nodes)]) {
      const value = this.#find(name, names);
      if (value === undefined) continue;
      if (tensorsIn(value).every(({ constant }) => constant !== undefined)) known.set(name, value);
      else captures.set(name, value);
    }
    return {
      captures,
      body: {
        weights: [],
        trace: (inputs, build) => {
          const outside: Names = new Map(known);
          for (const name of captures.keys()) outside.set(name, inputs.get(captureName(name)) as TracedValue);
          const own: Names = new Map(graph.inputs.map(({ name }, index) => [name, inputs.get(String(index)) as TracedValue]));
          const inside = new Scope(new Scope(undefined, outside), own);
          const values = new Tracer(this.#model, build).graph(graph, inside, { ...place, depth: place.depth + 1 });
          return new Map(values.map((value, index) => [String(index), value]));
        },
      },
    };
  }

  #node(node: OnnxNode, inputs: readonly (TracedValue | undefined)[], names: Scope, place: GraphContext): readonly TracedValue[] {
    const { opsets, depth } = place;
    const body = this.#model.functions.get(`${node.domain}:${node.operator}`);
    if (body !== undefined) return this.#function(node, body, inputs, depth);
    const version = opsets.get(node.domain) ?? 1;
    const rule = operatorRule(node.domain, node.operator, version);
    if (rule === undefined || version > (newestVersions.get(node.domain) ?? version)) throw unknownOperator(node, version);
    const call = new OperatorCall(node, version, inputs, this.#build, {
      trace: (graph, values) =>
        this.#build.step(() => {
          const inner = new Map(
            graph.inputs.map(({ name }, index): [string, TracedValue] => [name, values[index] as TracedValue]),
          );
          return this.graph(graph, new Scope(names, inner), { opsets, depth: depth + 1 });
        }),
      capture: (graph) => this.#enclose(graph, names, place),
    });
    if (version < 6) call.ignore("consumed_inputs"); // of the first versions: which inputs may be overwritten
    this.#build.budget.currentOperator = describeNode(node);
    try {
      const outputs = rule.translate(call);
      if (call.unreadAttributes.length > 0) throw new Error(`its attribute "${call.unreadAttributes[0]}" is not known`);
      return Array.isArray(outputs) ? outputs : [outputs as TracedValue];
    } catch (error) {
      if (error instanceof InferyardError || error instanceof DataDependencyError) throw error;
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `${describeNode(node)} of version ${version}, given ${describeInputs(inputs)}: ${messageOf(error)}`.slice(
          0,
          maxMessageLength,
        ),
        { cause: error },
      );
    }
  }

  /** A function of the model itself is traced in the place of its call. */
  #function(
    node: OnnxNode,
    body: OnnxFunction,
    inputs: readonly (TracedValue | undefined)[],
    depth: number,
  ): readonly TracedValue[] {
    if (depth > maxScopeDepth) throw invalid(`it nests more than ${maxScopeDepth} graphs and functions`);
    const given: Names = new Map();
    for (const [index, name] of body.inputs.entries()) {
      const value = inputs[index];
      if (value !== undefined) given.set(name, value);
    }
    const names = new Scope(undefined, given);
    const call: FunctionCall = { caller: node, body, omitted: new Set(body.inputs.filter((name) => !names.has(name))) };
    const nodes = body.nodes.map((each) => withAttributes(each, call, this.#build));
    const opsets = body.opsets.size > 0 ? body.opsets : this.#model.opsets;
    this.#nodes(nodes, body.outputs, names, { opsets, depth: depth + 1 });
    return body.outputs.map((name) => {
      const value = this.#find(name, names);
      if (value === undefined) throw invalid(`nothing in the function "${body.name}" gives "${name}"`);
      return value;
    });
  }
}

/** One call of a function of the model. */
interface FunctionCall {
  readonly caller: OnnxNode;
  readonly body: OnnxFunction;
  /** Inputs that the caller left out. */
  readonly omitted: ReadonlySet<string>;
}

/**
 * A node of a function's body, with the caller's attributes in the place of references, in the graphs it holds as well, and without inputs that
 * the caller left out.
 */
function withAttributes(node: OnnxNode, call: FunctionCall, build: Builder): OnnxNode {
  build.count();
  const { caller, body, omitted } = call;
  const attributes = new Map<string, OnnxAttribute>();
  for (const [name, attribute] of node.attributes) {
    const value =
      attribute.kind === "reference" ? (caller.attributes.get(attribute.value) ?? body.defaults.get(attribute.value)) : attribute;
    if (value?.kind === "graph" && value === attribute) {
      const nodes = value.value.nodes.map((each) => withAttributes(each, call, build));
      attributes.set(name, { kind: "graph", value: { ...value.value, nodes } });
    } else if (value !== undefined) attributes.set(name, value);
  }
  const inputs = node.inputs.map((name) => (omitted.has(name) ? "" : name));
  return { ...node, attributes, inputs };
}

export function unknownOperator(node: OnnxNode, version: number): InferyardError {
  const domain = node.domain === "" ? "ai.onnx" : node.domain;
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `the engine has no operator ${node.operator} of ${domain} version ${version}, which node "${node.name}" uses`,
    { data: { operator: node.operator, domain, version, node: node.name } },
  );
}

function describeNode({ name, operator }: OnnxNode): string {
  const shown = operator.slice(0, maxNameLength);
  return name === "" ? shown : `${shown} "${name.slice(0, maxNameLength)}"`;
}

function invalid(message: string): InferyardError {
  return new InferyardError("MODEL_INVALID", message);
}
