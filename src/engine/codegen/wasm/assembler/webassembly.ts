/**
 * The part of the host's WebAssembly interface that the engine uses, stated here because neither Node's types nor our compiler options
 * declare it (https://webassembly.github.io/spec/js-api/). Host Node.js started with --jitless has none.
 */
import { InferyardError } from "../../../../contract/errors.ts";

/** A compiled module. It may be posted to workers. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

/** Linear memory. `buffer` is a SharedArrayBuffer where the memory is shared. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  grow(pages: number): number;
}

/** A function that a module exports: kernels take and return 32-bit integers. */
export type WasmExport = (...values: number[]) => number;

/** An instantiated module. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, WasmExport>>;
}

/** Imported memories and functions, by module name and field name. */
export type WasmImports = Readonly<
  Record<string, Readonly<Record<string, WasmMemory | ((first: number, second: number) => number)>>>
>;

/** The part of the global `WebAssembly` object that the engine uses. */
export interface WasmHost {
  validate(bytes: Uint8Array): boolean;
  compile(bytes: Uint8Array): Promise<WasmModule>;
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: WasmImports) => WasmInstance;
  readonly Memory: new (limits: { initial: number; maximum?: number; shared?: boolean }) => WasmMemory;
}

/** Bytes of a page of WebAssembly memory. */
export const wasmPageBytes = 65_536;

/** The global `WebAssembly` object. Throws BACKEND_UNAVAILABLE when WebAssembly is not supported. */
export function wasmHost(): WasmHost {
  const host = (globalThis as { readonly WebAssembly?: WasmHost }).WebAssembly;
  if (host !== undefined) return host;
  throw new InferyardError("BACKEND_UNAVAILABLE", "this process does not support WebAssembly", {
    remedy: "start Node.js without --jitless, or choose another backend",
  });
}
