/** Four elements in registers: how each type is represented, loaded and stored. */
import { InferyardError } from "../../../../../contract/errors.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { i16x8, i32x4, i8x16, v128 } from "../../assembler/vector.ts";
import { indices, storeLanes } from "../loops/lanes.ts";
import { float32ToFloat16, float16ToFloat32 } from "./float16.ts";
import { type ElementwiseType, laneBytes, type RegisterType } from "./request.ts";

/** Four elements in registers: one vector, or two vectors of two lanes each for int64 and float64. */
export interface RegisterValue {
  readonly type: RegisterType;
  readonly parts: readonly Local<"v128">[];
}

/** The type in which elements of this memory type are held in registers. */
export function registerType(type: ElementwiseType): RegisterType {
  if (type === "float16") return "float32";
  return type === "uint8" || type === "int8" || type === "uint16" || type === "int16" ? "int32" : type;
}

/** Whether four elements of this type take two vectors, because an element has 64 bits. */
export function needsTwoVectors(type: RegisterType): type is "int64" | "float64" {
  return type === "int64" || type === "float64";
}

/**
 * Loads four elements that begin at `address`, one after the other (`stride` 1) or one for all (0), and widens them to `registerType(type)`. Fewer are
 * used at the end of a row. Throws CONTRACT_VIOLATION for other strides, which broadcasting does not give the last axis.
 */
export function loadElements(f: FunctionBuilder, type: ElementwiseType, address: I32, stride: number): RegisterValue {
  const made = (...parts: V128[]): RegisterValue => ({ type: registerType(type), parts: parts.map((part) => f.value(part)) });
  const bytes = laneBytes[type];
  if (stride !== 0 && stride !== 1)
    throw new InferyardError("CONTRACT_VIOLATION", `elements of the last axis of an elementwise kernel lie ${stride} apart`);
  if (bytes === 8) {
    const at = f.value(address);
    return made(...[0, 16].map((offset) => (stride === 0 ? v128.load64Splat(at) : v128.load(at, offset))));
  }
  if (bytes === 2) {
    const halves = stride === 0 ? v128.load16Splat(address) : v128.load64Zero(address);
    if (type === "int16") return made(i32x4.extendLowI16x8S(halves));
    const wide = i32x4.extendLowI16x8U(halves);
    return made(type === "float16" ? float16ToFloat32(f, wide) : wide);
  }
  if (stride === 0) return made(widenTo32(type, bytes === 4 ? v128.load32Splat(address) : v128.load8Splat(address)));
  return made(widenTo32(type, bytes === 4 ? v128.load(address) : v128.load32Zero(address)));
}

/** Widens the four low bytes of an 8-bit type to 32-bit lanes; returns 32-bit types unchanged. */
function widenTo32(type: ElementwiseType, loaded: V128): V128 {
  if (type === "int8") return i32x4.extendLowI16x8S(i16x8.extendLowI8x16S(loaded));
  if (type !== "uint8" && type !== "bool") return loaded;
  const wide = i32x4.extendLowI16x8U(i16x8.extendLowI8x16U(loaded));
  return type === "bool" ? i32x4.ne(wide, v128.zero) : wide;
}

/** Stores the first `lanes` elements contiguously at `address`, narrowed to `type`. Throws CONTRACT_VIOLATION when the value has another register type. */
export function storeElements(
  f: FunctionBuilder,
  type: ElementwiseType,
  address: I32,
  value: RegisterValue,
  lanes: number,
): void {
  if (value.type !== registerType(type))
    throw new InferyardError("CONTRACT_VIOLATION", `an elementwise kernel ends with ${value.type} and is to store ${type}`);
  const [low, high] = value.parts;
  if (low === undefined) return;
  if (needsTwoVectors(value.type)) {
    const at = f.value(address);
    storeLanes(f, at, low, Math.min(lanes, 2) * 2);
    if (high !== undefined) storeLanes(f, at, high, (lanes - 2) * 2, 16);
    return;
  }
  if (laneBytes[type] === 4) {
    storeLanes(f, address, low, lanes);
    return;
  }
  if (laneBytes[type] === 2) {
    const halves = type === "float16" ? float32ToFloat16(f, low) : f.value(v128.and(low, i32x4.const(0xffff)));
    const packed = f.value(i16x8.narrowI32x4U(halves, halves));
    const at = f.value(address);
    if (lanes === 4) f.run(v128.store64Lane(at, packed, 0));
    else for (const lane of indices(lanes)) f.run(v128.store16Lane(at, packed, lane, lane * 2));
    return;
  }
  const small = v128.and(low, i32x4.const(type === "bool" ? 1 : 0xff));
  const words = i16x8.narrowI32x4U(small, small);
  const packed = f.value(i8x16.narrowI16x8U(words, words));
  if (lanes === 4) f.run(v128.store32Lane(address, packed, 0));
  else for (const lane of indices(lanes)) f.run(v128.store8Lane(address, packed, lane, lane));
}

/** Address of the element at index `place`: base + place * stride elements. */
export function elementAddress(base: I32, place: I32, stride: number, type: ElementwiseType): I32 {
  const bytes = stride * laneBytes[type];
  if (bytes === 0) return base;
  return i32.add(base, bytes === 1 ? place : i32.mul(place, i32.const(bytes)));
}
