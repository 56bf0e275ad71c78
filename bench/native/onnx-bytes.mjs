// ONNX files written field by field (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3), for models that are made for a measurement.

const dataTypes = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9 };
const arrays = [
  [Float32Array, "float32"],
  [BigInt64Array, "int64"],
  [Int32Array, "int32"],
  [Uint8Array, "uint8"],
  [Int8Array, "int8"],
];

function varint(value) {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) + 128);
  }
}

const integer = (number, value) => Buffer.concat([varint(number * 8), varint(value)]);

function float(number, value) {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([varint(number * 8 + 5), bytes]);
}

function message(number, ...content) {
  const bytes = Buffer.concat(content.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function value(number, [name, type, shape]) {
  if (shape === undefined) return message(number, message(1, name), message(2, message(1, integer(1, dataTypes[type]))));
  const sizes = shape.map((size) => message(1, typeof size === "number" ? integer(1, size) : message(2, size)));
  return message(number, message(1, name), message(2, message(1, integer(1, dataTypes[type]), message(2, ...sizes))));
}

function attribute([name, given]) {
  if (typeof given === "string") return message(5, message(1, name), message(4, given), integer(20, 3));
  if (Array.isArray(given)) return message(5, message(1, name), ...given.map((each) => integer(8, each)), integer(20, 7));
  if (Number.isInteger(given)) return message(5, message(1, name), integer(3, given), integer(20, 2));
  return message(5, message(1, name), float(2, given), integer(20, 1));
}

// A graph that is written while it is described. Values are names.
export class GraphWriter {
  #nodes = [];
  #weights = [];
  #count = 0;

  // The first output, or all of them where `count` is said. An attribute is a string, a list of whole numbers, a whole number or a fraction.
  add(operator, inputs, attributes = {}, count) {
    const outputs = Array.from({ length: count ?? 1 }, () => this.#name());
    this.named(operator, inputs, outputs, attributes);
    return count === undefined ? outputs[0] : outputs;
  }

  named(operator, inputs, outputs, attributes = {}) {
    const names = [...inputs.map((each) => message(1, each)), ...outputs.map((each) => message(2, each))];
    this.#nodes.push(message(1, ...names, message(4, operator), ...Object.entries(attributes).map(attribute)));
  }

  weight(shape, data) {
    const name = this.#name();
    const [, type] = arrays.find(([kind]) => data instanceof kind);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    this.#weights.push(
      message(5, ...shape.map((size) => integer(1, size)), integer(2, dataTypes[type]), message(8, name), message(9, bytes)),
    );
    return name;
  }

  integers(...values) {
    return this.weight([values.length], BigInt64Array.from(values, BigInt));
  }

  number(number) {
    return this.weight([], Float32Array.of(number));
  }

  bytes(inputs, outputs, opset) {
    const values = [...inputs.map((each) => value(11, each)), ...outputs.map((each) => value(12, each))];
    const graph = message(7, ...this.#nodes, message(2, "graph"), ...this.#weights, ...values);
    return Buffer.concat([integer(1, 9), graph, message(8, integer(2, opset))]);
  }

  #name() {
    this.#count += 1;
    return `v${this.#count}`;
  }
}
