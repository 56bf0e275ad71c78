/**
 * Traces an ONNX model: visits its nodes in order for inputs of known shapes, and lets the rule of each operator add primitive operations to a graph.
 * Branches are chosen, loops unrolled and functions inlined on the way. With constant inputs the trace evaluates the model.
 */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { required } from "../../contract/checked.ts";
import type { OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode } from "./onnx-model.ts";
import { describeInputs, type SubgraphClosure, OperatorCall } from "./operators/operator-call.ts";
import { newestVersions, operatorRule } from "./operators/table.ts";
import { Builder } from "../build/builder.ts";
import type { GraphSource } from "../build/graph-source.ts";
import { captureName, type InterpretedNode } from "../build/data-dependency.ts";
import { DataDependencyError } from "../build/data-dependency-error.ts";
import { isTensor, type TracedValue, tensorsIn } from "../build/traced-value.ts";
import { innerGraphs, namesUsed } from "./used-names.ts";

/** Deepest nesting of function calls and subgraphs. Bounds the recursion for functions that call each other. */
const maxScopeDepth = 64;
/** Longest name in a message and longest message, in UTF-16 units: both contain text from the file. */
const maxNameLength = 80;
const maxMessageLength = 1000;

type Names = Map<string, TracedValue>;

/** What the nodes of one graph or function body share. */
interface GraphContext {
  /** Operator set versions by domain. */
  readonly opsets: ReadonlyMap<string, number>;
  /** Number of graphs and functions around this one. */
  readonly depth: number;
}

/**
 * Traces the model into `builder` and returns its outputs by name. `inputs` holds every input that has no initializer. Throws MODEL_INVALID for a graph
 * that is not well formed, MODEL_UNSUPPORTED for an operator, version or attribute that the engine does not implement, and DataDependencyError where
 * an operator needs elements that only a run provides.
 */
export function traceModel(
  model: OnnxModel,
  inputs: ReadonlyMap<string, TracedValue>,
  builder: Builder,
): ReadonlyMap<string, TracedValue> {
  const { graph } = model;
  const names = new Scope(undefined, new Map(inputs));
  try {
    const values = new Tracer(model, builder).graph(graph, names, { opsets: model.opsets, depth: 0 });
    return new Map(graph.outputs.map(({ name }, index) => [name, values[index] as TracedValue]));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Thrown by JavaScript itself: stack overflow, or an array or string that is too long.
    const operator = builder.budget.currentOperator;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model cannot be traced at ${operator}: ${getMessage(error)}`, {
      cause: error,
    });
  }
}

/** Adapts an ONNX model to `GraphSource`, the interface that `EngineModel` traces models through. */
export function onnxSource(model: OnnxModel): GraphSource {
  return {
    trace: (inputs, builder) => traceModel(model, inputs, builder),
    weights: [...model.graph.initializers.values()],
    weightElements: model.elementCount,
  };
}

/** The values of a graph by name. A name that the graph does not define is looked up in the graph around it. */
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
}

/** Traces graphs and functions of one model into one builder. */
class Tracer {
  readonly #model: OnnxModel;
  readonly #builder: Builder;

  constructor(model: OnnxModel, builder: Builder) {
    this.#model = model;
    this.#builder = builder;
  }

  /** Traces a graph whose inputs stand in `names`, and returns its outputs in order. */
  graph(graph: OnnxGraph, names: Scope, context: GraphContext): readonly TracedValue[] {
    if (context.depth > maxScopeDepth) throw invalid(`graphs and functions are nested more than ${maxScopeDepth} deep`);
    for (const [name, literal] of graph.initializers) if (!names.has(name)) names.set(name, this.#builder.constant(literal));
    const outputs = graph.outputs.map(({ name }) => name);
    this.#nodes(graph.nodes, outputs, names, context);
    return outputs.map((name) => {
      const value = this.#find(name, names);
      if (value === undefined) throw invalid(`no node computes the output "${name}"`);
      return value;
    });
  }

  /** The value of a name; a tensor whose elements a run has provided is a constant. */
  #find(name: string, names: Scope): TracedValue | undefined {
    const value = names.find(name);
    return value !== undefined && isTensor(value) ? this.#builder.resolved(value) : value;
  }

  /** Traces nodes in order. `wanted` are the names that are read after them. */
  #nodes(nodes: readonly OnnxNode[], wanted: readonly string[], names: Scope, context: GraphContext): void {
    for (const [index, node] of nodes.entries()) {
      this.#builder.count();
      const inputs = node.inputs.map((name) => {
        if (name === "") return undefined;
        const value = this.#find(name, names);
        if (value === undefined) throw invalid(`${describeNode(node)} reads "${name}", which no node before it computes`);
        return value;
      });
      let outputs: readonly TracedValue[];
      try {
        outputs = this.#builder.stepOrInterpret(
          () => this.#node(node, inputs, names, context),
          (error) => this.#interpretedNode(error, node, inputs, context),
          true,
        );
      } catch (error) {
        if (error instanceof DataDependencyError) {
          this.#builder.budget.checkTime(); // the names are collected again in each graph around this one
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
        if (value === undefined) throw invalid(`${describeNode(node)} has no output ${output}`);
        names.set(name, value);
      }
    }
  }

  /**
   * The node as an operation to be interpreted whole, if it stopped at a tensor that is too large to become a constant of a segment. Undefined for
   * other dependencies. MODEL_UNSUPPORTED for a node with subgraphs.
   */
  #interpretedNode(
    { dependency, message }: DataDependencyError,
    node: OnnxNode,
    inputs: readonly (TracedValue | undefined)[],
    context: GraphContext,
  ): InterpretedNode | undefined {
    if (dependency !== undefined) return undefined;
    if (innerGraphs(node).length > 0) throw new InferyardError("MODEL_UNSUPPORTED", `${describeNode(node)}: ${message}`);
    return {
      kind: "node",
      inputs,
      compute: (constants, limits) =>
        new Tracer(this.#model, new Builder(limits, "eager")).#node(node, constants, new Scope(undefined, new Map()), context),
    };
  }

  /** A subgraph as a model of its own. Constants that it reads from the graphs around it become part of it; other values become captures. */
  #enclose(graph: OnnxGraph, names: Scope, context: GraphContext): SubgraphClosure {
    this.#builder.budget.checkTime(); // collecting names visits the whole subgraph
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
        trace: (inputs, builder) => {
          const input = (name: string): TracedValue => required(inputs.get(name), `the input "${name}" of a subgraph`);
          const outer: Names = new Map(known);
          for (const name of captures.keys()) outer.set(name, input(captureName(name)));
          const own: Names = new Map(graph.inputs.map(({ name }, index) => [name, input(String(index))]));
          const scope = new Scope(new Scope(undefined, outer), own);
          const values = new Tracer(this.#model, builder).graph(graph, scope, { ...context, depth: context.depth + 1 });
          return new Map(values.map((value, index) => [String(index), value]));
        },
      },
    };
  }

  /** Translates one node by the rule of its operator, or inlines the function that it calls. */
  #node(
    node: OnnxNode,
    inputs: readonly (TracedValue | undefined)[],
    names: Scope,
    context: GraphContext,
  ): readonly TracedValue[] {
    const { opsets, depth } = context;
    const body = this.#model.functions.get(`${node.domain}:${node.operator}`);
    if (body !== undefined) return this.#function(node, body, inputs, depth);
    const version = opsets.get(node.domain) ?? 1;
    const rule = operatorRule(node.domain, node.operator, version);
    if (rule === undefined || version > (newestVersions.get(node.domain) ?? version)) throw unknownOperator(node, version);
    const call = new OperatorCall(node, version, inputs, this.#builder, {
      trace: (graph, values) =>
        this.#builder.step(() => {
          const inner = new Map(
            graph.inputs.map(({ name }, index): [string, TracedValue] => [name, values[index] as TracedValue]),
          );
          return this.graph(graph, new Scope(names, inner), { opsets, depth: depth + 1 });
        }),
      capture: (graph) => this.#enclose(graph, names, context),
    });
    if (version < 6) call.ignore("consumed_inputs"); // early operator sets: inputs that may be overwritten
    this.#builder.budget.currentOperator = describeNode(node);
    try {
      const outputs = rule.translate(call);
      if (call.unreadAttributes.length > 0) throw new Error(`the attribute "${call.unreadAttributes[0]}" is unknown`);
      return Array.isArray(outputs) ? outputs : [outputs as TracedValue];
    } catch (error) {
      if (error instanceof InferyardError || error instanceof DataDependencyError) throw error;
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `${describeNode(node)} of version ${version}, given ${describeInputs(inputs)}: ${getMessage(error)}`.slice(
          0,
          maxMessageLength,
        ),
        { cause: error },
      );
    }
  }

  /** Inlines a call of a function that the model defines, and returns the outputs of its body. */
  #function(
    node: OnnxNode,
    body: OnnxFunction,
    inputs: readonly (TracedValue | undefined)[],
    depth: number,
  ): readonly TracedValue[] {
    if (depth > maxScopeDepth) throw invalid(`graphs and functions are nested more than ${maxScopeDepth} deep`);
    const passed: Names = new Map();
    for (const [index, name] of body.inputs.entries()) {
      const value = inputs[index];
      if (value !== undefined) passed.set(name, value);
    }
    const names = new Scope(undefined, passed);
    const call: FunctionCall = { caller: node, body, omitted: new Set(body.inputs.filter((name) => !names.has(name))) };
    const nodes = body.nodes.map((each) => withAttributes(each, call, this.#builder));
    const opsets = body.opsets.size > 0 ? body.opsets : this.#model.opsets;
    this.#nodes(nodes, body.outputs, names, { opsets, depth: depth + 1 });
    return body.outputs.map((name) => {
      const value = this.#find(name, names);
      if (value === undefined) throw invalid(`no node of the function "${body.name}" computes its output "${name}"`);
      return value;
    });
  }
}

/** A call of a function that the model defines. */
interface FunctionCall {
  /** The node that calls the function. */
  readonly caller: OnnxNode;
  readonly body: OnnxFunction;
  /** Names of the optional inputs that the call leaves out. */
  readonly omitted: ReadonlySet<string>;
}

/** A node of a function's body, subgraphs included, with attribute references replaced by the caller's attributes and omitted inputs removed. */
function withAttributes(node: OnnxNode, call: FunctionCall, builder: Builder): OnnxNode {
  builder.count();
  const { caller, body, omitted } = call;
  const attributes = new Map<string, OnnxAttribute>();
  for (const [name, attribute] of node.attributes) {
    const value =
      attribute.kind === "reference" ? (caller.attributes.get(attribute.value) ?? body.defaults.get(attribute.value)) : attribute;
    if (value?.kind === "graph" && value === attribute) {
      const nodes = value.value.nodes.map((each) => withAttributes(each, call, builder));
      attributes.set(name, { kind: "graph", value: { ...value.value, nodes } });
    } else if (value !== undefined) attributes.set(name, value);
  }
  const inputs = node.inputs.map((name) => (omitted.has(name) ? "" : name));
  return { ...node, attributes, inputs };
}

/** The MODEL_UNSUPPORTED error for a node whose operator the engine does not have in this version of its domain. */
export function unknownOperator(node: OnnxNode, version: number): InferyardError {
  const domain = node.domain === "" ? "ai.onnx" : node.domain;
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `the engine has no operator ${node.operator} of ${domain} version ${version}, which the node "${node.name}" uses`,
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
