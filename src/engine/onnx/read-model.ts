/** ModelProto and what is in it, read whole into memory. The outline without weights is read by `models/onnx-outline.ts`. */
import { PbfReader } from "pbf";
import { InferyardError, messageOf } from "../../errors.ts";
import { elementCount } from "../../tensor.ts";
import { TraceBudget } from "../build/trace-budget.ts";
import type { LazyStorage } from "../ir/lazy-storage.ts";
import type { Literal } from "../ir/literal.ts";
import type { OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode, OnnxType, OnnxValueInfo } from "./onnx-model.ts";
import { type DetachedModel, detachTensorData } from "../../formats/onnx/detach-tensor-data.ts";
import type { ByteSource } from "../../formats/byte-source.ts";
import { MessageReader } from "../../formats/protobuf/message-reader.ts";
import { type ExternalData, elementTypeOf, readTensor } from "./read-tensor.ts";

export interface ImportedModel {
  readonly model: OnnxModel;
  /** Elements that are still to be read from other files. */
  readonly external: readonly ExternalData[];
  /** Brings into memory what is still in a file and was not packed: the files may be closed then. */
  keep(): void;
}

/**
 * MODEL_INVALID where the bytes are no whole ONNX file; `shown` names the file in messages. The elements of large tensors stay in a file that is
 * given as `ModelBytes`, which must be readable until `keep` was called. `budget` is charged for everything else, before it is unpacked.
 */
export function readOnnxModel(
  file: Uint8Array | ByteSource,
  shown: string,
  budget: TraceBudget = new TraceBudget(),
): ImportedModel {
  try {
    const { bytes, ranges } = file instanceof Uint8Array ? { bytes: file, ranges: undefined } : detachedModel(file);
    return new ModelReader(new MessageReader(new PbfReader(bytes), ranges, budget)).read();
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw new InferyardError("MODEL_INVALID", `${shown} is not a whole ONNX file: ${messageOf(error)}`, {
      remedy: "download it again",
      cause: error,
    });
  }
}

function detachedModel(file: ByteSource): Partial<DetachedModel> & Pick<DetachedModel, "bytes"> {
  try {
    return detachTensorData(file);
  } catch {
    // Its fields do not add up: the reader of the whole says what is wrong.
    const bytes = new Uint8Array(file.size);
    file.read(bytes, 0);
    return { bytes };
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface GraphParts {
  name: string;
  readonly nodes: OnnxNode[];
  readonly initializers: Map<string, Literal>;
  readonly inputs: OnnxValueInfo[];
  readonly outputs: OnnxValueInfo[];
}

interface AttributeParts {
  name: string;
  type: number;
  reference: string;
  float: number;
  int: number;
  text: string;
  tensor?: Literal;
  graph?: OnnxGraph;
  valueType?: OnnxType;
  readonly floats: number[];
  readonly ints: number[];
  readonly texts: string[];
  readonly tensors: Literal[];
  readonly graphs: OnnxGraph[];
}

class ModelReader {
  readonly #reader: MessageReader;
  readonly #external: ExternalData[] = [];
  readonly #held: LazyStorage[] = [];
  #elements = 0;

  constructor(reader: MessageReader) {
    this.#reader = reader;
  }

  read(): ImportedModel {
    const opsets = new Map<string, number>();
    const functions = new Map<string, OnnxFunction>();
    let graph: OnnxGraph | undefined;
    let irVersion = 0;
    this.#reader.whole((field) => {
      if (field === 1) irVersion = this.#reader.integer();
      else if (field === 7) graph = this.#graph();
      else if (field === 8) opsets.set(...this.#opset());
      else if (field === 25) {
        const body = this.#function();
        functions.set(`${body.domain}:${body.name}`, body);
      }
    }, undefined);
    if (graph === undefined) throw new Error("it holds no graph");
    if (opsets.size === 0) throw new Error("it does not say which operators it uses, so its end is missing");
    const keep = (): void => this.#held.forEach((held) => held.loadFromFile());
    return { model: { irVersion, opsets, graph, functions, elementCount: this.#elements }, external: this.#external, keep };
  }

  /** OperatorSetIdProto. "ai.onnx" is another name of the standard domain. */
  #opset(): [domain: string, version: number] {
    const opset: [string, number] = ["", 0];
    this.#reader.message((field) => {
      if (field === 1) opset[0] = normalizeDomain(this.#reader.text());
      else if (field === 2) opset[1] = this.#reader.integer();
    }, undefined);
    return opset;
  }

  #graph(): OnnxGraph {
    const graph: GraphParts = { name: "", nodes: [], initializers: new Map(), inputs: [], outputs: [] };
    this.#reader.message((field) => {
      if (field === 1) graph.nodes.push(this.#node());
      else if (field === 2) graph.name = this.#reader.text();
      else if (field === 5) graph.initializers.set(...this.#tensor());
      else if (field === 11) graph.inputs.push(this.#value());
      else if (field === 12) graph.outputs.push(this.#value());
      else if (field === 15) throw unsupported("sparse initial values");
    }, undefined);
    return graph;
  }

  #tensor(): [name: string, literal: Literal] {
    const { name, literal, external } = readTensor(this.#reader);
    this.#elements += elementCount(literal.shape);
    if (external !== undefined) this.#external.push(external);
    if (literal.storage !== undefined) this.#held.push(literal.storage);
    return [name, literal];
  }

  #node(): OnnxNode {
    const inputs: string[] = [];
    const outputs: string[] = [];
    const attributes = new Map<string, OnnxAttribute>();
    const names = { name: "", operator: "", domain: "" };
    this.#reader.message((field) => {
      if (field === 1) inputs.push(this.#reader.text());
      else if (field === 2) outputs.push(this.#reader.text());
      else if (field === 3) names.name = this.#reader.text();
      else if (field === 4) names.operator = this.#reader.text();
      else if (field === 5) attributes.set(...this.#attribute());
      else if (field === 7) names.domain = normalizeDomain(this.#reader.text());
    }, undefined);
    return { ...names, inputs, outputs, attributes };
  }

  #attribute(): [name: string, attribute: OnnxAttribute] {
    const parts: AttributeParts = {
      name: "",
      type: 0,
      reference: "",
      float: 0,
      int: 0,
      text: "",
      floats: [],
      ints: [],
      texts: [],
      tensors: [],
      graphs: [],
    };
    const seen = new Set<number>();
    this.#reader.message((field) => {
      seen.add(field);
      if (field === 1) parts.name = this.#reader.text();
      else if (field === 2) parts.float = this.#reader.float();
      else if (field === 3) parts.int = this.#reader.integer();
      else if (field === 4) parts.text = this.#reader.text();
      else if (field === 5) [, parts.tensor] = this.#tensor();
      else if (field === 6) parts.graph = this.#graph();
      else if (field === 7) this.#reader.floats(parts.floats);
      else if (field === 8) this.#reader.integers(parts.ints);
      else if (field === 9) parts.texts.push(this.#reader.text());
      else if (field === 10) parts.tensors.push(this.#tensor()[1]);
      else if (field === 11) parts.graphs.push(this.#graph());
      else if (field === 14) parts.valueType = this.#type();
      else if (field === 20) parts.type = this.#reader.integer();
      else if (field === 21) parts.reference = this.#reader.text();
      else if (field === 22 || field === 23) throw unsupported("sparse tensors");
    }, undefined);
    return [parts.name, attributeOf(parts, seen)];
  }

  #value(): OnnxValueInfo {
    const value: Mutable<OnnxValueInfo> = { name: "", type: { kind: "other", name: "unstated" } };
    this.#reader.message((field) => {
      if (field === 1) value.name = this.#reader.text();
      else if (field === 2) value.type = this.#type();
    }, undefined);
    return value;
  }

  /** TypeProto. */
  #type(): OnnxType {
    let type: OnnxType = { kind: "other", name: "unstated" };
    this.#reader.message((field) => {
      if (field === 1) type = this.#tensorType();
      else if (field === 4) type = { kind: "sequence", element: this.#elementType() };
      else if (field === 9) type = { kind: "optional", element: this.#elementType() };
      else if (field === 5) type = { kind: "other", name: "map" };
      else if (field === 8) type = { kind: "other", name: "sparse tensor" };
    }, undefined);
    return type;
  }

  #elementType(): OnnxType {
    let type: OnnxType = { kind: "other", name: "unstated" };
    this.#reader.message((field) => {
      if (field === 1) type = this.#type();
    }, undefined);
    return type;
  }

  #tensorType(): OnnxType {
    let number = 0;
    let shape: (number | string | null)[] | undefined;
    this.#reader.message((field) => {
      if (field === 1) number = this.#reader.integer();
      else if (field === 2) shape = this.#shape();
    }, undefined);
    if (number === 0) return { kind: "other", name: "unstated" };
    return { kind: "tensor", dataType: elementTypeOf(number), ...(shape === undefined ? {} : { shape }) };
  }

  #shape(): (number | string | null)[] {
    const shape: (number | string | null)[] = [];
    this.#reader.message((field) => {
      if (field !== 1) return;
      let size: number | string | null = null;
      this.#reader.message((part) => {
        if (part === 1) size = this.#reader.integer();
        else if (part === 2) size = this.#reader.text() || null;
      }, undefined);
      shape.push(typeof size === "number" && size < 0 ? null : size); // exporters write -1 where they mean free
    }, undefined);
    return shape;
  }

  #function(): OnnxFunction {
    const inputs: string[] = [];
    const outputs: string[] = [];
    const nodes: OnnxNode[] = [];
    const opsets = new Map<string, number>();
    const defaults = new Map<string, OnnxAttribute>();
    const names = { name: "", domain: "" };
    this.#reader.message((field) => {
      if (field === 1) names.name = this.#reader.text();
      else if (field === 4) inputs.push(this.#reader.text());
      else if (field === 5) outputs.push(this.#reader.text());
      else if (field === 7) nodes.push(this.#node());
      else if (field === 9) opsets.set(...this.#opset());
      else if (field === 10) names.domain = normalizeDomain(this.#reader.text());
      else if (field === 11) defaults.set(...this.#attribute());
    }, undefined);
    return { ...names, inputs, outputs, nodes, opsets, defaults };
  }
}

/** The type is stated; files of the first versions leave it out, and then only what is there tells. */
function attributeOf(parts: AttributeParts, seen: ReadonlySet<number>): OnnxAttribute {
  if (parts.reference !== "") return { kind: "reference", value: parts.reference };
  const type = parts.type > 0 ? parts.type : inferredType(seen);
  if (type === 1) return { kind: "float", value: parts.float };
  if (type === 2) return { kind: "int", value: clampToSafeInteger(parts.int) };
  if (type === 3) return { kind: "string", value: parts.text };
  if (type === 4 && parts.tensor !== undefined) return { kind: "tensor", value: parts.tensor };
  if (type === 5 && parts.graph !== undefined) return { kind: "graph", value: parts.graph };
  if (type === 6) return { kind: "floats", value: parts.floats };
  if (type === 7) return { kind: "ints", value: parts.ints.map(clampToSafeInteger) };
  if (type === 8) return { kind: "strings", value: parts.texts };
  if (type === 9) return { kind: "tensors", value: parts.tensors };
  if (type === 10) return { kind: "graphs", value: parts.graphs };
  if (type === 13 && parts.valueType !== undefined) return { kind: "type", value: parts.valueType };
  throw new Error(`the attribute "${parts.name.slice(0, 80)}" holds nothing of the type it states`);
}

/** AttributeProto.AttributeType by the field that holds a value of it. */
const typeByField: ReadonlyMap<number, number> = new Map([
  [2, 1],
  [3, 2],
  [4, 3],
  [5, 4],
  [6, 5],
  [7, 6],
  [8, 7],
  [9, 8],
  [10, 9],
  [11, 10],
  [14, 13],
]);

function inferredType(seen: ReadonlySet<number>): number {
  for (const [field, type] of typeByField) if (seen.has(field)) return type;
  return 0;
}

function clampToSafeInteger(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));
}

function normalizeDomain(domain: string): string {
  return domain === "ai.onnx" ? "" : domain;
}

function unsupported(what: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `the model holds ${what}, which the engine does not read`);
}
