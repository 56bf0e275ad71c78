/**
 * Reads the outline of an ONNX file: everything but the elements of its tensors, which are skipped and not read from the disk. The reader of
 * whole models is engine/onnx/read-model.ts; both use the field numbers of onnx-fields.ts and the wire format of protobuf/wire-format.ts.
 */
import { withFileWindow } from "../file-window.ts";
import { OnnxGraphReader } from "./onnx-graph.ts";
import type { OnnxGraphOutline, OnnxOperatorUse } from "./onnx-graph.ts";
import { readOnnxEntry } from "./onnx-tensor.ts";
import { ProtobufFile } from "../protobuf/protobuf-file.ts";
import { lengthDelimited, type ProtobufField } from "../protobuf/wire-format.ts";
import { functionProto, modelProto, operatorSetIdProto } from "./onnx-fields.ts";

/** A function that an ONNX file defines and that its graphs use like an operator. */
export interface OnnxFunctionOutline {
  readonly domain: string;
  readonly name: string;
  /** Operators that its body uses. */
  readonly operators: readonly OnnxOperatorUse[];
  /** Versions of the operator sets that its body uses, by domain; those of the model if it states none. */
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
  /** `metadata_props`: free-form pairs. */
  readonly metadata: ReadonlyMap<string, string>;
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

async function readModel(file: ProtobufFile): Promise<OnnxOutline> {
  const single = new Map<number, ProtobufField>();
  const functions: ProtobufField[] = [];
  const opsets = new Map<string, number>();
  const metadata = new Map<string, string>();
  for await (const field of file.fields(0, file.size)) {
    single.set(field.number, field);
    if (field.number === modelProto.functions) functions.push(field);
    else if (field.number === modelProto.opsetImport) opsets.set(...(await readOpset(file, field)));
    else if (field.number === modelProto.metadataProps) metadata.set(...(await readOnnxEntry(file, field)));
  }
  const graph = single.get(modelProto.graph);
  if (graph?.wireType !== lengthDelimited) throw new Error("it holds no graph");
  // They come last in the file: a file that was cut off between two fields lacks them.
  if (opsets.size === 0) throw new Error("it does not say which operators it uses, so its end is missing");
  const text = async (number: number): Promise<string> => {
    const field = single.get(number);
    return field === undefined ? "" : await file.text(field);
  };
  const reader = new OnnxGraphReader(file);
  const bodies: OnnxFunctionOutline[] = [];
  for (const field of functions) bodies.push(await readFunction(file, field, reader, opsets));
  return {
    irVersion: single.get(modelProto.irVersion)?.value ?? 0,
    producer: await text(modelProto.producerName),
    producerVersion: await text(modelProto.producerVersion),
    opsets,
    metadata,
    functions: bodies,
    graph: await reader.read(graph),
  };
}

/** OperatorSetIdProto. */
async function readOpset(file: ProtobufFile, opset: ProtobufField): Promise<[domain: string, version: number]> {
  let domain = "";
  let version = 0;
  for await (const field of file.fields(opset.start, opset.end)) {
    if (field.number === operatorSetIdProto.domain) domain = await file.text(field);
    else if (field.number === operatorSetIdProto.version) version = field.value;
  }
  return [domain || "ai.onnx", version];
}

/** FunctionProto. */
async function readFunction(
  file: ProtobufFile,
  body: ProtobufField,
  reader: OnnxGraphReader,
  opsets: ReadonlyMap<string, number>,
): Promise<OnnxFunctionOutline> {
  let name = "";
  let domain = "";
  const own = new Map<string, number>();
  for await (const field of file.fields(body.start, body.end)) {
    if (field.number === functionProto.name) name = await file.text(field);
    else if (field.number === functionProto.opsetImport) own.set(...(await readOpset(file, field)));
    else if (field.number === functionProto.domain) domain = await file.text(field);
  }
  const operators = await reader.readFunctionBody(body);
  return { domain: domain || "ai.onnx", name, operators, opsets: own.size > 0 ? own : opsets };
}
