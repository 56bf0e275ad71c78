/**
 * What an ONNX file says of its weights, found without loading them: the precision most of their bytes have, and the files
 * beside it that hold them. Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
 */
import { open } from "node:fs/promises";
import type { Precision } from "../backend.ts";
import { messageOf } from "../errors.ts";
import { modelInvalid, unreadable } from "./model-folder.ts";
import { ProtobufFile } from "./protobuf.ts";
import type { Field } from "./protobuf.ts";

export interface OnnxFacts {
  /** Left out for graphs without weights, or of types that have no name here. */
  readonly precision?: Precision;
  /** Files with weights, as the graph names them, and how long each must be at least. */
  readonly externalFiles: ReadonlyMap<string, number>;
}

/** ModelProto.graph and opset_import, GraphProto.initializer; of TensorProto: dims, data_type, external_data. */
const modelGraph = 7;
const modelOperators = 8;
const graphInitializer = 5;
const tensorDims = 1;
const tensorType = 2;
const tensorExternal = 13;

/** TensorProto.DataType: precision and bits of one element. */
const types: ReadonlyMap<number, { precision: Precision; bits: number }> = new Map([
  [1, { precision: "fp32", bits: 32 }],
  [2, { precision: "int8", bits: 8 }],
  [3, { precision: "int8", bits: 8 }],
  [10, { precision: "fp16", bits: 16 }],
  [16, { precision: "bf16", bits: 16 }],
  [21, { precision: "int4", bits: 4 }],
  [22, { precision: "int4", bits: 4 }],
]);

/** Reads the outline of the file; MODEL_INVALID when it is cut off, damaged or no ONNX file. */
export async function inspectOnnx(path: string, shown: string): Promise<OnnxFacts> {
  const bits = new Map<Precision, number>();
  const externalFiles = new Map<string, number>();
  try {
    const handle = await open(path);
    try {
      const { size } = await handle.stat();
      const file = new ProtobufFile(handle, size);
      const graph = await findGraph(file);
      for await (const field of file.fields(graph.start, graph.end)) {
        if (field.number === graphInitializer && field.wireType === 2) await readWeight(file, field, bits, externalFiles);
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) throw unreadable(shown, error);
    throw modelInvalid(`${shown} is not a whole ONNX file: ${messageOf(error)}`, "download it again", error);
  }
  const [most] = [...bits].sort(([, a], [, b]) => b - a);
  return { externalFiles, ...(most === undefined ? {} : { precision: most[0] }) };
}

/** A file that was cut off between two fields of the model lacks one of these. */
async function findGraph(file: ProtobufFile): Promise<Field> {
  const found = new Map<number, Field>();
  for await (const field of file.fields(0, file.size)) found.set(field.number, field);
  const graph = found.get(modelGraph);
  if (graph?.wireType !== 2) throw new Error("it holds no graph");
  if (!found.has(modelOperators)) throw new Error("it does not say which operators it uses, so its end is missing");
  return graph;
}

async function readWeight(
  file: ProtobufFile,
  tensor: Field,
  bits: Map<Precision, number>,
  externalFiles: Map<string, number>,
): Promise<void> {
  let elements = 1;
  let type = 0;
  const external = new Map<string, string>();
  for await (const field of file.fields(tensor.start, tensor.end)) {
    if (field.number === tensorDims) for (const dimension of await file.numbers(field)) elements *= dimension;
    else if (field.number === tensorType) type = field.value;
    else if (field.number === tensorExternal) external.set(...(await readEntry(file, field)));
  }
  const known = types.get(type);
  if (known !== undefined) bits.set(known.precision, (bits.get(known.precision) ?? 0) + elements * known.bits);
  const location = external.get("location");
  if (location === undefined) return;
  const needed = Number(external.get("offset") ?? 0) + Number(external.get("length") ?? 0);
  externalFiles.set(location, Math.max(needed, externalFiles.get(location) ?? 0));
}

/** StringStringEntryProto: key 1, value 2. */
async function readEntry(file: ProtobufFile, entry: Field): Promise<[string, string]> {
  const parts = ["", ""];
  for await (const field of file.fields(entry.start, entry.end)) {
    if (field.number === 1 || field.number === 2) parts[field.number - 1] = await file.text(field);
  }
  const [key = "", value = ""] = parts;
  return [key, value];
}
