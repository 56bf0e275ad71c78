/** Reads tensors of ONNX files (TensorProto) as literals of the engine. */
import type { TensorData } from "../../contract/tensor.ts";
import { type ElementType, elementTypes } from "../ir/element-types.ts";
import { LazyStorage } from "../ir/lazy-storage.ts";
import { withLazyStorage, type Literal, literalWithStorage, toLiteral, zeroLiteral } from "../ir/literal.ts";
import { isStoredAsBits } from "../../contract/small-floats.ts";
import { type ByteRange, byteRange, type ByteSource } from "../../formats/byte-source.ts";
import type { FileWindow } from "../../formats/file-window.ts";
import type { OnnxMessage } from "../../formats/onnx/onnx-messages.ts";
import { quoteName } from "../../formats/format-errors.ts";
import { countElements } from "../../formats/onnx/onnx-tensor.ts";
import { onnxTypeName } from "../../formats/onnx/onnx-types.ts";
import type { Ranges } from "../../formats/protobuf/message-reader.ts";
import { getLastRange, readIntegers, readRanges, readTextRanges, readWideIntegers } from "../../formats/protobuf/ranges.ts";

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

/** Reads the tensors and lists of one ONNX file whose messages were read. */
export class TensorReader {
  /** Data of tensors in other files. */
  readonly external: ExternalData[] = [];
  /** Storage of the large tensors. */
  readonly stored: LazyStorage[] = [];
  readonly #source: ByteSource;
  readonly #window: FileWindow;
  #elements = 0;

  /** `window` is that through which the messages were read from `source`. */
  constructor(source: ByteSource, window: FileWindow) {
    this.#source = source;
    this.#window = window;
  }

  /** Number of elements of all tensors that were read. */
  get elements(): number {
    return this.#elements;
  }

  /** The tensor as a literal. Throws Error if its shape is impossible or its data does not have the size of its shape. */
  read(tensor: OnnxMessage<"tensor">): Literal {
    const literal = this.#literal(tensor);
    if (literal.storage !== undefined) this.stored.push(literal.storage);
    return literal;
  }

  /** 32-bit floats, which may be packed. */
  floats(ranges: Ranges): Float32Array {
    const bytes = this.#bytes(ranges);
    return new Float32Array(bytes.buffer, 0, Math.floor(bytes.length / 4));
  }

  /** Signed integers, which may be packed. */
  integers(ranges: Ranges): number[] {
    return this.#window.runNow(readIntegers(this.#window, ranges), this.#source);
  }

  /** The texts of a repeated field. */
  texts(ranges: Ranges): string[] {
    return this.#window.runNow(readTextRanges(this.#window, ranges), this.#source);
  }

  #bytes(ranges: Ranges): Uint8Array<ArrayBuffer> {
    return this.#window.runNow(readRanges(this.#window, ranges), this.#source);
  }

  #literal(tensor: OnnxMessage<"tensor">): Literal {
    const { name, shape } = tensor;
    const dataType = toElementType(tensor.dataType);
    const count = countElements(name, shape);
    this.#elements += count;
    const bytes = Math.ceil((count * elementTypes[dataType].bits) / 8);
    if (tensor.location === 1) return this.#external(tensor, dataType, bytes);
    const raw = getLastRange(tensor.raw);
    if (raw !== undefined && dataType !== "string") {
      if (raw.length !== bytes) throw new Error(`the tensor ${quoteName(name)} has ${raw.length} bytes and needs ${bytes}`);
      const range = byteRange(this.#source, raw.start, bytes);
      return bytes < minLazyBytes
        ? withLazyStorage(literalOfBytes(dataType, shape, range))
        : lazyLiteral(dataType, shape, () => range);
    }
    const literal = this.#literalOfFields(tensor, dataType);
    if (literal.data.length === count) return literal;
    throw new Error(
      `the tensor ${quoteName(name)} has ${literal.data.length} elements and its shape [${shape.join(", ")}] needs ${count}`,
    );
  }

  /** A tensor whose elements are in the fields of single types in place of `raw_data`. */
  #literalOfFields(tensor: OnnxMessage<"tensor">, dataType: ElementType): Literal {
    const { shape } = tensor;
    if (dataType === "string") return { dataType, shape, data: this.texts(tensor.texts) };
    if (dataType === "float32") return { dataType, shape, data: this.floats(tensor.floats) };
    if (dataType === "float64") {
      const bytes = this.#bytes(tensor.doubles);
      return { dataType, shape, data: new Float64Array(bytes.buffer, 0, Math.floor(bytes.length / 8)) };
    }
    if (dataType === "int64" || dataType === "uint64" || dataType === "uint32") {
      const wide = this.#window.runNow(readWideIntegers(this.#window, [...tensor.int64s, ...tensor.uint64s]), this.#source);
      if (dataType === "uint32") return { dataType, shape, data: Uint32Array.from(wide, Number) };
      return { dataType, shape, data: dataType === "int64" ? BigInt64Array.from(wide) : BigUint64Array.from(wide) };
    }
    const small = this.integers(tensor.int32s);
    const { bits } = elementTypes[dataType];
    if (bits < 8) {
      const literal = zeroLiteral(dataType, shape);
      unpackInto(literal, Uint8Array.from(small));
      return literal;
    }
    if (isStoredAsBits(dataType))
      return { dataType, shape, data: bits === 16 ? Uint16Array.from(small) : Uint8Array.from(small) };
    return toLiteral(dataType, shape, small);
  }

  #external({ name, shape, external }: OnnxMessage<"tensor">, dataType: ElementType, size: number): Literal {
    if (dataType === "string") throw new Error(`the strings of ${quoteName(name)} cannot be in another file`);
    const entries = new Map(external.map(({ key, value }) => [key, value]));
    const location = entries.get("location") ?? "";
    const offset = Number(entries.get("offset") ?? 0);
    const length = Number(entries.get("length") ?? size);
    if (!Number.isSafeInteger(offset) || offset < 0 || length !== size) {
      throw new Error(
        `the tensor ${quoteName(name)} needs ${size} bytes and names ${entries.get("length")} at ${entries.get("offset")} of another file`,
      );
    }
    if (size < minLazyBytes) {
      const small = zeroLiteral(dataType, shape);
      this.external.push({ location, attach: (file) => unpackInto(small, readRange(byteRange(file, offset, size))) });
      return small;
    }
    let part: ByteRange | undefined;
    const attach = (file: ByteSource): void => {
      if (offset + size > file.size) throw new Error(`it ends ${offset + size - file.size} bytes too early`);
      part = byteRange(file, offset, size);
    };
    this.external.push({ location, attach });
    return lazyLiteral(dataType, shape, () => {
      if (part === undefined) throw new Error(`the elements of ${quoteName(name)} were not read`);
      return part;
    });
  }
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

function readRange({ length, read }: ByteRange): Uint8Array {
  const bytes = new Uint8Array(length);
  read(bytes);
  return bytes;
}

function literalOfBytes(dataType: ElementType, shape: readonly number[], range: ByteRange): Literal {
  const literal = zeroLiteral(dataType, shape);
  unpackInto(literal, readRange(range));
  return literal;
}

/** A literal whose elements stay in a file until they are used. `part` is not called before that. */
function lazyLiteral(dataType: ElementType, shape: readonly number[], part: () => ByteRange): Literal {
  const materialize = (): TensorData => literalOfBytes(dataType, shape, part()).data;
  const isPlain = elementTypes[dataType].bits >= 8;
  return literalWithStorage(
    new LazyStorage(undefined, { materialize, inFile: true, ...(isPlain ? { copyTo: (target) => part().read(target) } : {}) }),
    dataType,
    shape,
  );
}
