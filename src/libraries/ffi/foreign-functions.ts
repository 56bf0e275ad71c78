/** Functions of native libraries, and memory that they share with JavaScript. The one place that uses koffi. */
import { invalidInput } from "../../contract/errors.ts";
import { type Koffi, type KoffiFunction, importKoffi } from "./koffi.ts";
import { callNative, marshalSignature } from "./marshalling.ts";
import { NativeLibrary } from "./native-library.ts";
import type { CallbackArguments, NativeFunction, NativeMemory, ResultOf, Signature } from "./native-type.ts";

/** A function of JavaScript that C can call. */
export interface NativeCallback {
  /** The address that C is given. */
  readonly address: bigint;
  /** Frees it; C must not call it any more. There can be 8,192 at a time. */
  readonly release: () => void;
}

/** Calls native libraries. A wrong signature, address or length is not noticed: it reads or writes other memory, or ends the process. */
export class ForeignFunctions {
  readonly #koffi: Koffi;

  private constructor(koffi: Koffi) {
    this.#koffi = koffi;
  }

  /** Throws BACKEND_UNAVAILABLE if koffi, an optional package, is not installed. `importer` replaces its import. */
  static async load(importer?: () => Promise<unknown>): Promise<ForeignFunctions> {
    return new ForeignFunctions(await importKoffi(importer));
  }

  /** Opens a shared library: see `NativeLibrary.open`. */
  open(path: string): NativeLibrary {
    return NativeLibrary.open(this.#koffi, path);
  }

  /** The function at an address, as a table of function pointers has it, called on this thread. */
  functionAt<const Of extends Signature>(address: bigint, signature: Of): NativeFunction<Of> {
    const types = marshalSignature(this.#koffi, signature);
    const prototype = this.#koffi.proto(
      types.result.type,
      types.parameters.map(({ type }) => type),
    );
    const native = this.#koffi.decode(notNull(address), prototype) as KoffiFunction;
    return ((...inputs: unknown[]) => callNative(native, types, inputs)) as NativeFunction<Of>;
  }

  /**
   * Makes a function of JavaScript callable from C. It runs on the thread of JavaScript: where C calls it on another thread, that thread
   * waits until this one is back in its event loop. Where it throws, C is given zero.
   */
  callback<const Of extends Signature>(
    signature: Of,
    run: (...inputs: CallbackArguments<Of["parameters"]>) => ResultOf<Of["result"]>,
  ): NativeCallback {
    const { result, parameters } = marshalSignature(this.#koffi, signature);
    const prototype = this.#koffi.proto(
      result.type,
      parameters.map(({ type }) => type),
    );
    const address = this.#koffi.register((...inputs: unknown[]) => {
      const values = parameters.map(({ fromNative }, index) => fromNative(inputs[index]));
      return result.toNative(run(...(values as CallbackArguments<Of["parameters"]>)));
    }, this.#koffi.pointer(prototype));
    return { address, release: () => this.#koffi.unregister(address) };
  }

  /** Memory at an address, without a copy. It is valid for as long as its owner keeps it. */
  memoryAt(address: bigint, byteLength: number): ArrayBuffer {
    return this.#koffi.view(notNull(address), byteLength);
  }

  /** A copy of bytes at an address. */
  bytesAt(address: bigint, byteLength: number): Uint8Array {
    return new Uint8Array(this.memoryAt(address, byteLength)).slice();
  }

  /** A copy of the UTF-8 string at an address, up to its zero byte. */
  stringAt(address: bigint): string {
    const text = this.#koffi.decode(new BigUint64Array([notNull(address)]), "str");
    return text as string;
  }

  /**
   * The address of memory of JavaScript (also of a WebAssembly.Memory), which does not move. The caller keeps the memory referenced while C
   * uses it; a WebAssembly.Memory that grows gets another address.
   */
  getAddress(memory: NativeMemory): bigint {
    return this.#koffi.address(ArrayBuffer.isView(memory) ? memory : new Uint8Array(memory));
  }
}

function notNull(address: bigint): bigint {
  if (address !== 0n) return address;
  throw invalidInput("a null pointer names no memory");
}
