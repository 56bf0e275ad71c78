/**
 * The outline of an ONNX file: everything it says of itself but the elements of its tensors, which are skipped. The one reader of
 * ONNX files here. Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
 */
import { InferyardError, messageOf } from "../../errors.ts";
import { openFile } from "../../platform/node/files.ts";
import { FileWindow } from "../file-window.ts";
import { modelInvalid, unreadable } from "../../models/model-folder.ts";
import { OnnxGraphReader } from "./onnx-graph.ts";
import type { OnnxGraphOutline, OnnxOperatorUse } from "./onnx-graph.ts";
import { readOnnxEntry } from "./onnx-tensor.ts";
import { type ProtobufField, ProtobufFile } from "../protobuf/protobuf-file.ts";

/** A function the file defines itself, which its graphs use like an operator. */
export interface OnnxFunctionOutline {
  readonly domain: string;
  readonly name: string;
  /** Operators of its body. */
  readonly operators: readonly OnnxOperatorUse[];
  /** Versions its body is written for; the model's own where it names none. */
  readonly opsets: ReadonlyMap<string, number>;
}

export interface OnnxOutline {
  readonly irVersion: number;
  readonly producer: string;
  readonly producerVersion: string;
  /** Versions of operator sets by domain; the standard one is "ai.onnx". */
  readonly opsets: ReadonlyMap<string, number>;
  readonly metadata: ReadonlyMap<string, string>;
  readonly functions: readonly OnnxFunctionOutline[];
  readonly graph: OnnxGraphOutline;
}

/** ModelProto. */
const irVersion = 1;
const producerName = 2;
const producerVersion = 3;
const graphField = 7;
const opsetField = 8;
const metadataField = 14;
const functionField = 25;

/** Reads the outline of a file; MODEL_INVALID when it is cut off, damaged or no ONNX file. `shown` is the path as the user wrote it. */
export async function readOnnxOutline(path: string, shown: string): Promise<OnnxOutline> {
  try {
    const handle = await openFile(path);
    try {
      const { size } = await handle.stat();
      return await readModel(new ProtobufFile(new FileWindow(handle, size, shown)));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    if ((error as NodeJS.ErrnoException).code !== undefined) throw unreadable(shown, error);
    throw modelInvalid(`${shown} is not a whole ONNX file: ${messageOf(error)}`, "download it again", error);
  }
}

async function readModel(file: ProtobufFile): Promise<OnnxOutline> {
  const single = new Map<number, ProtobufField>();
  const functions: ProtobufField[] = [];
  const opsets = new Map<string, number>();
  const metadata = new Map<string, string>();
  for await (const field of file.fields(0, file.size)) {
    single.set(field.number, field);
    if (field.number === functionField) functions.push(field);
    else if (field.number === opsetField) opsets.set(...(await readOpset(file, field)));
    else if (field.number === metadataField) metadata.set(...(await readOnnxEntry(file, field)));
  }
  const graph = single.get(graphField);
  if (graph?.wireType !== 2) throw new Error("it holds no graph");
  // A file that was cut off between two fields of the model lacks them, since they come last.
  if (opsets.size === 0) throw new Error("it does not say which operators it uses, so its end is missing");
  const text = async (number: number): Promise<string> => {
    const field = single.get(number);
    return field === undefined ? "" : await file.text(field);
  };
  const reader = new OnnxGraphReader(file);
  const bodies: OnnxFunctionOutline[] = [];
  for (const field of functions) bodies.push(await readFunction(file, field, reader, opsets));
  return {
    irVersion: single.get(irVersion)?.value ?? 0,
    producer: await text(producerName),
    producerVersion: await text(producerVersion),
    opsets,
    metadata,
    functions: bodies,
    graph: await reader.read(graph),
  };
}

/** OperatorSetIdProto: domain 1, version 2. */
async function readOpset(file: ProtobufFile, opset: ProtobufField): Promise<[domain: string, version: number]> {
  let domain = "";
  let version = 0;
  for await (const field of file.fields(opset.start, opset.end)) {
    if (field.number === 1) domain = await file.text(field);
    else if (field.number === 2) version = field.value;
  }
  return [domain || "ai.onnx", version];
}

/** FunctionProto: name 1, node 7, opset_import 9, domain 10. */
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
    if (field.number === 1) name = await file.text(field);
    else if (field.number === 9) own.set(...(await readOpset(file, field)));
    else if (field.number === 10) domain = await file.text(field);
  }
  const operators = await reader.readFunctionBody(body);
  return { domain: domain || "ai.onnx", name, operators, opsets: own.size > 0 ? own : opsets };
}
