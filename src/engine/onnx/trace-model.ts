/** Walks an ONNX model with inputs of known types, and builds what it computes: a program, or at once the results where the inputs are known. */
import { InferyardError, messageOf } from "../../errors.ts";
import type { OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode } from "./onnx-model.ts";
import { describeInputs, type EnclosedGraph, OperatorCall } from "./operators/operator-call.ts";
import { newestVersions, operatorRule } from "./operators/table.ts";
import { Builder } from "../build/builder.ts";
import type { GraphSource } from "../build/graph-source.ts";
import { aroundName, type HostNode } from "../build/data-dependency.ts";
import { ValueUnknown } from "../build/data-dependency-error.ts";
import { isTensor, type Traced, tensorsIn } from "../build/traced-value.ts";
import { innerGraphs, namesUsed } from "./used-names.ts";

/** Functions of a model that call each other, and graphs in graphs, end somewhere. */
const deepestScope = 64;
/** Characters of a name in a message, and of a message: both come from the file. */
const longestName = 80;
const longestMessage = 1000;

type Names = Map<string, Traced>;

/** Where nodes stand: versions of their operators, and how many graphs and functions around them. */
interface Place {
  readonly opsets: ReadonlyMap<string, number>;
  readonly depth: number;
}

/** Outputs of the model, by name. `inputs` holds every input that has no initial value. */
export function traceModel(model: OnnxModel, inputs: ReadonlyMap<string, Traced>, build: Builder): ReadonlyMap<string, Traced> {
  const { graph } = model;
  const names = new Scope(undefined, new Map(inputs));
  try {
    const values = new Tracer(model, build).graph(graph, names, { opsets: model.opsets, depth: 0 });
    return new Map(graph.outputs.map(({ name }, index) => [name, values[index] as Traced]));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Of the JavaScript engine: its stack, an array or a text is full.
    const at = build.budget.operator;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model cannot be traced at ${at}: ${messageOf(error)}`, { cause: error });
  }
}

export function onnxSource(model: OnnxModel): GraphSource {
  return {
    trace: (inputs, build) => traceModel(model, inputs, build),
    weights: [...model.graph.initializers.values()],
    weightElements: model.elements,
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

  graph(graph: OnnxGraph, names: Scope, place: Place): readonly Traced[] {
    if (place.depth > deepestScope) throw invalid(`it nests more than ${deepestScope} graphs and functions`);
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
  #find(name: string, names: Scope): Traced | undefined {
    const value = names.find(name);
    return value !== undefined && isTensor(value) ? this.#build.settled(value) : value;
  }

  /** `wanted`: names that somebody uses after them. */
  #nodes(nodes: readonly OnnxNode[], wanted: readonly string[], names: Scope, place: Place): void {
    for (const [index, node] of nodes.entries()) {
      this.#build.count();
      const inputs = node.inputs.map((name) => {
        if (name === "") return undefined;
        const value = this.#find(name, names);
        if (value === undefined) throw invalid(`${described(node)} takes "${name}", which nothing before it gives`);
        return value;
      });
      let outputs: readonly Traced[];
      try {
        outputs = this.#build.stepOrHost(
          () => this.#node(node, inputs, names, place),
          (unknown) => this.#forHost(unknown, node, inputs, place),
          true,
        );
      } catch (error) {
        if (error instanceof ValueUnknown) {
          this.#build.budget.checkTime(); // once more for each graph around this one
          for (const name of [...wanted, ...namesUsed(nodes.slice(index))]) {
            const value = names.find(name);
            if (value !== undefined) error.needed.add(value);
          }
        }
        throw error;
      }
      for (const [output, name] of node.outputs.entries()) {
        const value = outputs[output];
        if (name === "") continue;
        if (value === undefined) throw invalid(`${described(node)} gives no output ${output}`);
        names.set(name, value);
      }
    }
  }

  /** An operator that must know elements which are no constants of a program is computed by the interpreter, as a whole. */
  #forHost(
    { question, message }: ValueUnknown,
    node: OnnxNode,
    inputs: readonly (Traced | undefined)[],
    place: Place,
  ): HostNode | undefined {
    if (question !== undefined) return undefined;
    if (innerGraphs(node).length > 0) throw new InferyardError("MODEL_UNSUPPORTED", `${described(node)}: ${message}`);
    return {
      kind: "node",
      inputs,
      compute: (known, limits) =>
        new Tracer(this.#model, new Builder(limits, "run")).#node(node, known, new Scope(undefined, new Map()), place),
    };
  }

  /** A graph as a model of its own. What it uses of what is around it and is known belongs to it. */
  #enclosed(graph: OnnxGraph, names: Scope, place: Place): EnclosedGraph {
    this.#build.budget.checkTime(); // it walks all that the graph holds
    const around = new Map<string, Traced>();
    const known: Names = new Map();
    for (const name of [...graph.outputs.map((output) => output.name), ...namesUsed(graph.nodes)]) {
      const value = this.#find(name, names);
      if (value === undefined) continue;
      if (tensorsIn(value).every(({ constant }) => constant !== undefined)) known.set(name, value);
      else around.set(name, value);
    }
    return {
      around,
      body: {
        weights: [],
        trace: (inputs, build) => {
          const outside: Names = new Map(known);
          for (const name of around.keys()) outside.set(name, inputs.get(aroundName(name)) as Traced);
          const own: Names = new Map(graph.inputs.map(({ name }, index) => [name, inputs.get(String(index)) as Traced]));
          const inside = new Scope(new Scope(undefined, outside), own);
          const values = new Tracer(this.#model, build).graph(graph, inside, { ...place, depth: place.depth + 1 });
          return new Map(values.map((value, index) => [String(index), value]));
        },
      },
    };
  }

  #node(node: OnnxNode, inputs: readonly (Traced | undefined)[], names: Scope, place: Place): readonly Traced[] {
    const { opsets, depth } = place;
    const body = this.#model.functions.get(`${node.domain}:${node.operator}`);
    if (body !== undefined) return this.#function(node, body, inputs, depth);
    const version = opsets.get(node.domain) ?? 1;
    const rule = operatorRule(node.domain, node.operator, version);
    if (rule === undefined || version > (newestVersions.get(node.domain) ?? version)) throw unknownOperator(node, version);
    const call = new OperatorCall(node, version, inputs, this.#build, {
      trace: (graph, values) =>
        this.#build.step(() => {
          const inner = new Map(graph.inputs.map(({ name }, index): [string, Traced] => [name, values[index] as Traced]));
          return this.graph(graph, new Scope(names, inner), { opsets, depth: depth + 1 });
        }),
      enclose: (graph) => this.#enclosed(graph, names, place),
    });
    if (version < 6) call.ignore("consumed_inputs"); // of the first versions: which inputs may be overwritten
    this.#build.budget.operator = described(node);
    try {
      const outputs = rule.lower(call);
      if (call.unread.length > 0) throw new Error(`its attribute "${call.unread[0]}" is not known`);
      return Array.isArray(outputs) ? outputs : [outputs as Traced];
    } catch (error) {
      if (error instanceof InferyardError || error instanceof ValueUnknown) throw error;
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `${described(node)} of version ${version}, given ${describeInputs(inputs)}: ${messageOf(error)}`.slice(0, longestMessage),
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

function described({ name, operator }: OnnxNode): string {
  const shown = operator.slice(0, longestName);
  return name === "" ? shown : `${shown} "${name.slice(0, longestName)}"`;
}

function invalid(message: string): InferyardError {
  return new InferyardError("MODEL_INVALID", message);
}
