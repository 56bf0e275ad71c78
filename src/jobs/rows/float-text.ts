/** Writes float32 vectors as JSON with the fewest digits that read back as the same float32. */

/** Powers of ten that a 64-bit float holds exactly. */
const powers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** Characters of one number at most: sign, "0.", 22 decimals, comma. */
const maxCharacters = 26;
const [comma, minus, dot, zero, open, close] = [44, 45, 46, 48, 91, 93];

/** A vector as a JSON list. Numbers that are not finite are null, as in JSON.stringify. */
export function floatsToJson(vector: Float32Array): string {
  const bytes = Buffer.allocUnsafe(maxBytes(vector.length));
  return bytes.toString("latin1", 0, writeVector(bytes, 0, vector, 0, vector.length));
}

/** Lines `{"id":ID,"result":[...]}` of the rows of `vectors`, [ids.length, length], each with its line feed. */
export function vectorLines(ids: readonly (string | number)[], vectors: Float32Array, length: number): Buffer {
  const heads = ids.map((id) => Buffer.from(`{"id":${JSON.stringify(id)},"result":`));
  const size = heads.reduce((sum, head) => sum + head.length + maxBytes(length) + lineEnd.length, 0);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [row, head] of heads.entries()) {
    bytes.set(head, at);
    at = writeVector(bytes, at + head.length, vectors, row * length, (row + 1) * length);
    bytes.set(lineEnd, at);
    at += lineEnd.length;
  }
  return bytes.subarray(0, at);
}

const lineEnd = Buffer.from("}\n");
const maxBytes = (numbers: number): number => numbers * maxCharacters + 2;

/** Writes the numbers from `start` to `end` as a list, and returns where it ends. */
function writeVector(bytes: Uint8Array, begin: number, vectors: Float32Array, start: number, end: number): number {
  let at = begin;
  bytes[at++] = open;
  for (let index = start; index < end; index += 1) {
    if (index > start) bytes[at++] = comma;
    at = writeFloat(bytes, at, vectors[index] ?? 0);
  }
  bytes[at++] = close;
  return at;
}

/**
 * Writes one number and returns where the next begins. For magnitudes from 1e-6 to 1e7 the digits are m of m / 10^k: the quotient of two exact numbers is the
 * float64 nearest to the decimal, which is what a parser of JSON reads, and the least k is taken for which its float32 is the number.
 */
function writeFloat(bytes: Uint8Array, start: number, value: number): number {
  const magnitude = Math.abs(value);
  if (!(magnitude >= 1e-6 && magnitude < 1e7))
    return writeText(bytes, start, value === 0 ? "0" : JSON.stringify(shortest(value)));
  const exponent = decimalExponent(magnitude);
  // Most float32 need 8 digits: fewer are tried only if 8 suffice.
  let [digits, scaled] = [8, scaledTo(magnitude, 7 - exponent)];
  if (scaled === undefined) [digits, scaled] = [9, scaledTo(magnitude, 8 - exponent)];
  else
    for (let fewer = 7; fewer >= 6; fewer -= 1) {
      const shorter = scaledTo(magnitude, fewer - 1 - exponent);
      if (shorter === undefined) break;
      [digits, scaled] = [fewer, shorter];
    }
  if (scaled === undefined) return writeText(bytes, start, JSON.stringify(value));
  return writeDecimal(bytes, start, value < 0, scaled, Math.max(0, digits - 1 - exponent));
}

/** Floor of the decimal logarithm of a magnitude from 1e-6 to 1e7. */
function decimalExponent(magnitude: number): number {
  if (magnitude >= 0.1) return magnitude < 1 ? -1 : Math.floor(Math.log10(magnitude));
  if (magnitude >= 0.01) return -2;
  return magnitude >= 0.001 ? -3 : Math.floor(Math.log10(magnitude));
}

/** m, if m / 10^decimals reads back as the float32 `magnitude`. */
function scaledTo(magnitude: number, decimals: number): number | undefined {
  const power = powers[Math.max(0, decimals)] ?? 1;
  const scaled = Math.round(magnitude * power);
  return Math.fround(scaled / power) === magnitude ? scaled : undefined;
}

/** Writes scaled / 10^decimals, of at most 9 digits, without zeros at the end. */
function writeDecimal(bytes: Uint8Array, start: number, isNegative: boolean, scaled: number, decimals: number): number {
  let [rest, places] = [scaled, decimals];
  while (places > 0 && rest % 10 === 0) {
    rest = (rest / 10) | 0;
    places -= 1;
  }
  let at = start;
  if (isNegative) bytes[at++] = minus;
  let length = places + 1;
  for (let bound = powers[places + 1] ?? Infinity; rest >= bound; bound *= 10) length += 1;
  const end = at + length + (places > 0 ? 1 : 0);
  for (let position = end - 1, left = places; position >= at; position -= 1) {
    if (left === 0 && places > 0) bytes[position--] = dot;
    left -= 1;
    const next = (rest / 10) | 0;
    bytes[position] = zero + (rest - next * 10);
    rest = next;
  }
  return end;
}

/** The same for other magnitudes. */
function shortest(value: number): number {
  for (let digits = 6; digits <= 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

function writeText(bytes: Uint8Array, start: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index);
  return start + text.length;
}
