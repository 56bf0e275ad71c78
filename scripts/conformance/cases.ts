/** ONNX conformance cases on disk: a model, and sets of inputs with the outputs that are right (https://github.com/onnx/onnx/tree/main/onnx/backend/test/data). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PbfReader } from "pbf";
import { MessageReader } from "../../src/formats/protobuf/message-reader.ts";
import type { OnnxType } from "../../src/engine/onnx/onnx-model.ts";
import { readTensor, readWholeTensor } from "../../src/engine/onnx/read-tensor.ts";
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
    values.push(readValue(new MessageReader(new PbfReader(readFileSync(path))), type));
  }
  return values;
}

function readValue(reader: MessageReader, type: OnnxType): CaseValue {
  if (type.kind === "sequence") return readSequence(reader, true);
  if (type.kind === "optional") return readOptional(reader);
  return { kind: "tensor", literal: readWholeTensor(reader).literal };
}

/** SequenceProto: elem_type 2, tensor_values 3, sequence_values 5, optional_values 7. */
function readSequence(reader: MessageReader, whole: boolean): CaseValue {
  const items: CaseValue[] = [];
  const read = (field: number): void => {
    if (field === 3) items.push({ kind: "tensor", literal: readTensor(reader).literal });
    else if (field === 5) items.push(readSequence(reader, false));
  };
  if (whole) reader.whole(read, undefined);
  else reader.message(read, undefined);
  return { kind: "sequence", items };
}

/** OptionalProto: elem_type 2, tensor_value 3, sequence_value 5. */
function readOptional(reader: MessageReader): CaseValue {
  let content: CaseValue | undefined;
  reader.whole((field) => {
    if (field === 3) content = { kind: "tensor", literal: readTensor(reader).literal };
    else if (field === 5) content = readSequence(reader, false);
  }, undefined);
  return { kind: "optional", ...(content === undefined ? {} : { content }) };
}
