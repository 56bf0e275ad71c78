/** Writes ONNX models: the inverse of `read-model.ts`. */
import { InferyardError } from "../../contract/errors.ts";
import { elementTypes } from "../ir/element-types.ts";
import { type Literal, toStrings } from "../ir/literal.ts";
import { onnxTypeNumber } from "../../formats/onnx/onnx-types.ts";
import {
  bytesField,
  countBytes,
  type MessageFields,
  floatField,
  integerField,
  messageField,
  stringField,
} from "../../formats/protobuf/message-writer.ts";
import type { OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode, OnnxType, OnnxValueInfo } from "./onnx-model.ts";

/** Largest message that readers of protobuf accept, in bytes. */
const maxFileBytes = 2 ** 31 - 1;

/** What is written of a model beside its graph. */
export interface ModelOrigin {
  readonly producer: string;
  readonly version: string;
}

/**
 * The bytes of an ONNX file with this model, as chunks in order. Elements of initializers are not copied. Intermediate types are left out: readers infer them. Throws
 * MODEL_UNSUPPORTED for a file of 2 GiB or more, and for types that ONNX files cannot state.
 */
export function writeOnnxModel(
  { irVersion, opsets, graph, functions }: OnnxModel,
  { producer, version }: ModelOrigin,
): MessageFields {
  const sets = [...opsets].map(([domain, number]) => opsetFields(8, domain, number));
  const fields = [
    integerField(1, irVersion),
    stringField(2, producer),
    stringField(3, version),
    messageField(7, ...graphFields(graph)),
    ...sets,
    ...[...functions.values()].map(functionFields),
  ].flat();
  const bytes = countBytes(fields);
  if (bytes > maxFileBytes)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the model takes ${bytes} bytes, and an ONNX file holds at most ${maxFileBytes}`,
    );
  return fields;
}

function opsetFields(number: number, domain: string, version: number): MessageFields {
  return messageField(number, ...(domain === "" ? [] : [stringField(1, domain)]), integerField(2, version));
}

function functionFields({ domain, name, inputs, outputs, nodes, opsets, defaults }: OnnxFunction): MessageFields {
  return messageField(
    25,
    stringField(1, name),
    ...inputs.map((each) => stringField(4, each)),
    ...outputs.map((each) => stringField(5, each)),
    ...nodes.map((node) => nodeFields(node, 7)),
    ...[...opsets].map(([each, version]) => opsetFields(9, each, version)),
    stringField(10, domain),
    ...[...defaults].map(([each, attribute]) => attributeFields(11, each, attribute)),
  );
}

function graphFields({ name, nodes, initializers, inputs, outputs }: OnnxGraph): readonly MessageFields[] {
  return [
    ...nodes.map((node) => nodeFields(node, 1)),
    stringField(2, name === "" ? "graph" : name),
    ...[...initializers].map(([each, literal]) => messageField(5, ...tensorFields(literal, each))),
    ...inputs.map((each) => valueFields(11, each)),
    ...outputs.map((each) => valueFields(12, each)),
  ];
}

/** A node in a field of this number: 1 of a graph, 7 of a function. */
function nodeFields({ name, domain, operator, inputs, outputs, attributes }: OnnxNode, field: number): MessageFields {
  return messageField(
    field,
    ...inputs.map((each) => stringField(1, each)),
    ...outputs.map((each) => stringField(2, each)),
    ...(name === "" ? [] : [stringField(3, name)]),
    stringField(4, operator),
    ...[...attributes].map(([each, attribute]) => attributeFields(5, each, attribute)),
    ...(domain === "" ? [] : [stringField(7, domain)]),
  );
}

function attributeFields(field: number, name: string, attribute: OnnxAttribute): MessageFields {
  return messageField(field, stringField(1, name), ...attributeValue(attribute));
}

/** The fields with the value of an attribute and the number of its kind. */
function attributeValue({ kind, value }: OnnxAttribute): readonly MessageFields[] {
  const typed = (number: number, ...fields: readonly MessageFields[]): readonly MessageFields[] => [
    ...fields,
    integerField(20, number),
  ];
  switch (kind) {
    case "float":
      return typed(1, floatField(2, value));
    case "int":
      return typed(2, integerField(3, value));
    case "string":
      return typed(3, stringField(4, value));
    case "tensor":
      return typed(4, messageField(5, ...tensorFields(value, "")));
    case "graph":
      return typed(5, messageField(6, ...graphFields(value)));
    case "floats":
      return typed(6, ...value.map((each) => floatField(7, each)));
    case "ints":
      return typed(7, ...value.map((each) => integerField(8, each)));
    case "strings":
      return typed(8, ...value.map((each) => stringField(9, each)));
    case "tensors":
      return typed(9, ...value.map((each) => messageField(10, ...tensorFields(each, ""))));
    case "graphs":
      return typed(10, ...value.map((each) => messageField(11, ...graphFields(each))));
    case "type":
      return typed(13, messageField(14, typeFields(value)));
    case "reference":
      return [stringField(21, value)];
  }
  return attributeIsNever(kind);
}

function attributeIsNever(kind: never): never {
  throw new TypeError(`an attribute of the kind ${String(kind)} cannot be written`);
}

function tensorFields(literal: Literal, name: string): readonly MessageFields[] {
  const { dataType, shape } = literal;
  const elements =
    dataType === "string" ? toStrings(literal).map((text) => stringField(6, text)) : [bytesField(9, toRawBytes(literal))];
  return [
    ...shape.map((size) => integerField(1, size)),
    integerField(2, onnxTypeNumber(dataType)),
    ...(name === "" ? [] : [stringField(8, name)]),
    ...elements,
  ];
}

/** The elements as little-endian bytes; those below 8 bits packed, the lowest bits first. */
function toRawBytes({ dataType, data }: Literal): Uint8Array {
  const { bits } = elementTypes[dataType];
  const array = data as Uint8Array;
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  if (bits >= 8) return bytes;
  const perByte = 8 / bits;
  const mask = (1 << bits) - 1;
  const packed = new Uint8Array(Math.ceil(bytes.length / perByte));
  for (let index = 0; index < bytes.length; index += 1) {
    const at = Math.floor(index / perByte);
    packed[at] = (packed[at] ?? 0) | (((bytes[index] ?? 0) & mask) << ((index % perByte) * bits));
  }
  return packed;
}

function valueFields(number: number, { name, type }: OnnxValueInfo): MessageFields {
  return messageField(number, stringField(1, name), messageField(2, typeFields(type)));
}

/** The one field of TypeProto. */
function typeFields(type: OnnxType): MessageFields {
  if (type.kind === "tensor") {
    const shape = type.shape?.map((size) =>
      messageField(1, ...(typeof size === "number" ? [integerField(1, size)] : size === null ? [] : [stringField(2, size)])),
    );
    const shapeField = shape === undefined ? [] : [messageField(2, ...shape)];
    return messageField(1, integerField(1, onnxTypeNumber(type.dataType)), ...shapeField);
  }
  if (type.kind === "sequence") return messageField(4, messageField(1, typeFields(type.element)));
  if (type.kind === "optional") return messageField(9, messageField(1, typeFields(type.element)));
  throw new InferyardError("MODEL_UNSUPPORTED", `a value of the type ${type.name} cannot be written to an ONNX file`);
}
