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
import {
  type BinaryInstruction,
  type LoadInstruction,
  type Named,
  type Store,
  type UnaryInstruction,
  binaries,
  loads,
  plain,
  stores,
  unaries,
} from "./instruction-tables.ts";

const i32Binary = {
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
} as const;
const i32Load = { load: [0x28, 2], load8S: [0x2c, 0], load8U: [0x2d, 0], load16U: [0x2f, 1] } as const;
const i32Store = { store: [0x36, 2], store8: [0x3a, 0], store16: [0x3b, 1] } as const;

const i64Binary = {
  add: 0x7c,
  mul: 0x7e,
  divS: 0x7f,
  xor: 0x85,
  shrS: 0x87,
} as const;
const i64Compare = {
  eq: 0x51,
  ne: 0x52,
  ltS: 0x53,
  gtS: 0x55,
  leU: 0x58,
} as const;
const i64Load = { load: [0x29, 3] } as const;
const i64Store = { store: [0x37, 3] } as const;

const f32Binary = { add: 0x92, sub: 0x93, mul: 0x94, min: 0x96, max: 0x97 } as const;
const f32Compare = { ne: 0x5c, lt: 0x5d, gt: 0x5e, le: 0x5f, ge: 0x60 } as const;
const f32Load = { load: [0x2a, 2] } as const;
const f32Store = { store: [0x38, 2] } as const;

const f64Binary = { add: 0xa0, mul: 0xa2 } as const;
const f64Store = { store: [0x39, 3] } as const;

/** Generators of the instructions on 32-bit integers. */
export const i32: Named<typeof i32Binary, BinaryInstruction<"i32">> &
  Named<typeof i32Load, LoadInstruction<"i32">> &
  Named<typeof i32Store, Store<"i32">> & {
    readonly const: (value: number) => I32;
    readonly eqz: UnaryInstruction<"i32">;
    readonly wrap: UnaryInstruction<"i64", "i32">;
  } = {
  const: (value) => expression("i32", 0x41, signed32(value)),
  ...binaries(i32Binary, plain, "i32", "i32"),
  ...loads(i32Load, plain, "i32"),
  ...stores(i32Store, plain, "i32"),
  ...unaries({ eqz: 0x45 } as const, plain, "i32", "i32"),
  ...unaries({ wrap: 0xa7 } as const, plain, "i64", "i32"),
};

/** Generators of the instructions on 64-bit integers. */
export const i64: Named<typeof i64Binary, BinaryInstruction<"i64">> &
  Named<typeof i64Compare, BinaryInstruction<"i64", "i32">> &
  Named<typeof i64Load, LoadInstruction<"i64">> &
  Named<typeof i64Store, Store<"i64">> & {
    readonly const: (value: bigint) => I64;
    readonly extendI32S: UnaryInstruction<"i32", "i64">;
    readonly extendI32U: UnaryInstruction<"i32", "i64">;
    /** Saturating; NaN gives 0. */
    readonly truncSatF32S: UnaryInstruction<"f32", "i64">;
    readonly truncSatF64S: UnaryInstruction<"f64", "i64">;
  } = {
  const: (value) => expression("i64", 0x42, signed64(value)),
  ...binaries(i64Binary, plain, "i64", "i64"),
  ...binaries(i64Compare, plain, "i64", "i32"),
  ...loads(i64Load, plain, "i64"),
  ...stores(i64Store, plain, "i64"),
  ...unaries({ extendI32S: 0xac, extendI32U: 0xad } as const, plain, "i32", "i64"),
  truncSatF32S: (value) => expression("i64", value.code, 0xfc, 4),
  truncSatF64S: (value) => expression("i64", value.code, 0xfc, 6),
};

/** Generators of the instructions on float32. */
export const f32: Named<typeof f32Binary, BinaryInstruction<"f32">> &
  Named<typeof f32Compare, BinaryInstruction<"f32", "i32">> &
  Named<typeof f32Load, LoadInstruction<"f32">> &
  Named<typeof f32Store, Store<"f32">> & {
    readonly const: (value: number) => F32;
    readonly convertI32S: UnaryInstruction<"i32", "f32">;
    readonly convertI64S: UnaryInstruction<"i64", "f32">;
    readonly demote: UnaryInstruction<"f64", "f32">;
  } = {
  const: (value) => expression("f32", 0x43, float32Bytes(value)),
  ...binaries(f32Binary, plain, "f32", "f32"),
  ...binaries(f32Compare, plain, "f32", "i32"),
  ...loads(f32Load, plain, "f32"),
  ...stores(f32Store, plain, "f32"),
  ...unaries({ convertI32S: 0xb2 } as const, plain, "i32", "f32"),
  ...unaries({ convertI64S: 0xb4 } as const, plain, "i64", "f32"),
  ...unaries({ demote: 0xb6 } as const, plain, "f64", "f32"),
};

/** Generators of the instructions on float64. */
export const f64: Named<typeof f64Binary, BinaryInstruction<"f64">> &
  Named<typeof f64Store, Store<"f64">> & {
    readonly const: (value: number) => F64;
    readonly promote: UnaryInstruction<"f32", "f64">;
    readonly convertI64S: UnaryInstruction<"i64", "f64">;
  } = {
  const: (value) => expression("f64", 0x44, float64Bytes(value)),
  ...binaries(f64Binary, plain, "f64", "f64"),
  ...stores(f64Store, plain, "f64"),
  ...unaries({ promote: 0xbb } as const, plain, "f32", "f64"),
  ...unaries({ convertI64S: 0xb9 } as const, plain, "i64", "f64"),
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
