/** Reads complete ONNX models into memory. `formats/onnx/onnx-outline.ts` reads the outline without tensor data. */
import { PbfReader } from "pbf";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { elementCount } from "../../contract/tensor.ts";
import { TraceBudget } from "../build/trace-budget.ts";
import type { LazyStorage } from "../ir/lazy-storage.ts";
import type { Literal } from "../ir/literal.ts";
import type { OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode, OnnxType, OnnxValueInfo } from "./onnx-model.ts";
import { type DetachedModel, detachTensorData } from "../../formats/onnx/detach-tensor-data.ts";
import type { ByteSource } from "../../formats/byte-source.ts";
import {
  attributeProto,
  dimensionProto,
  elementTypeProto,
  functionProto,
  graphProto,
  modelProto,
  nodeProto,
  operatorSetIdProto,
  tensorShapeProto,
  tensorTypeProto,
  typeProto,
  valueInfoProto,
} from "../../formats/onnx/onnx-fields.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { MessageReader } from "../../formats/protobuf/message-reader.ts";
import { withBlockWeights } from "./block-weights.ts";
import { type ExternalData, toElementType, readTensor } from "./read-tensor.ts";

/** A parsed ONNX model together with those tensors whose data is in other files and has not been read. */
export interface ImportedModel {
  readonly model: OnnxModel;
  /** External data, which the caller must supply before the tensors are used. */
  readonly external: readonly ExternalData[];
  /** Loads the data that is still in files and has not been packed. The files may be closed afterwards. */
  loadRemaining(): void;
}

/**
 * Reads an ONNX model; `displayName` is the path of the file for messages. With a `ByteSource`, the data of large tensors stays in the file, which must be
 * readable until `keep` is called. `budget` is charged for everything else before it is unpacked. Throws MODEL_INVALID if the bytes are not a complete ONNX
 * file, MODEL_UNSUPPORTED for sparse tensors, and errors of the budget.
 */
export function readOnnxModel(
  file: Uint8Array | ByteSource,
  displayName: string,
  budget: TraceBudget = new TraceBudget(),
): ImportedModel {
  try {
    const { bytes, ranges } = file instanceof Uint8Array ? { bytes: file, ranges: undefined } : detachedModel(file);
    return new ModelReader(new MessageReader(new PbfReader(bytes), ranges, budget)).read();
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw modelInvalid(`${displayName} is not a whole ONNX file: ${getMessage(error)}`, "download it again", error);
  }
}

function detachedModel(file: ByteSource): Partial<DetachedModel> & Pick<DetachedModel, "bytes"> {
  try {
    return detachTensorData(file);
  } catch {
    // The fields do not fit together. Reading the whole file says what is wrong.
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
      if (field === modelProto.irVersion) irVersion = this.#reader.integer();
      else if (field === modelProto.graph) graph = this.#graph();
      else if (field === modelProto.opsetImport) opsets.set(...this.#opset());
      else if (field === modelProto.functions) {
        const body = this.#function();
        functions.set(`${body.domain}:${body.name}`, body);
      }
    }, undefined);
    if (graph === undefined) throw new Error("it holds no graph");
    if (opsets.size === 0) throw new Error("it does not say which operators it uses, so its end is missing");
    const read = graph;
    const packed = withBlockWeights(read);
    const held = this.#held.filter((storage) => !isReplaced(storage, read, packed));
    const loadRemaining = (): void => {
      // The blocks are put together from initializers that are still in the file.
      for (const { storage } of packed.initializers.values()) if (storage?.blocks !== undefined) storage.loadFromFile();
      held.forEach((storage) => storage.loadFromFile());
    };
    return {
      model: { irVersion, opsets, graph: packed, functions, elementCount: this.#elements },
      external: this.#external,
      loadRemaining,
    };
  }

  /** OperatorSetIdProto. "ai.onnx" is another name of the standard domain. */
  #opset(): [domain: string, version: number] {
    const opset: [string, number] = ["", 0];
    this.#reader.message((field) => {
      if (field === operatorSetIdProto.domain) opset[0] = normalizeDomain(this.#reader.text());
      else if (field === operatorSetIdProto.version) opset[1] = this.#reader.integer();
    }, undefined);
    return opset;
  }

  #graph(): OnnxGraph {
    const graph: GraphParts = { name: "", nodes: [], initializers: new Map(), inputs: [], outputs: [] };
    this.#reader.message((field) => {
      if (field === graphProto.node) graph.nodes.push(this.#node());
      else if (field === graphProto.name) graph.name = this.#reader.text();
      else if (field === graphProto.initializer) graph.initializers.set(...this.#tensor());
      else if (field === graphProto.input) graph.inputs.push(this.#value());
      else if (field === graphProto.output) graph.outputs.push(this.#value());
      else if (field === graphProto.sparseInitializer) throw unsupported("sparse initializers");
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
      if (field === nodeProto.input) inputs.push(this.#reader.text());
      else if (field === nodeProto.output) outputs.push(this.#reader.text());
      else if (field === nodeProto.name) names.name = this.#reader.text();
      else if (field === nodeProto.opType) names.operator = this.#reader.text();
      else if (field === nodeProto.attribute) attributes.set(...this.#attribute());
      else if (field === nodeProto.domain) names.domain = normalizeDomain(this.#reader.text());
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
      if (field === attributeProto.name) parts.name = this.#reader.text();
      else if (field === attributeProto.f) parts.float = this.#reader.float();
      else if (field === attributeProto.i) parts.int = this.#reader.integer();
      else if (field === attributeProto.s) parts.text = this.#reader.text();
      else if (field === attributeProto.t) [, parts.tensor] = this.#tensor();
      else if (field === attributeProto.g) parts.graph = this.#graph();
      else if (field === attributeProto.floats) this.#reader.floats(parts.floats);
      else if (field === attributeProto.ints) this.#reader.integers(parts.ints);
      else if (field === attributeProto.strings) parts.texts.push(this.#reader.text());
      else if (field === attributeProto.tensors) parts.tensors.push(this.#tensor()[1]);
      else if (field === attributeProto.graphs) parts.graphs.push(this.#graph());
      else if (field === attributeProto.typeProto) parts.valueType = this.#type();
      else if (field === attributeProto.type) parts.type = this.#reader.integer();
      else if (field === attributeProto.refAttrName) parts.reference = this.#reader.text();
      else if (field === attributeProto.sparseTensor || field === attributeProto.sparseTensors)
        throw unsupported("sparse tensors");
    }, undefined);
    return [parts.name, getAttribute(parts, seen)];
  }

  #value(): OnnxValueInfo {
    const value: Mutable<OnnxValueInfo> = { name: "", type: { kind: "other", name: "unstated" } };
    this.#reader.message((field) => {
      if (field === valueInfoProto.name) value.name = this.#reader.text();
      else if (field === valueInfoProto.type) value.type = this.#type();
    }, undefined);
    return value;
  }

  /** TypeProto. */
  #type(): OnnxType {
    let type: OnnxType = { kind: "other", name: "unstated" };
    this.#reader.message((field) => {
      if (field === typeProto.tensorType) type = this.#tensorType();
      else if (field === typeProto.sequenceType) type = { kind: "sequence", element: this.#elementType() };
      else if (field === typeProto.optionalType) type = { kind: "optional", element: this.#elementType() };
      else if (field === typeProto.mapType) type = { kind: "other", name: "map" };
      else if (field === typeProto.sparseTensorType) type = { kind: "other", name: "sparse tensor" };
    }, undefined);
    return type;
  }

  #elementType(): OnnxType {
    let type: OnnxType = { kind: "other", name: "unstated" };
    this.#reader.message((field) => {
      if (field === elementTypeProto.elemType) type = this.#type();
    }, undefined);
    return type;
  }

  #tensorType(): OnnxType {
    let number = 0;
    let shape: (number | string | null)[] | undefined;
    this.#reader.message((field) => {
      if (field === tensorTypeProto.elemType) number = this.#reader.integer();
      else if (field === tensorTypeProto.shape) shape = this.#shape();
    }, undefined);
    if (number === 0) return { kind: "other", name: "unstated" };
    return { kind: "tensor", dataType: toElementType(number), ...omitUndefined({ shape }) };
  }

  #shape(): (number | string | null)[] {
    const shape: (number | string | null)[] = [];
    this.#reader.message((field) => {
      if (field !== tensorShapeProto.dim) return;
      let size: number | string | null = null;
      this.#reader.message((part) => {
        if (part === dimensionProto.dimValue) size = this.#reader.integer();
        else if (part === dimensionProto.dimParam) size = this.#reader.text() || null;
      }, undefined);
      shape.push(typeof size === "number" && size < 0 ? null : size); // some exporters write -1 for a free dimension
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
      if (field === functionProto.name) names.name = this.#reader.text();
      else if (field === functionProto.input) inputs.push(this.#reader.text());
      else if (field === functionProto.output) outputs.push(this.#reader.text());
      else if (field === functionProto.node) nodes.push(this.#node());
      else if (field === functionProto.opsetImport) opsets.set(...this.#opset());
      else if (field === functionProto.domain) names.domain = normalizeDomain(this.#reader.text());
      else if (field === functionProto.attributeProto) defaults.set(...this.#attribute());
    }, undefined);
    return { ...names, inputs, outputs, nodes, opsets, defaults };
  }
}

/** Whether a tensor of the graph became part of other constants. */
function isReplaced(storage: LazyStorage, before: OnnxGraph, after: OnnxGraph): boolean {
  if (before === after) return false;
  const has = ({ initializers }: OnnxGraph): boolean => [...initializers.values()].some((each) => each.storage === storage);
  return has(before) && !has(after);
}

/** The attribute with its kind. Files of the first versions do not state the type; it then follows from the field that is present. */
function getAttribute(parts: AttributeParts, seen: ReadonlySet<number>): OnnxAttribute {
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

/** AttributeProto.AttributeType by the field that holds its value. */
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
