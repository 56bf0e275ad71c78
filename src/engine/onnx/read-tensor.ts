/** Reads tensors of ONNX files (TensorProto) as literals of the engine. */
import { elementCount, type TensorData } from "../../contract/tensor.ts";
import { type ElementType, elementTypes } from "../ir/element-types.ts";
import { LazyStorage } from "../ir/lazy-storage.ts";
import { withLazyStorage, type Literal, literalWithStorage, toLiteral, zeroLiteral } from "../ir/literal.ts";
import { isStoredAsBits } from "../../contract/small-floats.ts";
import { type ByteRange, byteRange, type ByteSource } from "../../formats/byte-source.ts";
import { stringStringEntryProto, tensorProto } from "../../formats/onnx/onnx-fields.ts";
import { onnxTypeName } from "../../formats/onnx/onnx-types.ts";
import type { MessageReader } from "../../formats/protobuf/message-reader.ts";

/** External data of fewer bytes is read at once. */
const minLazyBytes = 16 * 1024;

/** The element type with this number in TensorProto.DataType. Throws Error for complex and unknown types. */
export function toElementType(number: number): ElementType {
  const name = onnxTypeName(number);
  if (isElementType(name)) return name;
  throw new Error(`it has elements of type ${number}, which is not supported`);
}

function isElementType(name: string): name is ElementType {
  return Object.hasOwn(elementTypes, name);
}

/** Data of a tensor in another file than the model (ONNX external data), which has not been read. */
export interface ExternalData {
  /** Path of the file, relative to the model's folder. */
  readonly location: string;
  /** Supplies the file, before the tensor is used. Throws Error if the file is too short. */
  attach(file: ByteSource): void;
}

/** A constant tensor of an ONNX file with its name. `external` is set if its data is in another file. */
export interface NamedTensor {
  readonly name: string;
  readonly literal: Literal;
  readonly external?: ExternalData;
}

interface TensorFields {
  readonly shape: number[];
  dataType: number;
  name: string;
  raw?: Uint8Array | ByteRange;
  readonly floats: number[];
  readonly doubles: number[];
  readonly small: number[];
  readonly wide: bigint[];
  readonly texts: string[];
  readonly external: Map<string, string>;
  location: number;
}

/** Reads the TensorProto in the current field of `reader`. Throws Error if its shape is impossible or its data does not have the size of its shape. */
export function readTensor(reader: MessageReader): NamedTensor {
  const parts = reader.message(readTensorField, emptyFields());
  return tensorFromFields(parts);
}

/** Reads a file that consists of one TensorProto, like the test data of ONNX. Throws as `readTensor` does. */
export function readWholeTensor(reader: MessageReader): NamedTensor {
  return tensorFromFields(reader.whole(readTensorField, emptyFields()));
}

function emptyFields(): TensorFields {
  return {
    shape: [],
    dataType: 0,
    name: "",
    floats: [],
    doubles: [],
    small: [],
    wide: [],
    texts: [],
    external: new Map(),
    location: 0,
  };
}

function readTensorField(field: number, parts: TensorFields, reader: MessageReader): void {
  if (field === tensorProto.dims) reader.integers(parts.shape);
  else if (field === tensorProto.dataType) parts.dataType = reader.integer();
  else if (field === tensorProto.floatData) reader.floats(parts.floats);
  else if (field === tensorProto.int32Data) reader.integers(parts.small);
  else if (field === tensorProto.stringData) parts.texts.push(reader.text());
  else if (field === tensorProto.int64Data || field === tensorProto.uint64Data) reader.wideIntegers(parts.wide);
  else if (field === tensorProto.name) parts.name = reader.text();
  else if (field === tensorProto.rawData) parts.raw = reader.bytesOrRange();
  else if (field === tensorProto.doubleData) reader.doubles(parts.doubles);
  else if (field === tensorProto.externalData) parts.external.set(...reader.message(readEntry, ["", ""]));
  else if (field === tensorProto.dataLocation) parts.location = reader.integer();
}

/** StringStringEntryProto. */
function readEntry(field: number, entry: [string, string], reader: MessageReader): void {
  if (field === stringStringEntryProto.key) entry[0] = reader.text();
  else if (field === stringStringEntryProto.value) entry[1] = reader.text();
}

function tensorFromFields(parts: TensorFields): NamedTensor {
  const { name, shape } = parts;
  const dataType = toElementType(parts.dataType);
  const count = elementCount(shape);
  if (shape.length > 64 || shape.some((size) => !(size >= 0)) || !Number.isSafeInteger(count)) {
    throw new Error(`the tensor "${name.slice(0, 80)}" has the impossible shape [${shape.slice(0, 8).join(", ")}]`);
  }
  if (parts.location === 1) return externalTensor(parts, dataType);
  if (parts.raw !== undefined && dataType !== "string") {
    const needed = Math.ceil((count * elementTypes[dataType].bits) / 8);
    if (parts.raw.length !== needed)
      throw new Error(`the tensor "${name.slice(0, 80)}" has ${parts.raw.length} bytes and needs ${needed}`);
    if (!(parts.raw instanceof Uint8Array)) {
      const { raw } = parts;
      return { name, literal: lazyLiteral(dataType, shape, () => raw) };
    }
    const literal = zeroLiteral(dataType, shape);
    unpackInto(literal, parts.raw);
    return { name, literal: withLazyStorage(literal) };
  }
  const literal = literalFromFields(parts, dataType);
  if (literal.data.length !== count) {
    throw new Error(
      `the tensor "${name.slice(0, 80)}" has ${literal.data.length} elements and its shape [${shape.join(", ")}] needs ${count}`,
    );
  }
  return { name, literal };
}

function literalFromFields({ shape, floats, doubles, small, wide, texts }: TensorFields, dataType: ElementType): Literal {
  if (dataType === "string") return { dataType, shape, data: texts };
  if (dataType === "float32") return { dataType, shape, data: Float32Array.from(floats) };
  if (dataType === "float64") return { dataType, shape, data: Float64Array.from(doubles) };
  if (dataType === "int64") return { dataType, shape, data: BigInt64Array.from(wide) };
  if (dataType === "uint64") return { dataType, shape, data: BigUint64Array.from(wide) };
  if (dataType === "uint32") return { dataType, shape, data: Uint32Array.from(wide, Number) };
  const { bits } = elementTypes[dataType];
  if (bits < 8) {
    const literal = zeroLiteral(dataType, shape);
    unpackInto(literal, Uint8Array.from(small));
    return literal;
  }
  if (isStoredAsBits(dataType)) return { dataType, shape, data: bits === 16 ? Uint16Array.from(small) : Uint8Array.from(small) };
  return toLiteral(dataType, shape, small);
}

/** Copies little-endian bytes into a literal. Elements below 8 bits are packed, the lowest bits first, and are stored one per byte. */
function unpackInto({ dataType, data }: Literal, bytes: Uint8Array): void {
  const { bits, kind } = elementTypes[dataType];
  const into = data as Uint8Array;
  if (bits >= 8) {
    new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
    return;
  }
  const perByte = 8 / bits;
  const mask = (1 << bits) - 1;
  for (let index = 0; index < into.length; index += 1) {
    const code = ((bytes[Math.floor(index / perByte)] ?? 0) >> ((index % perByte) * bits)) & mask;
    into[index] = kind === "signed" && code > mask >> 1 ? code - mask - 1 : code;
  }
}

function externalTensor({ name, shape, external: entries }: TensorFields, dataType: ElementType): NamedTensor {
  if (dataType === "string") throw new Error(`the strings of "${name.slice(0, 80)}" cannot be in another file`);
  const location = entries.get("location") ?? "";
  const offset = Number(entries.get("offset") ?? 0);
  const size = Math.ceil((elementCount(shape) * elementTypes[dataType].bits) / 8);
  const length = Number(entries.get("length") ?? size);
  if (!Number.isSafeInteger(offset) || offset < 0 || length !== size) {
    throw new Error(
      `the tensor "${name.slice(0, 80)}" needs ${size} bytes and names ${entries.get("length")} at ${entries.get("offset")} of another file`,
    );
  }
  if (size < minLazyBytes) {
    const small = zeroLiteral(dataType, shape);
    const supplySmall = (file: ByteSource): void => {
      const bytes = new Uint8Array(size);
      file.read(bytes, offset);
      unpackInto(small, bytes);
    };
    return { name, literal: small, external: { location, attach: supplySmall } };
  }
  let part: ByteRange | undefined;
  const literal = lazyLiteral(dataType, shape, () => {
    if (part === undefined) throw new Error(`the elements of "${name.slice(0, 80)}" were not read`);
    return part;
  });
  const attach = (file: ByteSource): void => {
    if (offset + size > file.size) throw new Error(`it ends ${offset + size - file.size} bytes too early`);
    part = byteRange(file, offset, size);
  };
  return { name, literal, external: { location, attach } };
}

/** A literal whose elements stay in a file until they are used. `part` is not called before that. */
function lazyLiteral(dataType: ElementType, shape: readonly number[], part: () => ByteRange): Literal {
  const materialize = (): TensorData => {
    const { length, read } = part();
    const literal = zeroLiteral(dataType, shape);
    const bytes = new Uint8Array(length);
    read(bytes);
    unpackInto(literal, bytes);
    return literal.data;
  };
  const isPlain = elementTypes[dataType].bits >= 8;
  return literalWithStorage(
    new LazyStorage(undefined, { materialize, inFile: true, ...(isPlain ? { copyTo: (target) => part().read(target) } : {}) }),
    dataType,
    shape,
  );
}
