/**
 * Reads the outline of an ONNX file: everything but the elements of its tensors, which are skipped and not read from the disk. The reader of
 * whole models is engine/onnx/read-model.ts; both use the field numbers of onnx-fields.ts and the wire format of protobuf/wire-format.ts.
 */
import { type Reading, withFileWindow } from "../file-window.ts";
import { OnnxGraphReader } from "./onnx-graph.ts";
import type { OnnxGraphOutline, OnnxOperatorUse } from "./onnx-graph.ts";
import { ProtobufFile, type TextStart } from "../protobuf/protobuf-file.ts";
import { lengthDelimited, type ProtobufField } from "../protobuf/wire-format.ts";
import { functionProto, modelProto, operatorSetIdProto, stringStringEntryProto } from "./onnx-fields.ts";

/** A function that an ONNX file defines and that its graphs use like an operator. */
export interface OnnxFunctionOutline {
  readonly domain: string;
  readonly name: string;
  /** Operators that its body uses. */
  readonly operators: readonly OnnxOperatorUse[];
  /** Versions of the operator sets that its body uses, by domain; the model's if it states none. */
  readonly opsets: ReadonlyMap<string, number>;
}

/** An ONNX file without the elements of its tensors: version, opsets, metadata, and the outline of its graph. */
export interface OnnxOutline {
  /** Version of the ONNX file format. */
  readonly irVersion: number;
  /** Name of the program that wrote the file; "" if it is not stated. */
  readonly producer: string;
  readonly producerVersion: string;
  /** Versions of the operator sets, by domain; the standard one is "ai.onnx". */
  readonly opsets: ReadonlyMap<string, number>;
  /** `metadata_props`: free-form pairs. Some programs store whole dictionaries there; the first 16 KiB are read. */
  readonly metadata: ReadonlyMap<string, TextStart>;
  readonly functions: readonly OnnxFunctionOutline[];
  readonly graph: OnnxGraphOutline;
}

/**
 * Reads the outline of the ONNX file at `path`; `displayName` is the path as the user wrote it. Throws MODEL_INVALID if the file cannot be read, is cut off or
 * damaged, or is not an ONNX file, and MODEL_UNSUPPORTED if its header is larger than the limits of `FileWindow`.
 */
export async function readOnnxOutline(path: string, displayName: string): Promise<OnnxOutline> {
  return await withFileWindow(path, displayName, "ONNX", (window) => readModel(new ProtobufFile(window)));
}

function* readModel(file: ProtobufFile): Reading<OnnxOutline> {
  const single = new Map<number, ProtobufField>();
  const functions: ProtobufField[] = [];
  const opsets = new Map<string, number>();
  const metadata = new Map<string, TextStart>();
  const fields = file.fields(0, file.size);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    single.set(field.number, field);
    if (field.number === modelProto.functions) functions.push(field);
    else if (field.number === modelProto.opsetImport) opsets.set(...(yield* readOpset(file, field)));
    else if (field.number === modelProto.metadataProps) metadata.set(...(yield* readMetadata(file, field)));
  }
  const graph = single.get(modelProto.graph);
  if (graph?.wireType !== lengthDelimited) throw new Error("it holds no graph");
  // They come last in the file: a file that was cut off between two fields lacks them.
  if (opsets.size === 0) throw new Error("it does not say which operators it uses, so its end is missing");
  const text = function* (number: number): Reading<string> {
    const field = single.get(number);
    return field === undefined ? "" : yield* file.text(field);
  };
  const reader = new OnnxGraphReader(file);
  const bodies: OnnxFunctionOutline[] = [];
  for (const field of functions) bodies.push(yield* readFunction(file, field, reader, opsets));
  return {
    irVersion: single.get(modelProto.irVersion)?.value ?? 0,
    producer: yield* text(modelProto.producerName),
    producerVersion: yield* text(modelProto.producerVersion),
    opsets,
    metadata,
    functions: bodies,
    graph: yield* reader.read(graph),
  };
}

/** Bytes of a value of the metadata that are read. */
const maxMetadataBytes = 16 * 1024;

/** A StringStringEntryProto of the metadata. */
function* readMetadata(file: ProtobufFile, entry: ProtobufField): Reading<[key: string, value: TextStart]> {
  let key = "";
  let value: TextStart = { value: "", bytes: 0 };
  const fields = file.fields(entry.start, entry.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === stringStringEntryProto.key) key = yield* file.text(field);
    else if (field.number === stringStringEntryProto.value) value = yield* file.textStart(field, maxMetadataBytes);
  }
  return [key, value];
}

/** OperatorSetIdProto. */
function* readOpset(file: ProtobufFile, opset: ProtobufField): Reading<[domain: string, version: number]> {
  let domain = "";
  let version = 0;
  const fields = file.fields(opset.start, opset.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === operatorSetIdProto.domain) domain = yield* file.text(field);
    else if (field.number === operatorSetIdProto.version) version = field.value;
  }
  return [domain || "ai.onnx", version];
}

/** FunctionProto. */
function* readFunction(
  file: ProtobufFile,
  body: ProtobufField,
  reader: OnnxGraphReader,
  opsets: ReadonlyMap<string, number>,
): Reading<OnnxFunctionOutline> {
  let name = "";
  let domain = "";
  const own = new Map<string, number>();
  const fields = file.fields(body.start, body.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === functionProto.name) name = yield* file.text(field);
    else if (field.number === functionProto.opsetImport) own.set(...(yield* readOpset(file, field)));
    else if (field.number === functionProto.domain) domain = yield* file.text(field);
  }
  const operators = yield* reader.readFunctionBody(body);
  return { domain: domain || "ai.onnx", name, operators, opsets: own.size > 0 ? own : opsets };
}
