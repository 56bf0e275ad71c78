/** Reads the outline of an ONNX graph: its inputs and outputs, its tensors without their elements, and the operators it uses. Subgraphs of If, Loop and Scan are included. */
import { type OnnxTensorOutline, readOnnxTensor } from "./onnx-tensor.ts";
import { type OnnxValue, readOnnxValue } from "./onnx-value.ts";
import type { Reading } from "../file-window.ts";
import type { ProtobufFile } from "../protobuf/protobuf-file.ts";
import { lengthDelimited, type ProtobufField } from "../protobuf/wire-format.ts";
import { attributeProto, functionProto, graphProto, nodeProto, sparseTensorProto } from "./onnx-fields.ts";

/** An ONNX operator with the number of nodes that use it. */
export interface OnnxOperatorUse {
  /** The operator's domain; the standard one is "ai.onnx". */
  readonly domain: string;
  readonly name: string;
  /** Number of nodes that use it. */
  readonly count: number;
}

/** The inputs and outputs of an ONNX graph. */
export interface GraphSignature {
  /** Values that a run must be given. Inputs that are initializers too have a default and are left out. */
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
}

/** An ONNX graph without the elements of its tensors: inputs, outputs, operators, and the sizes of its weights. */
export interface OnnxGraphOutline extends GraphSignature {
  /** Number of nodes, including nodes of subgraphs. */
  readonly nodes: number;
  readonly operators: readonly OnnxOperatorUse[];
  /** Tensors that the graph holds by name, which are the weights, including tensors of subgraphs. Those of subgraphs are included. */
  readonly initializers: readonly OnnxTensorOutline[];
  /**
   * Tensors that are values of attributes, mostly of Constant nodes, including tensors of subgraphs and functions. Those of subgraphs and functions are
   * included.
   */
  readonly constants: readonly OnnxTensorOutline[];
  /** Types, in the form of `OnnxValue.type`, that the graph states for its intermediate values and for inputs and outputs of subgraphs. */
  readonly intermediateTypes: ReadonlySet<string>;
}

/** Collects the outline of a graph and its subgraphs. */
interface GraphAccumulator {
  readonly operators: Map<string, OnnxOperatorUse>;
  readonly initializers: OnnxTensorOutline[];
  readonly constants: OnnxTensorOutline[];
  readonly intermediateTypes: Set<string>;
  nodes: number;
}

/** Deepest nesting of subgraphs. Real models nest a handful deep; without a limit a hostile file would exhaust the stack. */
const maxGraphDepth = 64;

/**
 * Reads the graphs and functions of one ONNX file without the elements of tensors. Methods throw Error if the file is damaged.
 */
export class OnnxGraphReader {
  readonly #file: ProtobufFile;
  readonly #constants: OnnxTensorOutline[] = [];

  constructor(file: ProtobufFile) {
    this.#file = file;
  }

  /** Reads the main graph (GraphProto). Its `constants` include those of the functions that were read before with `readFunctionBody`. */
  *read(graph: ProtobufField): Reading<OnnxGraphOutline> {
    const totals = this.#newTotals();
    const { inputs, outputs } = yield* this.#graph(graph, totals, 0);
    const { initializers, constants, intermediateTypes, nodes, operators } = totals;
    const initial = new Set(initializers.map(({ name }) => name));
    return {
      inputs: inputs.filter(({ name }) => !initial.has(name)),
      outputs,
      nodes,
      operators: [...operators.values()],
      initializers,
      constants,
      intermediateTypes,
    };
  }

  /** Reads the operators that the body of a FunctionProto uses. */
  *readFunctionBody(body: ProtobufField): Reading<readonly OnnxOperatorUse[]> {
    const totals = this.#newTotals();
    const fields = this.#file.fields(body.start, body.end);
    for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
      if (field.number === functionProto.node) yield* this.#node(field, totals, 0);
    }
    return [...totals.operators.values()];
  }

  #newTotals(): GraphAccumulator {
    return { operators: new Map(), initializers: [], constants: this.#constants, intermediateTypes: new Set(), nodes: 0 };
  }

  *#graph(graph: ProtobufField, totals: GraphAccumulator, depth: number): Reading<{ inputs: OnnxValue[]; outputs: OnnxValue[] }> {
    if (depth > maxGraphDepth) throw new Error(`it nests graphs more than ${maxGraphDepth} deep at byte ${graph.start}`);
    const inputs: OnnxValue[] = [];
    const outputs: OnnxValue[] = [];
    const fields = this.#file.fields(graph.start, graph.end);
    for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
      if (field.wireType !== lengthDelimited) continue;
      if (field.number === graphProto.node) yield* this.#node(field, totals, depth);
      else if (field.number === graphProto.initializer) totals.initializers.push(yield* readOnnxTensor(this.#file, field));
      else if (field.number === graphProto.input) inputs.push(yield* readOnnxValue(this.#file, field));
      else if (field.number === graphProto.output) outputs.push(yield* readOnnxValue(this.#file, field));
      else if (field.number === graphProto.valueInfo)
        totals.intermediateTypes.add((yield* readOnnxValue(this.#file, field)).type);
      else if (field.number === graphProto.sparseInitializer) yield* this.#sparse(field, totals.initializers);
    }
    if (depth > 0) for (const { type } of [...inputs, ...outputs]) totals.intermediateTypes.add(type);
    return { inputs, outputs };
  }

  /** Counts the operator of a NodeProto, and reads the tensors and subgraphs of its attributes. */
  *#node(node: ProtobufField, totals: GraphAccumulator, depth: number): Reading<void> {
    let name = "";
    let domain = "";
    const fields = this.#file.fields(node.start, node.end);
    for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
      if (field.number === nodeProto.opType) name = yield* this.#file.text(field);
      else if (field.number === nodeProto.domain) domain = yield* this.#file.text(field);
      else if (field.number === nodeProto.attribute) yield* this.#attribute(field, totals, depth);
    }
    const key = `${domain}:${name}`;
    const before = totals.operators.get(key)?.count ?? 0;
    totals.operators.set(key, { domain: domain || "ai.onnx", name, count: before + 1 });
    totals.nodes += 1;
  }

  /** Reads the tensors and subgraphs of an AttributeProto. */
  *#attribute(attribute: ProtobufField, totals: GraphAccumulator, depth: number): Reading<void> {
    const fields = this.#file.fields(attribute.start, attribute.end);
    for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
      if (field.wireType !== lengthDelimited) continue;
      if (field.number === attributeProto.t || field.number === attributeProto.tensors)
        totals.constants.push(yield* readOnnxTensor(this.#file, field));
      else if (field.number === attributeProto.g || field.number === attributeProto.graphs)
        yield* this.#graph(field, totals, depth + 1);
      else if (field.number === attributeProto.sparseTensor || field.number === attributeProto.sparseTensors)
        yield* this.#sparse(field, totals.constants);
    }
  }

  /** Adds the values of a SparseTensorProto. */
  *#sparse(tensor: ProtobufField, into: OnnxTensorOutline[]): Reading<void> {
    const fields = this.#file.fields(tensor.start, tensor.end);
    for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
      if (field.number === sparseTensorProto.values) into.push(yield* readOnnxTensor(this.#file, field));
    }
  }
}
