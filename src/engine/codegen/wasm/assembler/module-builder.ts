/** Builds a module that imports one memory and exports functions (WebAssembly specification, "Modules"). */
import { type Bytes, ByteWriter, encodeName, unsigned, vector } from "./encoding.ts";
import type { ValueType } from "./expression.ts";
import type { WasmFeatures } from "./wasm-features.ts";
import { FunctionBuilder } from "./function-builder.ts";
import { type HostFunction, binaryHostFunctions } from "./host-functions.ts";

/** Names of the imports of every module: the memory it computes in, and the space of the host functions. */
export const importNames = { memory: ["engine", "memory"], host: "host" } as const;

const f64Code = 0x7c;
/** Magic number and version 1 of the binary format. */
const header: Bytes = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const maxPages = 65_536;

/** Builds one WebAssembly module from the code of its functions and returns its binary. */
export class ModuleBuilder {
  readonly #features: WasmFeatures;
  readonly #imports: HostFunction[] = [];
  readonly #functions: { readonly name: string; readonly type: Bytes; readonly body: Uint8Array }[] = [];

  constructor(features: WasmFeatures) {
    this.#features = features;
  }

  /** Adds an exported function. `define` declares its parameters, writes its body and leaves the result. */
  function(name: string, result: ValueType, define: (f: FunctionBuilder) => void): void {
    const builder = new FunctionBuilder(this.#features, (host) => this.#getImport(host));
    define(builder);
    this.#functions.push({ name, ...builder.build(result) });
  }

  /** The binary of the module. `shared`: it imports shared memory and accepts no other; otherwise it accepts plain memory only. */
  build(memory: { readonly shared: boolean }): Uint8Array<ArrayBuffer> {
    const functions = this.#functions;
    const types = [...this.#imports.map(hostType), ...functions.map(({ type }) => type)];
    const limits = memory.shared ? [3, ...unsigned(0), ...unsigned(maxPages)] : [0, ...unsigned(0)];
    const [space, name] = importNames.memory;
    const imports = [
      [...encodeName(space), ...encodeName(name), 2, ...limits],
      ...this.#imports.map((host, index) => [...encodeName(importNames.host), ...encodeName(host), 0, ...unsigned(index)]),
    ];
    const first = this.#imports.length; // imported functions come first in the index space
    const module = new ByteWriter();
    const section = (id: number, body: ByteWriter): void => {
      module.push(id);
      module.sized(body.bytes);
    };
    module.code(header);
    section(1, written(vector(types)));
    section(2, written(vector(imports)));
    section(3, written(vector(functions.map((_, index) => unsigned(first + index)))));
    section(7, written(vector(functions.map((one, index) => [...encodeName(one.name), 0, ...unsigned(first + index)]))));
    const code = written(unsigned(functions.length));
    for (const { body } of functions) code.sized(body);
    section(10, code);
    return module.bytes;
  }

  #getImport(host: HostFunction): number {
    const known = this.#imports.indexOf(host);
    return known === -1 ? this.#imports.push(host) - 1 : known;
  }
}

function hostType(host: HostFunction): Bytes {
  return [
    0x60,
    ...vector(Array.from({ length: binaryHostFunctions.has(host) ? 2 : 1 }, () => [f64Code])),
    ...vector([[f64Code]]),
  ];
}

function written(bytes: Bytes): ByteWriter {
  const writer = new ByteWriter();
  writer.code(bytes);
  return writer;
}
