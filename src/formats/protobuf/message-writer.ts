/** Writes protobuf messages (https://protobuf.dev/programming-guides/encoding/): fields are lists of chunks, so that large ones are not copied. */

/** The bytes of fields, in order. */
export type MessageFields = readonly Uint8Array[];

/** A field with a whole number: int32, int64, uint64, bool or an enumeration. Negative ones are written in two's complement of 64 bits. */
export function integerField(number: number, value: number | bigint): MessageFields {
  return [varint(number * 8), varint(value)];
}

/** A field with a float of 32 bits. */
export function floatField(number: number, value: number): MessageFields {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return [varint(number * 8 + 5), bytes];
}

/** A field with a text in UTF-8. */
export function stringField(number: number, text: string): MessageFields {
  return bytesField(number, new TextEncoder().encode(text));
}

/** A field with bytes. They are not copied. */
export function bytesField(number: number, bytes: Uint8Array): MessageFields {
  return [varint(number * 8 + 2), varint(bytes.length), bytes];
}

/** A field with a message of these fields. */
export function messageField(number: number, ...fields: readonly MessageFields[]): MessageFields {
  const parts = fields.flat();
  return [varint(number * 8 + 2), varint(countBytes(parts)), ...parts];
}

/** The number of bytes of fields. */
export function countBytes(fields: MessageFields): number {
  return fields.reduce((sum, { length }) => sum + length, 0);
}

/** A whole number in base 128, the lowest digits first. */
function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return Uint8Array.of(...bytes, Number(rest));
}
