/** Mutations of ONNX files by the fields of their messages (onnx.proto3): removed, repeated, moved, taken from another file, or changed. */
import { mutateBytes } from "./mutate-bytes.ts";
import { extremeIntegers } from "../random.ts";
import type { Mutation } from "../target.ts";

type MessageName =
  | "model"
  | "graph"
  | "node"
  | "attribute"
  | "tensor"
  | "value"
  | "type"
  | "tensorType"
  | "shape"
  | "dimension"
  | "elementType"
  | "function"
  | "opset"
  | "entry"
  | "sparse";

/** Fields that hold messages, by message. Other fields of bytes are texts, elements or packed numbers. */
const messages: Readonly<Record<MessageName, Readonly<Record<number, MessageName>>>> = {
  model: { 7: "graph", 8: "opset", 14: "entry", 25: "function" },
  graph: { 1: "node", 5: "tensor", 11: "value", 12: "value", 13: "value", 15: "sparse" },
  node: { 5: "attribute" },
  attribute: { 5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 14: "type", 15: "type", 22: "sparse", 23: "sparse" },
  tensor: { 13: "entry" },
  sparse: { 1: "tensor", 2: "tensor" },
  value: { 2: "type" },
  type: { 1: "tensorType", 4: "elementType", 9: "elementType" },
  elementType: { 1: "type" },
  tensorType: { 2: "shape" },
  shape: { 1: "dimension" },
  dimension: {},
  function: { 7: "node", 9: "opset", 11: "attribute", 12: "value" },
  opset: {},
  entry: {},
};

interface Field {
  readonly number: number;
  readonly wireType: number;
  readonly value: bigint | Uint8Array | Message;
}

interface Message {
  readonly name: MessageName;
  readonly fields: Field[];
}

/** Bytes that are no whole file are changed as bytes. */
export function mutateOnnx(input: Uint8Array, mutation: Mutation): Uint8Array {
  const model = read(input, "model", 0);
  if (model === undefined) return mutateBytes(input, mutation);
  const donors = allMessages(read(mutation.other, "model", 0) ?? model);
  for (let count = 1 + mutation.random.below(4); count > 0; count -= 1) change(model, donors, mutation);
  return write(model);
}

function change(model: Message, donors: readonly Message[], { random, other, dictionary }: Mutation): void {
  const everyMessage = allMessages(model);
  const message = random.pick(everyMessage.filter(({ fields }) => fields.length > 0));
  if (message === undefined) return;
  const { fields, name } = message;
  const index = random.below(fields.length);
  const field = fields[index]!;
  const kind = random.below(8);
  if (kind === 0) fields.splice(index, 1);
  else if (kind === 1) fields.splice(random.below(fields.length), 0, copyOf(field));
  else if (kind === 2) fields.push(...fields.splice(index, 1));
  else if (kind <= 4) {
    const donor = random.pick(
      (kind === 3 ? donors : everyMessage).filter((each) => each.name === name && each.fields.length > 0),
    );
    if (donor === undefined) return;
    const given = copyOf(random.pick(donor.fields));
    const same = fields.findIndex(({ number }) => number === given.number);
    if (same >= 0 && random.oneIn(2)) fields[same] = given;
    else fields.push(given);
  } else fields[index] = { ...field, ...changedField(field, { random, other, dictionary }) };
}

function changedField({ value }: Field, { random, other, dictionary }: Mutation): Partial<Field> {
  if (typeof value === "bigint") {
    const next = random.oneIn(2) ? BigInt(random.pick(extremeIntegers)) : value + BigInt(random.below(9) - 4);
    return { value: BigInt.asUintN(64, next) };
  }
  if (!(value instanceof Uint8Array)) return {};
  if (random.oneIn(2) && dictionary.length > 0) return { value: Buffer.from(random.pick(dictionary)) };
  return { value: mutateBytes(value, { random, other: other.subarray(0, 64), dictionary: [] }) };
}

function copyOf(field: Field): Field {
  const { value } = field;
  if (typeof value === "bigint" || value instanceof Uint8Array) return field;
  return { ...field, value: { name: value.name, fields: value.fields.map(copyOf) } };
}

function allMessages(message: Message): Message[] {
  const inner = message.fields.flatMap(({ value }) => (isMessage(value) ? allMessages(value) : []));
  return [message, ...inner];
}

function isMessage(value: Field["value"]): value is Message {
  return typeof value === "object" && !(value instanceof Uint8Array);
}

const maxDepth = 100;

/** Undefined if the bytes are no such message. */
function read(bytes: Uint8Array, name: MessageName, depth: number): Message | undefined {
  const fields: Field[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = varint(bytes, at);
    if (tag === undefined) return undefined;
    const [number, wireType] = [Number(tag.value >> 3n), Number(tag.value & 7n)];
    at = tag.next;
    if (wireType === 0) {
      const value = varint(bytes, at);
      if (value === undefined) return undefined;
      fields.push({ number, wireType, value: value.value });
      at = value.next;
      continue;
    }
    const length = wireType === 2 ? varint(bytes, at) : { value: wireType === 1 ? 8n : 4n, next: at };
    if (length === undefined || (wireType !== 1 && wireType !== 2 && wireType !== 5)) return undefined;
    const end = length.next + Number(length.value);
    if (end > bytes.length) return undefined;
    const content = bytes.subarray(length.next, end);
    const inner = wireType === 2 && depth < maxDepth ? messages[name][number] : undefined;
    fields.push({ number, wireType, value: (inner === undefined ? undefined : read(content, inner, depth + 1)) ?? content });
    at = end;
  }
  return { name, fields };
}

function varint(bytes: Uint8Array, at: number): { value: bigint; next: number } | undefined {
  let value = 0n;
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 127) << BigInt(7 * index);
    if (byte < 128) return { value, next: at + index + 1 };
  }
  return undefined;
}

function write({ fields }: Message): Uint8Array {
  return Buffer.concat(
    fields.flatMap(({ number, wireType, value }) => {
      const tag = written(BigInt(number) * 8n + BigInt(wireType));
      if (typeof value === "bigint") return [tag, written(value)];
      const content = isMessage(value) ? write(value) : value;
      return wireType === 2
        ? [tag, written(BigInt(content.length)), content]
        : [tag, content.subarray(0, wireType === 1 ? 8 : 4)];
    }),
  );
}

function written(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.from([...bytes, Number(rest)]);
}
