/** Element types in CUDA C: how they are stored, and in which type they are computed. */
import { InferyardError } from "../../../../contract/errors.ts";
import type { ElementType } from "../../../../engine/ir/element-types.ts";

/** One element type in CUDA C. */
export interface CType {
  /** The type of elements in memory. */
  readonly stored: string;
  /** The type that they are computed in. */
  readonly computed: string;
  /** Bytes of an element in memory. */
  readonly bytes: number;
  readonly kind: "float" | "signed" | "unsigned" | "bool";
}

const types: Readonly<Partial<Record<ElementType, CType>>> = {
  float32: { stored: "float", computed: "float", bytes: 4, kind: "float" },
  float64: { stored: "double", computed: "double", bytes: 8, kind: "float" },
  float16: { stored: "unsigned short", computed: "float", bytes: 2, kind: "float" },
  bfloat16: { stored: "unsigned short", computed: "float", bytes: 2, kind: "float" },
  int8: { stored: "signed char", computed: "signed char", bytes: 1, kind: "signed" },
  int16: { stored: "short", computed: "short", bytes: 2, kind: "signed" },
  int32: { stored: "int", computed: "int", bytes: 4, kind: "signed" },
  int64: { stored: "long long", computed: "long long", bytes: 8, kind: "signed" },
  uint8: { stored: "unsigned char", computed: "unsigned char", bytes: 1, kind: "unsigned" },
  uint16: { stored: "unsigned short", computed: "unsigned short", bytes: 2, kind: "unsigned" },
  uint32: { stored: "unsigned int", computed: "unsigned int", bytes: 4, kind: "unsigned" },
  uint64: { stored: "unsigned long long", computed: "unsigned long long", bytes: 8, kind: "unsigned" },
  bool: { stored: "unsigned char", computed: "unsigned char", bytes: 1, kind: "bool" },
};

/** Whether programs on CUDA have tensors of this type. */
export function hasCType(type: ElementType): boolean {
  return types[type] !== undefined;
}

/** Throws MODEL_UNSUPPORTED for types without a form in CUDA C. */
export function cType(type: ElementType): CType {
  const found = types[type];
  if (found === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `programs on CUDA have no tensors of ${type}`);
  return found;
}

/** The value of an element in memory, in the type that it is computed in. */
export function loaded(type: ElementType, element: string): string {
  if (type === "float16") return `half_to_float(${element})`;
  if (type === "bfloat16") return `bfloat_to_float(${element})`;
  return element;
}

/** An element in memory for a value of the type's computed type. */
export function storable(type: ElementType, value: string): string {
  if (type === "float16") return `float_to_half(${value})`;
  if (type === "bfloat16") return `float_to_bfloat(${value})`;
  return `(${cType(type).stored})(${value})`;
}

/** A value rounded to its type, as if it had been in memory. */
export function rounded(type: ElementType, value: string): string {
  return type === "float16" || type === "bfloat16" ? loaded(type, storable(type, value)) : `(${cType(type).computed})(${value})`;
}

/** The type of sums: int64 and uint64 for integers, float32 for 16-bit floats. */
export function sumType(type: ElementType): string {
  const { kind, computed } = cType(type);
  return kind === "float" ? computed : type === "uint64" ? "unsigned long long" : "long long";
}

/** A number as a literal of CUDA C. */
export function literal(type: ElementType, value: number): string {
  const { computed, kind } = cType(type);
  if (kind !== "float") return `(${computed})${value}`;
  const suffix = computed === "float" ? "f" : "";
  if (Number.isNaN(value)) return `(${computed})(0.0 / 0.0)`;
  if (!Number.isFinite(value)) return value > 0 ? `(${computed})infinity()` : `(${computed})-infinity()`;
  const text = String(value);
  return `${/[.e]/.test(text) ? text : `${text}.0`}${suffix}`;
}

/**
 * Functions before the kernels of every program: conversions of 16-bit floats by their bits (so that no header of CUDA is needed), the power of integers, and the minimum and
 * maximum of floats that give NaN for NaN.
 */
export const prelude: string = `typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ inline float bits_to_float(u32 bits) { union { u32 u; float f; } both; both.u = bits; return both.f; }
__device__ inline u32 float_to_bits(float value) { union { u32 u; float f; } both; both.f = value; return both.u; }
__device__ inline float infinity() { return bits_to_float(0x7f800000u); }

__device__ inline float half_to_float(u16 half) {
  u32 sign = (u32)(half & 0x8000u) << 16, exponent = (half >> 10) & 31u, fraction = half & 1023u;
  if (exponent == 31u) return bits_to_float(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0u) return bits_to_float(sign | ((exponent + 112u) << 23) | (fraction << 13));
  float small = (float)fraction * bits_to_float(0x33800000u);
  return sign != 0u ? -small : small;
}

__device__ inline u16 float_to_half(float value) {
  u32 bits = float_to_bits(value), sign = (bits >> 16) & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return (u16)(sign | 0x7e00u);
  if (rest >= 0x47800000u) return (u16)(sign | 0x7c00u);
  if (rest < 0x38800000u) {
    u32 scaled = float_to_bits(bits_to_float(rest) + 0.5f);
    return (u16)(sign | (scaled - 0x3f000000u));
  }
  u32 odd = (rest >> 13) & 1u;
  return (u16)(sign | ((rest - 0x38000000u + 0xfffu + odd) >> 13));
}

__device__ inline float bfloat_to_float(u16 bits) { return bits_to_float((u32)bits << 16); }
__device__ inline u16 float_to_bfloat(float value) {
  u32 bits = float_to_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)((bits >> 16) | 0x40u);
  return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__device__ inline float least(float a, float b) { return a != a ? a : b != b ? b : a < b ? a : b; }
__device__ inline double least(double a, double b) { return a != a ? a : b != b ? b : a < b ? a : b; }
__device__ inline float greatest(float a, float b) { return a != a ? a : b != b ? b : a > b ? a : b; }
__device__ inline double greatest(double a, double b) { return a != a ? a : b != b ? b : a > b ? a : b; }
template <class T> __device__ inline T least(T a, T b) { return a < b ? a : b; }
template <class T> __device__ inline T greatest(T a, T b) { return a > b ? a : b; }

__device__ inline long long integer_power(long long base, long long exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  u64 result = 1, square = (u64)base;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= square;
    square *= square;
  }
  return (long long)result;
}
__device__ inline long long to_integer(double value) {
  if (!(value - value == 0.0)) return 0;
  return value >= 9223372036854775808.0 ? (long long)(u64)value : (long long)value;
}
`;
