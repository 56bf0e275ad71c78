/** GraphProto: what an ONNX graph takes, gives and holds, and which operators it uses, subgraphs of If, Loop and Scan included. */
import { type OnnxTensorOutline, readOnnxTensor } from "./onnx-tensor.ts";
import { type OnnxValue, readOnnxValue } from "./onnx-value.ts";
import type { ProtobufField, ProtobufFile } from "../protobuf/protobuf-file.ts";

export interface OnnxOperatorUse {
  /** "ai.onnx" for the standard one. */
  readonly domain: string;
  readonly name: string;
  /** Nodes that use it. */
  readonly count: number;
}

export interface OnnxGraphOutline {
  /** Values a run must be given: those without an initial value. */
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  /** Nodes in all, subgraphs included. */
  readonly nodes: number;
  readonly operators: readonly OnnxOperatorUse[];
  /** Initial values: the weights. Those of subgraphs come along. */
  readonly initializers: readonly OnnxTensorOutline[];
  /** Tensors held in attributes, mostly of Constant nodes, in functions as well. */
  readonly constants: readonly OnnxTensorOutline[];
  /** Types of values the graph states besides its inputs and outputs. */
  readonly intermediateTypes: ReadonlySet<string>;
}

/** What is gathered while graphs are walked. */
interface GraphAccumulator {
  readonly operators: Map<string, OnnxOperatorUse>;
  readonly weights: OnnxTensorOutline[];
  readonly constants: OnnxTensorOutline[];
  readonly innerTypes: Set<string>;
  nodes: number;
}

/** Real models have a handful; a file of subgraphs in subgraphs must not exhaust the stack. */
const maxGraphDepth = 64;
/** No operator and no domain has a longer name. */
const maxNameBytes = 512;

/** GraphProto. */
const node = 1;
const initializer = 5;
const input = 11;
const output = 12;
const valueInfo = 13;
const sparseInitializer = 15;
/** FunctionProto. */
const functionNode = 7;

export class OnnxGraphReader {
  readonly #file: ProtobufFile;
  readonly #constants: OnnxTensorOutline[] = [];

  constructor(file: ProtobufFile) {
    this.#file = file;
  }

  /** The main graph. Constants of the functions read before come along. */
  async read(graph: ProtobufField): Promise<OnnxGraphOutline> {
    const findings = this.#findings();
    const { inputs, outputs } = await this.#graph(graph, findings, 0);
    const { weights: initializers, constants, innerTypes: intermediateTypes, nodes, operators } = findings;
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

  /** The operators of a FunctionProto. */
  async readFunctionBody(body: ProtobufField): Promise<readonly OnnxOperatorUse[]> {
    const findings = this.#findings();
    for await (const field of this.#file.fields(body.start, body.end)) {
      if (field.number === functionNode) await this.#node(field, findings, 0);
    }
    return [...findings.operators.values()];
  }

  #findings(): GraphAccumulator {
    return { operators: new Map(), weights: [], constants: this.#constants, innerTypes: new Set(), nodes: 0 };
  }

  async #graph(
    graph: ProtobufField,
    findings: GraphAccumulator,
    depth: number,
  ): Promise<{ inputs: OnnxValue[]; outputs: OnnxValue[] }> {
    if (depth > maxGraphDepth) throw new Error(`it nests graphs more than ${maxGraphDepth} deep at byte ${graph.start}`);
    const inputs: OnnxValue[] = [];
    const outputs: OnnxValue[] = [];
    for await (const field of this.#file.fields(graph.start, graph.end)) {
      if (field.wireType !== 2) continue;
      if (field.number === node) await this.#node(field, findings, depth);
      else if (field.number === initializer) findings.weights.push(await readOnnxTensor(this.#file, field));
      else if (field.number === input) inputs.push(await readOnnxValue(this.#file, field));
      else if (field.number === output) outputs.push(await readOnnxValue(this.#file, field));
      else if (field.number === valueInfo) findings.innerTypes.add((await readOnnxValue(this.#file, field)).type);
      else if (field.number === sparseInitializer) await this.#sparse(field, findings.weights);
    }
    if (depth > 0) for (const { type } of [...inputs, ...outputs]) findings.innerTypes.add(type);
    return { inputs, outputs };
  }

  /** NodeProto: op_type 4, attribute 5, domain 7. */
  async #node(node: ProtobufField, findings: GraphAccumulator, depth: number): Promise<void> {
    let name = "";
    let domain = "";
    for await (const field of this.#file.fields(node.start, node.end)) {
      if (field.number === 4) name = await this.#name(field);
      else if (field.number === 7) domain = await this.#name(field);
      else if (field.number === 5) await this.#attribute(field, findings, depth);
    }
    const key = `${domain}:${name}`;
    const before = findings.operators.get(key)?.count ?? 0;
    findings.operators.set(key, { domain: domain || "ai.onnx", name, count: before + 1 });
    findings.nodes += 1;
  }

  /** AttributeProto: t 5, g 6, tensors 10, graphs 11, sparse_tensor 22, sparse_tensors 23. */
  async #attribute(attribute: ProtobufField, findings: GraphAccumulator, depth: number): Promise<void> {
    for await (const field of this.#file.fields(attribute.start, attribute.end)) {
      if (field.wireType !== 2) continue;
      if (field.number === 5 || field.number === 10) findings.constants.push(await readOnnxTensor(this.#file, field));
      else if (field.number === 6 || field.number === 11) await this.#graph(field, findings, depth + 1);
      else if (field.number === 22 || field.number === 23) await this.#sparse(field, findings.constants);
    }
  }

  /** SparseTensorProto: its values 1 are what it holds. */
  async #sparse(tensor: ProtobufField, into: OnnxTensorOutline[]): Promise<void> {
    for await (const field of this.#file.fields(tensor.start, tensor.end)) {
      if (field.number === 1) into.push(await readOnnxTensor(this.#file, field));
    }
  }

  async #name(field: ProtobufField): Promise<string> {
    if (field.end - field.start > maxNameBytes) throw new Error(`it has an operator's name of more than ${maxNameBytes} bytes`);
    return await this.#file.text(field);
  }
}
