/** ONNX conformance cases on disk: a model, and sets of inputs with the outputs that are right (https://github.com/onnx/onnx/tree/main/onnx/backend/test/data). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toByteSource } from "../../src/formats/byte-source.ts";
import { FileWindow } from "../../src/formats/file-window.ts";
import { onnxMessages } from "../../src/formats/onnx/onnx-messages.ts";
import { type MessageOf, MessageReader } from "../../src/formats/protobuf/message-reader.ts";
import type { OnnxType } from "../../src/engine/onnx/onnx-model.ts";
import { TensorReader } from "../../src/engine/onnx/read-tensor.ts";
import type { CaseValue } from "./values.ts";

export interface ConformanceCase {
  /** Folder and name: "node/test_abs". */
  readonly name: string;
  readonly folder: string;
  readonly modelPath: string;
}

/** Every folder below `data` that holds a model and at least one set of test data. */
export function findCases(data: string): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const visit = (folder: string, name: string): void => {
    const modelPath = join(folder, "model.onnx");
    if (existsSync(modelPath)) {
      cases.push({ name, folder, modelPath });
      return;
    }
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) visit(join(folder, entry.name), name === "" ? entry.name : `${name}/${entry.name}`);
    }
  };
  visit(data, "");
  return cases.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Folders of test data of a case. */
export function dataSets({ folder }: ConformanceCase): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith("test_data_set"))
    .map((name) => join(folder, name))
    .toSorted();
}

/** The values of `input_0.pb`, `input_1.pb`, ... or of outputs; one that is missing ends the list. */
export function readValues(folder: string, kind: "input" | "output", types: readonly OnnxType[]): readonly CaseValue[] {
  const values: CaseValue[] = [];
  for (const [index, type] of types.entries()) {
    const path = join(folder, `${kind}_${index}.pb`);
    if (!existsSync(path)) break;
    values.push(readValue(readFileSync(path), type));
  }
  return values;
}

/** Messages of test data beside those of models (onnx.proto3 and onnx-data.proto3). */
const caseMessages = {
  ...onnxMessages,
  sequence: { tensors: [3, "messages", "tensor"], sequences: [5, "messages", "sequence"] },
  optional: { tensor: [3, "message", "tensor"], sequence: [5, "message", "sequence"] },
} as const;

function readValue(bytes: Uint8Array, type: OnnxType): CaseValue {
  const source = toByteSource(bytes);
  const window = new FileWindow(bytes.length, "a value");
  const messages = new MessageReader(window, caseMessages);
  const tensors = new TensorReader(source, window);
  if (type.kind === "sequence") return toSequence(window.runNow(messages.read("sequence"), source), tensors);
  if (type.kind !== "optional") return { kind: "tensor", literal: tensors.read(window.runNow(messages.read("tensor"), source)) };
  const { tensor, sequence } = window.runNow(messages.read("optional"), source);
  if (tensor !== undefined) return { kind: "optional", content: { kind: "tensor", literal: tensors.read(tensor) } };
  return { kind: "optional", ...(sequence === undefined ? {} : { content: toSequence(sequence, tensors) }) };
}

function toSequence(message: MessageOf<typeof caseMessages, "sequence">, tensors: TensorReader): CaseValue {
  const items = message.tensors.map((tensor): CaseValue => ({ kind: "tensor", literal: tensors.read(tensor) }));
  return { kind: "sequence", items: [...items, ...message.sequences.map((inner) => toSequence(inner, tensors))] };
}
