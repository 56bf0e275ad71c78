/** Reads complete ONNX models. `formats/onnx/onnx-outline.ts` reads the outline without tensor data, from the same messages. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { TraceBudget } from "../build/trace-budget.ts";
import type { LazyStorage } from "../ir/lazy-storage.ts";
import type { OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode, OnnxType, OnnxValueInfo } from "./onnx-model.ts";
import { type ByteSource, toByteSource } from "../../formats/byte-source.ts";
import { FileWindow } from "../../formats/file-window.ts";
import { parseError } from "../../formats/format-errors.ts";
import { type OnnxMessage, type OnnxModelMessage, readOnnxMessages } from "../../formats/onnx/onnx-messages.ts";
import { toOnnxShape } from "../../formats/onnx/onnx-value.ts";
import { withBlockWeights } from "./block-weights.ts";
import { type ExternalData, TensorReader, toElementType } from "./read-tensor.ts";

/** A parsed ONNX model together with those tensors whose data is in other files and has not been read. */
export interface ImportedModel {
  readonly model: OnnxModel;
  /** External data, which the caller must supply before the tensors are used. */
  readonly external: readonly ExternalData[];
  /** Loads the data that is still in files and has not been packed. The files may be closed afterwards. */
  loadRemaining(): void;
}

/**
 * Reads an ONNX model; `displayName` is the path of the file for messages. The data of large tensors stays in the file, which must be
 * readable until `loadRemaining` is called. `budget` is charged for everything else before it is unpacked. Throws MODEL_INVALID if the bytes are not a complete ONNX
 * file, MODEL_UNSUPPORTED for sparse tensors, and errors of the budget.
 */
export function readOnnxModel(
  file: Uint8Array | ByteSource,
  displayName: string,
  budget: TraceBudget = new TraceBudget(),
): ImportedModel {
  const source = file instanceof Uint8Array ? toByteSource(file) : file;
  const window = new FileWindow(source.size, displayName, budget);
  try {
    return new ModelImport(new TensorReader(source, window)).model(window.runNow(readOnnxMessages(window), source));
  } catch (error) {
    throw parseError(displayName, "ONNX", error);
  }
}

/** Converts the messages of one ONNX file. */
class ModelImport {
  readonly #tensors: TensorReader;

  constructor(tensors: TensorReader) {
    this.#tensors = tensors;
  }

  model(message: OnnxModelMessage): ImportedModel {
    const read = this.#graph(message.graph);
    const functions = new Map(
      message.functions.map((each) => [`${normalizeDomain(each.domain)}:${each.name}`, this.#function(each)]),
    );
    const { external, stored, elements } = this.#tensors;
    const packed = withBlockWeights(read);
    const held = stored.filter((storage) => !isReplaced(storage, read, packed));
    const loadRemaining = (): void => {
      // The blocks are put together from initializers that are still in the file.
      for (const { storage } of packed.initializers.values()) if (storage?.blocks !== undefined) storage.loadFromFile();
      held.forEach((storage) => storage.loadFromFile());
    };
    const { irVersion } = message;
    const model = { irVersion, opsets: toOpsets(message.opsets), graph: packed, functions, elementCount: elements };
    return { model, external, loadRemaining };
  }

  #graph({ name, nodes, initializers, inputs, outputs, sparseInitializers }: OnnxMessage<"graph">): OnnxGraph {
    if (sparseInitializers.length > 0) throw unsupported("sparse initializers");
    return {
      name,
      nodes: nodes.map((node) => this.#node(node)),
      initializers: new Map(initializers.map((tensor) => [tensor.name, this.#tensors.read(tensor)])),
      inputs: inputs.map(toValueInfo),
      outputs: outputs.map(toValueInfo),
    };
  }

  #node({ name, operator, domain, inputs, outputs, attributes }: OnnxMessage<"node">): OnnxNode {
    return { name, operator, domain: normalizeDomain(domain), inputs, outputs, attributes: this.#attributes(attributes) };
  }

  #attributes(attributes: readonly OnnxMessage<"attribute">[]): ReadonlyMap<string, OnnxAttribute> {
    return new Map(attributes.map((attribute) => [attribute.name, this.#attribute(attribute)]));
  }

  /** The attribute with its kind. Files of the first versions do not state the type; it then follows from the field that is present. */
  #attribute(attribute: OnnxMessage<"attribute">): OnnxAttribute {
    const { reference, tensor, graph, valueType, sparseTensor, sparseTensors } = attribute;
    if (sparseTensor !== undefined || sparseTensors.length > 0) throw unsupported("sparse tensors");
    if (reference !== "") return { kind: "reference", value: reference };
    const type = attribute.type > 0 ? attribute.type : inferredType(attribute);
    const tensors = this.#tensors;
    if (type === 1) return { kind: "float", value: tensors.floats(attribute.float).at(-1) ?? 0 };
    if (type === 2) return { kind: "int", value: clampToSafeInteger(attribute.int.at(-1) ?? 0) };
    if (type === 3) return { kind: "string", value: tensors.texts(attribute.text).at(-1) ?? "" };
    if (type === 4 && tensor !== undefined) return { kind: "tensor", value: tensors.read(tensor) };
    if (type === 5 && graph !== undefined) return { kind: "graph", value: this.#graph(graph) };
    if (type === 6) return { kind: "floats", value: Array.from(tensors.floats(attribute.floats)) };
    if (type === 7) return { kind: "ints", value: tensors.integers(attribute.ints).map(clampToSafeInteger) };
    if (type === 8) return { kind: "strings", value: tensors.texts(attribute.texts) };
    if (type === 9) return { kind: "tensors", value: attribute.tensors.map((each) => tensors.read(each)) };
    if (type === 10) return { kind: "graphs", value: attribute.graphs.map((each) => this.#graph(each)) };
    if (type === 13 && valueType !== undefined) return { kind: "type", value: toOnnxType(valueType) };
    throw new Error(`the attribute "${attribute.name.slice(0, 80)}" holds nothing of the type it states`);
  }

  #function(message: OnnxMessage<"function">): OnnxFunction {
    const { name, inputs, outputs } = message;
    return {
      name,
      domain: normalizeDomain(message.domain),
      inputs,
      outputs,
      nodes: message.nodes.map((node) => this.#node(node)),
      opsets: toOpsets(message.opsets),
      defaults: this.#attributes(message.defaults),
    };
  }
}

/** Fields of AttributeProto that hold values, with the number of their type in AttributeProto.AttributeType. */
const valueFields = [
  ["float", 1],
  ["int", 2],
  ["text", 3],
  ["tensor", 4],
  ["graph", 5],
  ["floats", 6],
  ["ints", 7],
  ["texts", 8],
  ["tensors", 9],
  ["graphs", 10],
  ["valueType", 13],
] as const;

function inferredType(attribute: OnnxMessage<"attribute">): number {
  const present = valueFields.find(([field]) => {
    const value = attribute[field];
    return value !== undefined && (!("length" in value) || value.length > 0);
  });
  return present?.[1] ?? 0;
}

function toValueInfo({ name, type }: OnnxMessage<"value">): OnnxValueInfo {
  return { name, type: toOnnxType(type) };
}

function toOnnxType(type: OnnxMessage<"type"> | undefined): OnnxType {
  const { element = 0, shape } = type?.tensor ?? {};
  if (element !== 0) return { kind: "tensor", dataType: toElementType(element), ...omitUndefined({ shape: toOnnxShape(shape) }) };
  if (type?.sequence !== undefined) return { kind: "sequence", element: toOnnxType(type.sequence.element) };
  if (type?.optional !== undefined) return { kind: "optional", element: toOnnxType(type.optional.element) };
  if (type?.map !== undefined) return { kind: "other", name: "map" };
  return { kind: "other", name: type?.sparse === undefined ? "unstated" : "sparse tensor" };
}

/** Versions of operator sets by domain. "ai.onnx" is another name of the standard domain. */
function toOpsets(opsets: readonly OnnxMessage<"opset">[]): ReadonlyMap<string, number> {
  return new Map(opsets.map(({ domain, version }) => [normalizeDomain(domain), version]));
}

/** Whether a tensor of the graph became part of other constants. */
function isReplaced(storage: LazyStorage, before: OnnxGraph, after: OnnxGraph): boolean {
  if (before === after) return false;
  const has = ({ initializers }: OnnxGraph): boolean => [...initializers.values()].some((each) => each.storage === storage);
  return has(before) && !has(after);
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
