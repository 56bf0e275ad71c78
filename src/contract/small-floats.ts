/**
 * Conversion between numbers and the bits of floating-point types of 16 bits and fewer. Rounding is to nearest, ties to even. Sources: IEEE 754
 * binary16; bfloat16 is the upper half of binary32; the float8 types as in https://onnx.ai/onnx/technical/float8.html; float4e2m1 and float8e8m0 as in
 * the OCP Microscaling Formats specification 1.0.
 */

/**
 * Floating-point types of at most 16 bits, under the names of ONNX. JavaScript has no numbers of these types, so tensors hold
 * their bit patterns.
 */
export type SmallFloatType =
  | "float16"
  | "bfloat16"
  | "float8e4m3fn"
  | "float8e4m3fnuz"
  | "float8e5m2"
  | "float8e5m2fnuz"
  | "float8e8m0"
  | "float4e2m1";

interface Format {
  readonly exponentBits: number;
  readonly fractionBits: number;
  readonly bias: number;
  /** What the highest codes mean: "ieee" has infinities and NaN; "finite" has NaN with all bits set; "unsigned-zero" has NaN in place of minus zero; "none" has neither. */
  readonly special: "ieee" | "finite" | "unsigned-zero" | "none";
}

const formatByType: Readonly<Record<Exclude<SmallFloatType, "float8e8m0">, Format>> = {
  float16: { exponentBits: 5, fractionBits: 10, bias: 15, special: "ieee" },
  bfloat16: { exponentBits: 8, fractionBits: 7, bias: 127, special: "ieee" },
  float8e4m3fn: { exponentBits: 4, fractionBits: 3, bias: 7, special: "finite" },
  float8e4m3fnuz: { exponentBits: 4, fractionBits: 3, bias: 8, special: "unsigned-zero" },
  float8e5m2: { exponentBits: 5, fractionBits: 2, bias: 15, special: "ieee" },
  float8e5m2fnuz: { exponentBits: 5, fractionBits: 2, bias: 16, special: "unsigned-zero" },
  float4e2m1: { exponentBits: 2, fractionBits: 1, bias: 1, special: "none" },
};

/** Whether `type`, the name of any element type, is a SmallFloatType, whose tensors hold bit patterns instead of numbers. */
export function isStoredAsBits(type: string): type is SmallFloatType {
  return type === "float8e8m0" || Object.hasOwn(formatByType, type);
}

/**
 * The value of a bit pattern of `type`: one element, right-aligned in `bits`. A float8e8m0 pattern is a power of two without a
 * sign.
 */
export function decodeFloat(type: SmallFloatType, bits: number): number {
  if (type === "float8e8m0") return bits === 0xff ? Number.NaN : 2 ** (bits - 127);
  const format = formatByType[type];
  const { exponentBits, fractionBits, bias, special } = format;
  const signBit = 1 << (exponentBits + fractionBits);
  if (special === "unsigned-zero" && bits === signBit) return Number.NaN;
  const sign = bits & signBit ? -1 : 1;
  const magnitude = bits & (signBit - 1);
  const exponent = magnitude >> fractionBits;
  const fraction = magnitude & ((1 << fractionBits) - 1);
  if (special === "ieee" && exponent === (1 << exponentBits) - 1)
    return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (special === "finite" && magnitude === signBit - 1) return Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias - fractionBits);
  return sign * (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
}

/** The values of the bit patterns of `type`, as `decodeFloat` gives them; float32 represents each of them exactly. */
export function decodeFloats(type: SmallFloatType, patterns: ArrayLike<number>): Float32Array {
  const { length } = patterns;
  const floats = new Float32Array(length);
  if (type === "float16") {
    const codes = new Uint32Array(floats.buffer);
    for (let index = 0; index < length; index += 1) {
      const bits = patterns[index] as number;
      const magnitude = bits & 0x7fff;
      const sign = (bits & 0x8000) << 16;
      if (magnitude > 0x7c00) codes[index] = 0x7fc00000;
      else if (magnitude === 0x7c00) codes[index] = sign | 0x7f800000;
      else {
        codes[index] = sign | (magnitude << 13); // the value divided by 2 to the difference of the biases, 127 - 15; exact, subnormal numbers included
        floats[index] = (floats[index] as number) * 2 ** 112;
      }
    }
  } else if (type === "bfloat16") {
    const codes = new Uint32Array(floats.buffer); // bfloat16 is the upper half of float32
    for (let index = 0; index < length; index += 1) codes[index] = (patterns[index] as number) << 16;
  } else {
    const table = Float32Array.from({ length: 256 }, (_, bits) => decodeFloat(type, bits));
    for (let index = 0; index < length; index += 1) floats[index] = table[patterns[index] as number] as number;
  }
  return floats;
}

/**
 * The bit pattern of the number of `type` that is nearest to `value`, ties to even. If |value| exceeds the largest finite number,
 * `saturate` gives that number; otherwise the result is infinity or, for types without infinities, NaN; float4e2m1 has neither
 * and always saturates. float8e8m0 holds powers of two only, and rounds up.
 */
export function encodeFloat(type: SmallFloatType, value: number, saturate: boolean): number {
  if (type === "float8e8m0") return encodeScale(value, saturate);
  const format = formatByType[type];
  const { exponentBits, fractionBits, bias, special } = format;
  const signBit = 1 << (exponentBits + fractionBits);
  const negative = value < 0 || Object.is(value, -0);
  if (Number.isNaN(value)) return nanCode(format);
  const sign = negative ? signBit : 0;
  const largest = maxFiniteCode(format);
  const code = roundedCode(Math.abs(value), fractionBits, bias);
  if (code > largest) return overflowCode(format, sign, value, saturate);
  if (code === 0 && special === "unsigned-zero") return 0;
  return sign | code;
}

/** The code of a magnitude if exponents were unbounded. Codes of positive numbers are in the order of the numbers. */
function roundedCode(magnitude: number, fractionBits: number, bias: number): number {
  if (magnitude === 0) return 0;
  if (magnitude === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER;
  const exponent = Math.max(Math.floor(Math.log2(magnitude)), 1 - bias);
  const exact =
    magnitude / 2 ** exponent >= 2
      ? exponent + 1
      : magnitude / 2 ** exponent < 1 && exponent > 1 - bias
        ? exponent - 1
        : exponent;
  const fraction = roundHalfToEven(magnitude / 2 ** (exact - fractionBits)); // below 2 ** fractionBits for subnormal numbers
  return (exact + bias - 1) * 2 ** fractionBits + fraction;
}

function maxFiniteCode({ exponentBits, fractionBits, special }: Format): number {
  const all = 2 ** (exponentBits + fractionBits) - 1;
  if (special === "ieee") return all - 2 ** fractionBits;
  return special === "finite" ? all - 1 : all;
}

function nanCode({ exponentBits, fractionBits, special }: Format): number {
  if (special === "none") return 0; // as in ml_dtypes
  const all = (1 << (exponentBits + fractionBits)) - 1;
  if (special === "unsigned-zero") return all + 1;
  if (special === "ieee") return all - ((1 << fractionBits) - 1) + (1 << (fractionBits - 1));
  return all;
}

function overflowCode(format: Format, sign: number, value: number, saturate: boolean): number {
  const { fractionBits, special } = format;
  const largest = maxFiniteCode(format);
  const isInfinite = !Number.isFinite(value);
  if (special === "none" || (saturate && !(isInfinite && special === "ieee" && fractionBits > 3))) return sign | largest;
  if (special === "ieee") return sign | (largest + 1);
  return special === "finite" ? sign | (largest + 1) : nanCode(format);
}

/** float8e8m0: the next power of two, as Cast of ONNX rounds with round_mode "up". */
function encodeScale(value: number, saturate: boolean): number {
  if (Number.isNaN(value) || value < 0) return 0xff;
  const exponent = Math.ceil(Math.log2(value)) + 127;
  if (exponent > 254) return saturate ? 254 : 0xff;
  return Math.max(exponent, 0);
}

/** The nearest integer; halfway cases are rounded to the even integer (2.5 to 2, 3.5 to 4), as IEEE 754 does by default. */
export function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}
