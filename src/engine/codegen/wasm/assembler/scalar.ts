/** Scalar instructions (WebAssembly specification, "Numeric Instructions"), under the names of the specification. */
import { float32Bytes, float64Bytes, signed32, signed64 } from "./encoding.ts";
import {
  type Expression,
  type F32,
  type F64,
  type I32,
  type I64,
  type Statement,
  type ValueType,
  expression,
} from "./expression.ts";
import { type Instructions, instructionSet, miscellaneous, plain } from "./instruction-tables.ts";

const i32Table = {
  "i32 i32 > i32": {
    add: 0x6a,
    sub: 0x6b,
    mul: 0x6c,
    divS: 0x6d,
    divU: 0x6e,
    remU: 0x70,
    and: 0x71,
    or: 0x72,
    xor: 0x73,
    shl: 0x74,
    shrS: 0x75,
    shrU: 0x76,
    eq: 0x46,
    ne: 0x47,
    ltS: 0x48,
    ltU: 0x49,
    gtS: 0x4a,
    leU: 0x4d,
  },
  "i32 > i32": { eqz: 0x45 },
  "i64 > i32": { wrap: 0xa7 },
  "load i32": { load: [0x28, 2], load8S: [0x2c, 0], load8U: [0x2d, 0], load16U: [0x2f, 1] },
  "store i32": { store: [0x36, 2], store8: [0x3a, 0], store16: [0x3b, 1] },
} as const;

const i64Table = {
  "i64 i64 > i64": { add: 0x7c, mul: 0x7e, divS: 0x7f, xor: 0x85, shrS: 0x87 },
  "i64 i64 > i32": { eq: 0x51, ne: 0x52, ltS: 0x53, gtS: 0x55, leU: 0x58 },
  "i32 > i64": { extendI32S: 0xac, extendI32U: 0xad },
  "load i64": { load: [0x29, 3] },
  "store i64": { store: [0x37, 3] },
} as const;
/** Saturating; NaN gives 0. */
const i64Conversions = { "f32 > i64": { truncSatF32S: 4 }, "f64 > i64": { truncSatF64S: 6 } } as const;

const f32Table = {
  "f32 f32 > f32": { add: 0x92, sub: 0x93, mul: 0x94, min: 0x96, max: 0x97 },
  "f32 f32 > i32": { ne: 0x5c, lt: 0x5d, gt: 0x5e, le: 0x5f, ge: 0x60 },
  "i32 > f32": { convertI32S: 0xb2 },
  "i64 > f32": { convertI64S: 0xb4 },
  "f64 > f32": { demote: 0xb6 },
  "load f32": { load: [0x2a, 2] },
  "store f32": { store: [0x38, 2] },
} as const;

const f64Table = {
  "f64 f64 > f64": { add: 0xa0, mul: 0xa2 },
  "f32 > f64": { promote: 0xbb },
  "i64 > f64": { convertI64S: 0xb9 },
  "store f64": { store: [0x39, 3] },
} as const;

/** Generators of the instructions on 32-bit integers. */
export const i32: Instructions<typeof i32Table> & { readonly const: (value: number) => I32 } = {
  ...instructionSet(i32Table, plain),
  const: (value) => expression("i32", 0x41, signed32(value)),
};

/** Generators of the instructions on 64-bit integers. */
export const i64: Instructions<typeof i64Table> &
  Instructions<typeof i64Conversions> & { readonly const: (value: bigint) => I64 } = {
  ...instructionSet(i64Table, plain),
  ...instructionSet(i64Conversions, miscellaneous),
  const: (value) => expression("i64", 0x42, signed64(value)),
};

/** Generators of the instructions on float32. */
export const f32: Instructions<typeof f32Table> & { readonly const: (value: number) => F32 } = {
  ...instructionSet(f32Table, plain),
  const: (value) => expression("f32", 0x43, float32Bytes(value)),
};

/** Generators of the instructions on float64. */
export const f64: Instructions<typeof f64Table> & { readonly const: (value: number) => F64 } = {
  ...instructionSet(f64Table, plain),
  const: (value) => expression("f64", 0x44, float64Bytes(value)),
};

/** Generates memory.copy: copies `bytes` bytes from address `source` to address `target`; the ranges may overlap. */
export function copyMemory(target: I32, source: I32, bytes: I32): Statement {
  return { code: [target.code, source.code, bytes.code, 0xfc, 10, 0, 0] };
}

/** Generates `whenTrue` where the condition is not 0, else `whenFalse`. Both are evaluated. */
export function selectValue<Type extends ValueType>(
  condition: I32,
  whenTrue: Expression<Type>,
  whenFalse: Expression<Type>,
): Expression<Type> {
  const typed = whenTrue.type === "v128" ? [0x1c, 1, 0x7b] : [0x1b];
  return expression(whenTrue.type, whenTrue.code, whenFalse.code, condition.code, typed);
}
