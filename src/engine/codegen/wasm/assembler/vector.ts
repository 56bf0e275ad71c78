/** 128-bit SIMD instructions (WebAssembly specification, "Vector Instructions"), under the names of the specification. */
import { type Bytes, float32Bytes, float64Bytes, int32Bytes, unsigned } from "./encoding.ts";
import {
  type Expression,
  type F32,
  type F64,
  type I32,
  type I64,
  type Statement,
  type V128,
  type ValueType,
  expression,
} from "./expression.ts";
import {
  type BinaryInstruction,
  type LoadInstruction,
  type Named,
  type Store,
  type UnaryInstruction,
  binaries,
  loads,
  simd,
  stores,
  unaries,
} from "./instruction-tables.ts";

const v128Binary = { and: 0x4e, andnot: 0x4f, or: 0x50, xor: 0x51 } as const;
const v128Load = {
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
} as const;
const f32x4Binary = {
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
} as const;
const f32x4Unary = {
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
} as const;
const i64x2Binary = { add: 0xce, sub: 0xd1, mul: 0xd5, eq: 0xd6, ne: 0xd7, ltS: 0xd8, gtS: 0xd9, leS: 0xda, geS: 0xdb } as const;
const i64x2Unary = {
  abs: 0xc0,
  neg: 0xc1,
  extendLowI32x4S: 0xc7,
  extendHighI32x4S: 0xc8,
  extendLowI32x4U: 0xc9,
  extendHighI32x4U: 0xca,
} as const;
const f64x2Binary = {
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
} as const;
/** `promoteLow` converts the two low float32 lanes to float64. */
const f64x2Unary = {
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
} as const;
const i32x4Binary = {
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
} as const;
const i32x4Unary = {
  abs: 0xa0,
  neg: 0xa1,
  truncSatF32x4S: 0xf8,
  truncSatF32x4U: 0xf9,
  truncSatF64x2SZero: 0xfc,

  extendLowI16x8S: 0xa7,
  extendHighI16x8S: 0xa8,
  extendLowI16x8U: 0xa9,
} as const;
/** `relaxedDotI8x16I7x16S` needs relaxed SIMD. */
const i16x8Binary = {
  add: 0x8e,
  sub: 0x91,
  mul: 0x95,
  narrowI32x4S: 0x85,
  narrowI32x4U: 0x86,
  relaxedDotI8x16I7x16S: 0x112,
} as const;
const i16x8Unary = { extendLowI8x16S: 0x87, extendHighI8x16S: 0x88, extendLowI8x16U: 0x89 } as const;
const i8x16Binary = { add: 0x6e, narrowI16x8S: 0x65, narrowI16x8U: 0x66, swizzle: 0x0e } as const;
const shifts = { shl: 0xab, shrS: 0xac, shrU: 0xad } as const;
const i16x8Shifts = { shl: 0x8b, shrU: 0x8d } as const;

/** A shift of every lane by the same number of bits. */
export type Shift = (value: V128, bits: I32) => V128;

/** Generators of loads, stores and bitwise instructions on vectors. */
export const v128: Named<typeof v128Binary, BinaryInstruction<"v128">> &
  Named<typeof v128Load, LoadInstruction<"v128">> & {
    readonly store: Store<"v128">;
    readonly not: UnaryInstruction<"v128">;
    readonly anyTrue: UnaryInstruction<"v128", "i32">;
    readonly zero: V128;
    readonly const: (bytes: Bytes) => V128;
    /** The bits of `whenSet` where the mask is 1, of `whenClear` where it is 0. */
    readonly bitselect: (whenSet: V128, whenClear: V128, mask: V128) => V128;
    /** Stores one lane of `value`. */
    readonly store32Lane: (address: I32, value: V128, lane: number, offset?: number) => Statement;
    readonly store8Lane: (address: I32, value: V128, lane: number, offset?: number) => Statement;
    readonly store16Lane: (address: I32, value: V128, lane: number, offset?: number) => Statement;
    readonly store64Lane: (address: I32, value: V128, lane: number, offset?: number) => Statement;
    /** `value` with one lane replaced from memory. */
    readonly load32Lane: (address: I32, value: V128, lane: number, offset?: number) => V128;
  } = {
  ...binaries(v128Binary, simd, "v128", "v128"),
  ...loads(v128Load, simd, "v128"),
  ...stores({ store: [0x0b, 4] } as const, simd, "v128"),
  ...unaries({ not: 0x4d } as const, simd, "v128", "v128"),
  ...unaries({ anyTrue: 0x53 } as const, simd, "v128", "i32"),
  zero: expression("v128", simd(0x0c), Array<number>(16).fill(0)),
  const: (bytes) => expression("v128", simd(0x0c), bytes),
  bitselect: (whenSet, whenClear, mask) => expression("v128", whenSet.code, whenClear.code, mask.code, simd(0x52)),
  store32Lane: (address, value, lane, offset = 0) => laneAccess(0x5a, 2, address, value, lane, offset),
  store8Lane: (address, value, lane, offset = 0) => laneAccess(0x58, 0, address, value, lane, offset),
  store16Lane: (address, value, lane, offset = 0) => laneAccess(0x59, 1, address, value, lane, offset),
  store64Lane: (address, value, lane, offset = 0) => laneAccess(0x5b, 3, address, value, lane, offset),
  load32Lane: (address, value, lane, offset = 0) => expression("v128", laneAccess(0x56, 2, address, value, lane, offset).code),
};

/** Generators of the instructions on four float32 lanes. */
export const f32x4: Named<typeof f32x4Binary, BinaryInstruction<"v128">> &
  Named<typeof f32x4Unary, UnaryInstruction<"v128">> & {
    readonly splat: UnaryInstruction<"f32", "v128">;
    readonly const: (value: number) => V128;
    readonly extractLane: (value: V128, lane: number) => F32;
    readonly replaceLane: (value: V128, lane: number, by: F32) => V128;
    /** a*b + c, rounded once or twice, depending on the machine. Needs relaxed SIMD. */
    readonly relaxedMadd: (a: V128, b: V128, c: V128) => V128;
  } = {
  ...binaries(f32x4Binary, simd, "v128", "v128"),
  ...unaries(f32x4Unary, simd, "v128", "v128"),
  ...unaries({ splat: 0x13 } as const, simd, "f32", "v128"),
  const: (value) => v128.const(repeated(float32Bytes(value), 4)),
  extractLane: (value, lane) => expression("f32", value.code, simd(0x1f), lane),
  replaceLane: (value, lane, by) => expression("v128", value.code, by.code, simd(0x20), lane),
  relaxedMadd: (a, b, c) => expression("v128", a.code, b.code, c.code, simd(0x105)),
};

/** Generators of the instructions on two float64 lanes. */
export const f64x2: Named<typeof f64x2Binary, BinaryInstruction<"v128">> &
  Named<typeof f64x2Unary, UnaryInstruction<"v128">> & {
    readonly const: (value: number) => V128;
    readonly splat: UnaryInstruction<"f64", "v128">;
    readonly extractLane: (value: V128, lane: number) => F64;
    readonly replaceLane: (value: V128, lane: number, by: F64) => V128;
  } = {
  ...binaries(f64x2Binary, simd, "v128", "v128"),
  ...unaries(f64x2Unary, simd, "v128", "v128"),
  ...unaries({ splat: 0x14 } as const, simd, "f64", "v128"),
  extractLane: (value, lane) => expression("f64", value.code, simd(0x21), lane),
  replaceLane: (value, lane, by) => expression("v128", value.code, by.code, simd(0x22), lane),
  const: (value) => v128.const(repeated(float64Bytes(value), 2)),
};

/** Generators of the instructions on four 32-bit integer lanes. */
export const i32x4: Named<typeof i32x4Binary, BinaryInstruction<"v128">> &
  Named<typeof i32x4Unary, UnaryInstruction<"v128">> &
  Named<typeof shifts, Shift> & {
    readonly splat: UnaryInstruction<"i32", "v128">;
    readonly const: (value: number) => V128;
    readonly extractLane: (value: V128, lane: number) => I32;
    readonly replaceLane: (value: V128, lane: number, by: I32) => V128;
  } = {
  ...binaries(i32x4Binary, simd, "v128", "v128"),
  ...unaries(i32x4Unary, simd, "v128", "v128"),
  ...unaries({ splat: 0x11 } as const, simd, "i32", "v128"),
  shl: (value, bits) => expression("v128", value.code, bits.code, simd(shifts.shl)),
  shrS: (value, bits) => expression("v128", value.code, bits.code, simd(shifts.shrS)),
  shrU: (value, bits) => expression("v128", value.code, bits.code, simd(shifts.shrU)),
  const: (value) => v128.const(repeated(int32Bytes(value), 4)),
  extractLane: (value, lane) => expression("i32", value.code, simd(0x1b), lane),
  replaceLane: (value, lane, by) => expression("v128", value.code, by.code, simd(0x1c), lane),
};

/** Generators of the instructions on two 64-bit integer lanes. */
export const i64x2: Named<typeof i64x2Binary, BinaryInstruction<"v128">> &
  Named<typeof i64x2Unary, UnaryInstruction<"v128">> & {
    readonly splat: UnaryInstruction<"i64", "v128">;
    readonly extractLane: (value: V128, lane: number) => I64;
    readonly replaceLane: (value: V128, lane: number, by: I64) => V128;
  } = {
  ...binaries(i64x2Binary, simd, "v128", "v128"),
  ...unaries(i64x2Unary, simd, "v128", "v128"),
  ...unaries({ splat: 0x12 } as const, simd, "i64", "v128"),
  extractLane: (value, lane) => expression("i64", value.code, simd(0x1d), lane),
  replaceLane: (value, lane, by) => expression("v128", value.code, by.code, simd(0x1e), lane),
};

/** Generators of the instructions on eight 16-bit integer lanes. */
export const i16x8: Named<typeof i16x8Binary, BinaryInstruction<"v128">> &
  Named<typeof i16x8Unary, UnaryInstruction<"v128">> &
  Named<typeof i16x8Shifts, Shift> & { readonly splat: UnaryInstruction<"i32", "v128"> } = {
  ...binaries(i16x8Binary, simd, "v128", "v128"),
  ...unaries(i16x8Unary, simd, "v128", "v128"),
  ...unaries({ splat: 0x10 } as const, simd, "i32", "v128"),
  shl: (value, bits) => expression("v128", value.code, bits.code, simd(i16x8Shifts.shl)),
  shrU: (value, bits) => expression("v128", value.code, bits.code, simd(i16x8Shifts.shrU)),
};

/** Generators of the instructions on sixteen 8-bit integer lanes. */
export const i8x16: Named<typeof i8x16Binary, BinaryInstruction<"v128">> & { readonly splat: UnaryInstruction<"i32", "v128"> } = {
  ...binaries(i8x16Binary, simd, "v128", "v128"),
  ...unaries({ splat: 0x0f } as const, simd, "i32", "v128"),
};

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

function laneAccess<Type extends ValueType>(
  opcode: number,
  alignment: number,
  address: I32,
  value: Expression<Type>,
  lane: number,
  offset: number,
): Statement {
  return { code: [address.code, value.code, simd(opcode), alignment, unsigned(offset), lane] };
}

function repeated(bytes: Bytes, times: number): Bytes {
  return Array<Bytes>(times).fill(bytes).flat();
}
