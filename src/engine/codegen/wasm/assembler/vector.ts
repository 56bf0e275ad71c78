/** 128-bit SIMD instructions (WebAssembly specification, "Vector Instructions"), under the names of the specification. */
import { type Bytes, float32Bytes, float64Bytes, int32Bytes } from "./encoding.ts";
import { type V128, expression } from "./expression.ts";
import { type BinaryInstruction, type Instructions, instructionSet, simd } from "./instruction-tables.ts";

/** Instructions on vectors as a whole. `bitselect` takes the bits of the first operand where the third has 1, of the second where it has 0. */
const v128Table = {
  "v128 v128 > v128": { and: 0x4e, andnot: 0x4f, or: 0x50, xor: 0x51 },
  "v128 > v128": { not: 0x4d },
  "v128 > i32": { anyTrue: 0x53 },
  "v128 v128 v128 > v128": { bitselect: 0x52 },
  "load v128": {
    load: [0x00, 4],
    load8x8S: [0x01, 3],
    load8x8U: [0x02, 3],
    load32x2S: [0x05, 3],
    load32x2U: [0x06, 3],
    load8Splat: [0x07, 0],
    load16Splat: [0x08, 1],
    load32Splat: [0x09, 2],
    load64Splat: [0x0a, 3],
    load32Zero: [0x5c, 2],
    load64Zero: [0x5d, 3],
  },
  "store v128": { store: [0x0b, 4] },
  "load lane": { load32Lane: [0x56, 2] },
  "store lane": { store8Lane: [0x58, 0], store16Lane: [0x59, 1], store32Lane: [0x5a, 2], store64Lane: [0x5b, 3] },
} as const;

/** `relaxedMadd` is a*b + c, rounded once or twice, depending on the machine, and needs relaxed SIMD. */
const f32x4Table = {
  "v128 v128 > v128": {
    add: 0xe4,
    sub: 0xe5,
    mul: 0xe6,
    div: 0xe7,
    min: 0xe8,
    max: 0xe9,
    pmin: 0xea,
    pmax: 0xeb,
    eq: 0x41,
    ne: 0x42,
    lt: 0x43,
    gt: 0x44,
    le: 0x45,
    ge: 0x46,
  },
  "v128 > v128": {
    abs: 0xe0,
    neg: 0xe1,
    sqrt: 0xe3,
    ceil: 0x67,
    floor: 0x68,
    trunc: 0x69,
    nearest: 0x6a,
    convertI32x4S: 0xfa,
    convertI32x4U: 0xfb,
    demoteF64x2Zero: 0x5e,
  },
  "v128 v128 v128 > v128": { relaxedMadd: 0x105 },
  "f32 > v128": { splat: 0x13 },
  "extract f32": { extractLane: 0x1f },
  "replace f32": { replaceLane: 0x20 },
} as const;

/** `promoteLow` converts the two low float32 lanes to float64. */
const f64x2Table = {
  "v128 v128 > v128": {
    add: 0xf0,
    sub: 0xf1,
    mul: 0xf2,
    div: 0xf3,
    min: 0xf4,
    max: 0xf5,
    eq: 0x47,
    ne: 0x48,
    lt: 0x49,
    gt: 0x4a,
    le: 0x4b,
    ge: 0x4c,
  },
  "v128 > v128": {
    abs: 0xec,
    neg: 0xed,
    sqrt: 0xef,
    ceil: 0x74,
    floor: 0x75,
    trunc: 0x7a,
    nearest: 0x94,
    promoteLowF32x4: 0x5f,
    convertLowI32x4S: 0xfe,
    convertLowI32x4U: 0xff,
  },
  "f64 > v128": { splat: 0x14 },
  "extract f64": { extractLane: 0x21 },
  "replace f64": { replaceLane: 0x22 },
} as const;

const i32x4Table = {
  "v128 v128 > v128": {
    add: 0xae,
    sub: 0xb1,
    mul: 0xb5,
    minS: 0xb6,
    maxS: 0xb8,
    minU: 0xb7,
    maxU: 0xb9,
    ltU: 0x3a,
    gtU: 0x3c,
    leU: 0x3e,
    geU: 0x40,
    dotI16x8S: 0xba,
    eq: 0x37,
    ne: 0x38,
    ltS: 0x39,
    gtS: 0x3b,
    leS: 0x3d,
    geS: 0x3f,
  },
  "v128 > v128": {
    abs: 0xa0,
    neg: 0xa1,
    truncSatF32x4S: 0xf8,
    truncSatF32x4U: 0xf9,
    truncSatF64x2SZero: 0xfc,
    extendLowI16x8S: 0xa7,
    extendHighI16x8S: 0xa8,
    extendLowI16x8U: 0xa9,
  },
  "v128 i32 > v128": { shl: 0xab, shrS: 0xac, shrU: 0xad },
  "i32 > v128": { splat: 0x11 },
  "extract i32": { extractLane: 0x1b },
  "replace i32": { replaceLane: 0x1c },
} as const;

const i64x2Table = {
  "v128 v128 > v128": { add: 0xce, sub: 0xd1, mul: 0xd5, eq: 0xd6, ne: 0xd7, ltS: 0xd8, gtS: 0xd9, leS: 0xda, geS: 0xdb },
  "v128 > v128": {
    abs: 0xc0,
    neg: 0xc1,
    extendLowI32x4S: 0xc7,
    extendHighI32x4S: 0xc8,
    extendLowI32x4U: 0xc9,
    extendHighI32x4U: 0xca,
  },
  "i64 > v128": { splat: 0x12 },
  "extract i64": { extractLane: 0x1d },
  "replace i64": { replaceLane: 0x1e },
} as const;

/** `relaxedDotI8x16I7x16S` needs relaxed SIMD. */
const i16x8Table = {
  "v128 v128 > v128": {
    add: 0x8e,
    sub: 0x91,
    mul: 0x95,
    narrowI32x4S: 0x85,
    narrowI32x4U: 0x86,
    relaxedDotI8x16I7x16S: 0x112,
  },
  "v128 > v128": { extendLowI8x16S: 0x87, extendHighI8x16S: 0x88, extendLowI8x16U: 0x89 },
  "v128 i32 > v128": { shl: 0x8b, shrU: 0x8d },
  "i32 > v128": { splat: 0x10 },
} as const;

const i8x16Table = {
  "v128 v128 > v128": { add: 0x6e, narrowI16x8S: 0x65, narrowI16x8U: 0x66, swizzle: 0x0e },
  "i32 > v128": { splat: 0x0f },
} as const;

/** Generators of loads, stores and bitwise instructions on vectors. */
export const v128: Instructions<typeof v128Table> & { readonly zero: V128; readonly const: (bytes: Bytes) => V128 } = {
  ...instructionSet(v128Table, simd),
  zero: expression("v128", simd(0x0c), Array<number>(16).fill(0)),
  const: (bytes) => expression("v128", simd(0x0c), bytes),
};

/** Generators of constants whose lanes are all equal. */
interface Constants {
  readonly const: (value: number) => V128;
}

/** Generators of the instructions on four float32 lanes. */
export const f32x4: Instructions<typeof f32x4Table> & Constants = {
  ...instructionSet(f32x4Table, simd),
  const: (value) => v128.const(repeated(float32Bytes(value), 4)),
};

/** Generators of the instructions on two float64 lanes. */
export const f64x2: Instructions<typeof f64x2Table> & Constants = {
  ...instructionSet(f64x2Table, simd),
  const: (value) => v128.const(repeated(float64Bytes(value), 2)),
};

/** Generators of the instructions on four 32-bit integer lanes. */
export const i32x4: Instructions<typeof i32x4Table> & Constants = {
  ...instructionSet(i32x4Table, simd),
  const: (value) => v128.const(repeated(int32Bytes(value), 4)),
};

/** Generators of the instructions on two 64-bit integer lanes. */
export const i64x2: Instructions<typeof i64x2Table> = instructionSet(i64x2Table, simd);
/** Generators of the instructions on eight 16-bit integer lanes. */
export const i16x8: Instructions<typeof i16x8Table> = instructionSet(i16x8Table, simd);
/** Generators of the instructions on sixteen 8-bit integer lanes. */
export const i8x16: Instructions<typeof i8x16Table> = instructionSet(i8x16Table, simd);

/** Generates a vector of four 32-bit lanes selected from `a` (0 to 3) and `b` (4 to 7). */
export function shuffle32(a: V128, b: V128, lanes: readonly [number, number, number, number]): V128 {
  const bytes = lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => lane * 4 + byte));
  return expression("v128", a.code, b.code, simd(0x0d), bytes);
}

/** Reduces four lanes with `combine`: lanes 0 and 2, lanes 1 and 3, then the two results. The result is in every lane. */
export function acrossLanes(value: V128, combine: BinaryInstruction<"v128">): V128 {
  const halves = combine(value, shuffle32(value, value, [2, 3, 0, 1]));
  return combine(halves, shuffle32(halves, halves, [1, 0, 3, 2]));
}

function repeated(bytes: Bytes, times: number): Bytes {
  return Array<Bytes>(times).fill(bytes).flat();
}
