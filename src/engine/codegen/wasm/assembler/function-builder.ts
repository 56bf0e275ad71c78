/** Builds one function: parameters, locals, statements and structured control flow. */
import { type Bytes, ByteWriter, type Code, unsigned, vector } from "./encoding.ts";
import {
  type Expression,
  type I32,
  type Local,
  type Statement,
  type V128,
  type ValueType,
  expression,
  getLocal,
  typeCodes,
} from "./expression.ts";
import type { WasmFeatures } from "./wasm-features.ts";
import type { HostFunction } from "./host-functions.ts";
import { i32 } from "./scalar.ts";
import { f32x4, i16x8, i32x4 } from "./vector.ts";

const loop = 0x03;
const elseCode = 0x05;
const end = 0x0b;
const emptyBlockType = 0x40;
const branchIf = 0x0d;

/** Builds the code of one function. Methods append code in the order of the calls. */
export class FunctionBuilder {
  /** Features that the code may use. */
  readonly features: WasmFeatures;
  readonly #importOf: (name: HostFunction) => number;
  readonly #parameters: ValueType[] = [];
  readonly #locals: ValueType[] = [];
  readonly #code = new ByteWriter();

  /** `importOf` returns the index of an imported host function. */
  constructor(features: WasmFeatures, importOf: (name: HostFunction) => number) {
    this.features = features;
    this.#importOf = importOf;
  }

  /** Declares a parameter. All parameters must be declared before the first local. */
  parameter<Type extends ValueType>(type: Type): Local<Type> {
    this.#parameters.push(type);
    return getLocal(type, this.#parameters.length - 1);
  }

  /** Declares a local variable. */
  local<Type extends ValueType>(type: Type): Local<Type> {
    this.#locals.push(type);
    return getLocal(type, this.#parameters.length + this.#locals.length - 1);
  }

  /** Declares several local variables. */
  locals<Type extends ValueType>(type: Type, count: number): Local<Type>[] {
    return Array.from({ length: count }, () => this.local(type));
  }

  /** Computes the expression at this point and stores it in a new local. */
  value<Type extends ValueType>(of: Expression<Type>): Local<Type> {
    const local = this.local(of.type);
    this.set(local, of);
    return local;
  }

  /** Assigns the expression to the local. */
  set<Type extends ValueType>(local: Local<Type>, to: Expression<Type>): void {
    this.#write(to.code, [0x21, ...unsigned(local.index)]);
  }

  /** Appends a statement. */
  run(statement: Statement): void {
    this.#write(statement.code);
  }

  /** Adds `amount` to a local variable. */
  increase(local: Local<"i32">, amount: number | I32): void {
    this.set(local, i32.add(local, typeof amount === "number" ? i32.const(amount) : amount));
  }

  /** Emits a loop that executes the body, then repeats it while the condition is not 0. */
  doWhile(body: () => void, condition: () => I32): void {
    this.#write([loop, emptyBlockType]);
    body();
    this.#write(condition().code, [branchIf, 0, end]);
  }

  /** Emits a loop that executes the body while the condition is not 0. The condition is checked before each iteration. */
  while(condition: () => I32, body: () => void): void {
    this.when(condition(), () => this.doWhile(body, condition));
  }

  /** Emits a loop that executes the body `times` times. If `times` is an expression, its value must be above 0. */
  repeat(times: number | I32, body: () => void): void {
    if (typeof times === "number" && times <= 0) return;
    if (times === 1) {
      body();
      return;
    }
    const left = this.value(typeof times === "number" ? i32.const(times) : times);
    this.doWhile(body, () => this.#stepped(left, -1));
  }

  /** Emits the body with `index` from `from` to `to` (exclusive, signed) in steps of `step`. Only this loop may change the index. */
  range(from: I32, to: I32, step: number, body: (index: Local<"i32">) => void): void {
    const index = this.value(from);
    const last = this.value(to);
    this.when(i32.ltS(index, last), () => {
      this.doWhile(
        () => body(index),
        () => i32.ltS(this.#stepped(index, step), last),
      );
    });
  }

  /** Emits `then`, executed when the condition is not 0, and `otherwise`, executed when it is 0. */
  when(condition: I32, then: () => void, otherwise?: () => void): void {
    this.#write(condition.code, [0x04, emptyBlockType]);
    then();
    if (otherwise !== undefined) {
      this.#write([elseCode]);
      otherwise();
    }
    this.#write([end]);
  }

  /** Returns the value from the function. */
  return(value: Expression<ValueType>): void {
    this.#write(value.code, [0x0f]);
  }

  /** Emits the return value of the function. Must be the last call. */
  result(value: Expression<ValueType>): void {
    this.#write(value.code);
  }

  /** a*b + c, rounded once where relaxed SIMD is available and the machine has fused multiply-add, else rounded twice. */
  madd(a: V128, b: V128, c: V128): V128 {
    return this.features.relaxedSimd ? f32x4.relaxedMadd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
  }

  /**
   * Products of signed bytes with bytes, neighbouring products added, as int16. `features.byteDot` says whether `bytes` are signed; "none" emulates the
   * signed instruction. Exact only where no sum exceeds 16 bits.
   */
  pairDot(signed: Local<"v128">, bytes: Local<"v128">): V128 {
    if (this.features.byteDot !== "none") return i16x8.relaxedDotI8x16I7x16S(signed, bytes);
    const low = i32x4.dotI16x8S(i16x8.extendLowI8x16S(signed), i16x8.extendLowI8x16S(bytes));
    const high = i32x4.dotI16x8S(i16x8.extendHighI8x16S(signed), i16x8.extendHighI8x16S(bytes));
    return i16x8.narrowI32x4S(low, high);
  }

  /** Calls an imported function of the host. */
  callHost(name: HostFunction, ...values: readonly Expression<"f64">[]): Expression<"f64"> {
    return expression("f64", ...values.map((value) => value.code), 0x10, unsigned(this.#importOf(name)));
  }

  /** The signature and body in the binary format. */
  build(result: ValueType): { readonly type: Bytes; readonly body: Uint8Array } {
    const typeBytes = (types: readonly ValueType[]): Bytes => vector(types.map((type) => [typeCodes[type]]));
    const body = new ByteWriter();
    body.code(vector(this.#locals.map((type) => [1, typeCodes[type]])));
    body.append(this.#code.bytes);
    body.push(end);
    return { type: [0x60, ...typeBytes(this.#parameters), ...typeBytes([result])], body: body.bytes };
  }

  #write(...parts: Code): void {
    this.#code.code(parts);
  }

  /** Emits local += step and returns the new value as an expression. */
  #stepped(local: Local<"i32">, step: number): I32 {
    return expression("i32", i32.add(local, i32.const(step)).code, 0x22, unsigned(local.index));
  }
}
