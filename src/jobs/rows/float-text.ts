/** Writes float32 vectors as JSON with the fewest digits that read back as the same float32. */

/** Powers of ten that a 64-bit float holds exactly. */
const powers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** Characters of one number at most: sign, "0.", 22 decimals, comma. */
const maxCharacters = 26;
const [comma, minus, dot, zero, open, close] = [44, 45, 46, 48, 91, 93];

/** A vector as a JSON list. Numbers that are not finite are null, as in JSON.stringify. */
export function floatsToJson(vector: Float32Array): string {
  const bytes = Buffer.allocUnsafe(vector.length * maxCharacters + 2);
  let at = 0;
  bytes[at++] = open;
  for (let index = 0; index < vector.length; index += 1) {
    if (index > 0) bytes[at++] = comma;
    at = writeFloat(bytes, at, vector[index] ?? 0);
  }
  bytes[at++] = close;
  return bytes.toString("latin1", 0, at);
}

/**
 * Writes one number and returns where the next begins. For magnitudes from 1e-6 to 1e7 the digits are m of m / 10^k: the quotient of two exact numbers is the
 * float64 nearest to the decimal, which is what a parser of JSON reads, and the least k is taken for which its float32 is the number.
 */
function writeFloat(bytes: Uint8Array, start: number, value: number): number {
  const magnitude = Math.abs(value);
  if (!(magnitude >= 1e-6 && magnitude < 1e7)) return writeText(bytes, start, value === 0 ? "0" : JSON.stringify(shortest(value)));
  const exponent = Math.floor(Math.log10(magnitude));
  for (let digits = 6; digits <= 9; digits += 1) {
    const decimals = Math.max(0, digits - 1 - exponent);
    const power = powers[decimals] ?? 1;
    const scaled = Math.round(magnitude * power);
    if (Math.fround(scaled / power) === magnitude) return writeDecimal(bytes, start, value < 0, scaled, decimals);
  }
  return writeText(bytes, start, JSON.stringify(value));
}

/** Writes scaled / 10^decimals without zeros at the end. */
function writeDecimal(bytes: Uint8Array, start: number, isNegative: boolean, scaled: number, decimals: number): number {
  let [rest, places] = [scaled, decimals];
  while (places > 0 && rest % 10 === 0) {
    rest /= 10;
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
    const next = Math.floor(rest / 10);
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
