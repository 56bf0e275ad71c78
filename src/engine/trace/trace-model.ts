/** Walks an ONNX model with inputs of known types, and builds what it computes: a program, or at once the results where the inputs are known. */
import { InferyardError, messageOf } from "../../errors.ts";
import type { OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode } from "../import/onnx-model.ts";
import { describeInputs, OperatorCall } from "../operators/operator-call.ts";
import { newestVersions, operatorRule } from "../operators/table.ts";
import { type Builder, ValueUnknown } from "./builder.ts";
import type { GraphSource } from "./graph-source.ts";
import type { Traced } from "./traced.ts";

/** Functions of a model that call each other, and graphs in graphs, end somewhere. */
const deepestScope = 64;

type Names = Map<string, Traced>;

/** Outputs of the model, by name. `inputs` holds every input that has no initial value. */
export function traceModel(model: OnnxModel, inputs: ReadonlyMap<string, Traced>, build: Builder): ReadonlyMap<string, Traced> {
  const { graph } = model;
  const names = new Scope(undefined, new Map(inputs));
  const values = new Tracer(model, build).graph(graph, names, model.opsets, 0);
  return new Map(graph.outputs.map(({ name }, index) => [name, values[index] as Traced]));
}

export function onnxSource(model: OnnxModel): GraphSource {
  return {
    trace: (inputs, build) => traceModel(model, inputs, build),
    weights: [...model.graph.initializers.values()],
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

  find(name: string): Traced | undefined {
    return this.#names.get(name) ?? this.#outer?.find(name);
  }

  set(name: string, value: Traced): void {
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

  graph(graph: OnnxGraph, names: Scope, opsets: ReadonlyMap<string, number>, depth: number): readonly Traced[] {
    if (depth > deepestScope) throw invalid(`it nests more than ${deepestScope} graphs and functions`);
    for (const [name, literal] of graph.initializers) if (!names.has(name)) names.set(name, this.#build.constant(literal));
    this.#nodes(graph.nodes, names, opsets, depth);
    return graph.outputs.map(({ name }) => {
      const value = names.find(name);
      if (value === undefined) throw invalid(`nothing gives the output "${name}"`);
      return value;
    });
  }

  #nodes(nodes: readonly OnnxNode[], names: Scope, opsets: ReadonlyMap<string, number>, depth: number): void {
    for (const node of nodes) {
      this.#build.step();
      const inputs = node.inputs.map((name) => {
        if (name === "") return undefined;
        const value = names.find(name);
        if (value === undefined) throw invalid(`${described(node)} takes "${name}", which nothing before it gives`);
        return value;
      });
      const outputs = this.#node(node, inputs, names, opsets, depth);
      for (const [index, name] of node.outputs.entries()) {
        const value = outputs[index];
        if (name === "") continue;
        if (value === undefined) throw invalid(`${described(node)} gives no output ${index}`);
        names.set(name, value);
      }
    }
  }

  #node(
    node: OnnxNode,
    inputs: readonly (Traced | undefined)[],
    names: Scope,
    opsets: ReadonlyMap<string, number>,
    depth: number,
  ): readonly Traced[] {
    const body = this.#model.functions.get(`${node.domain}:${node.operator}`);
    if (body !== undefined) return this.#function(node, body, inputs, depth);
    const version = opsets.get(node.domain) ?? 1;
    const rule = operatorRule(node.domain, node.operator, version);
    if (rule === undefined || version > (newestVersions.get(node.domain) ?? version)) throw unknownOperator(node, version);
    const call = new OperatorCall(node, version, inputs, this.#build, (graph, values) => {
      const inner = new Map(graph.inputs.map(({ name }, index): [string, Traced] => [name, values[index] as Traced]));
      return this.graph(graph, new Scope(names, inner), opsets, depth + 1);
    });
    if (version < 6) call.ignore("consumed_inputs"); // of the first versions: which inputs may be overwritten
    try {
      const outputs = rule.lower(call);
      if (call.unread.length > 0) throw new Error(`its attribute "${call.unread[0]}" is not known`);
      return Array.isArray(outputs) ? outputs : [outputs as Traced];
    } catch (error) {
      if (error instanceof InferyardError || error instanceof ValueUnknown) throw error;
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `${described(node)} of version ${version}, given ${describeInputs(inputs)}: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  /** A function of the model itself is traced in the place of its call. */
  #function(node: OnnxNode, body: OnnxFunction, inputs: readonly (Traced | undefined)[], depth: number): readonly Traced[] {
    if (depth > deepestScope) throw invalid(`it nests more than ${deepestScope} graphs and functions`);
    const given: Names = new Map();
    for (const [index, name] of body.inputs.entries()) {
      const value = inputs[index];
      if (value !== undefined) given.set(name, value);
    }
    const names = new Scope(undefined, given);
    const nodes = body.nodes.map((each) => withAttributes(each, node, body, names));
    this.#nodes(nodes, names, body.opsets.size > 0 ? body.opsets : this.#model.opsets, depth + 1);
    return body.outputs.map((name) => {
      const value = names.find(name);
      if (value === undefined) throw invalid(`nothing in the function "${body.name}" gives "${name}"`);
      return value;
    });
  }
}

/**
 * A node of a function's body, with the caller's attributes in the place of references, in the graphs it holds as well, and without inputs that
 * the caller left out.
 */
function withAttributes(node: OnnxNode, caller: OnnxNode, body: OnnxFunction, given: Scope): OnnxNode {
  const attributes = new Map<string, OnnxAttribute>();
  for (const [name, attribute] of node.attributes) {
    const value =
      attribute.kind === "reference" ? (caller.attributes.get(attribute.value) ?? body.defaults.get(attribute.value)) : attribute;
    if (value?.kind === "graph" && value === attribute) {
      const nodes = value.value.nodes.map((each) => withAttributes(each, caller, body, given));
      attributes.set(name, { kind: "graph", value: { ...value.value, nodes } });
    } else if (value !== undefined) attributes.set(name, value);
  }
  const inputs = node.inputs.map((name) => (body.inputs.includes(name) && !given.has(name) ? "" : name));
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

function described(node: OnnxNode): string {
  return node.name === "" ? node.operator : `${node.operator} "${node.name}"`;
}

function invalid(message: string): InferyardError {
  return new InferyardError("MODEL_INVALID", message);
}
