/** A PJRT plugin in this process, and calls of its functions. */
import {
  type ForeignFunctions,
  type NativeFunction,
  type StructLayout,
  cLibraryPath,
  readField,
  writeField,
} from "../../../libraries/ffi/index.ts";
import { pjrtApi } from "../../../libraries/contracts/index.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type PjrtFunctionName, namedValueLayout, pjrtFunctions } from "./structs.ts";

/** Values of the fields of a struct. A typed array is passed as its address, and must stay reachable for as long as the plugin uses it. */
export type PjrtFields = Readonly<Record<string, bigint | number | Uint8Array | BigInt64Array | BigUint64Array | undefined>>;

/** The fields of a struct after a call. */
export interface PjrtAnswer {
  /** A field as a number. */
  number(field: string): number;
  /** A field as an address. */
  address(field: string): bigint;
  /** The text of a field whose length is in `<field>_size`. */
  text(field: string): string;
}

type Call = NativeFunction<{ readonly result: "pointer"; readonly parameters: readonly ["pointer"] }>;

/**
 * Flags RTLD_NOW | RTLD_NODELETE of dlopen on Linux: the library stays loaded to the end of the process, since plugins crash when they are unloaded.
 */
const pinned = 0x1002;
/**
 * Bytes of zeros after the arguments of a call: fields that later versions of the API add. A plugin refuses arguments that are smaller than it knows them,
 * and accepts larger ones.
 */
const spareBytes = 64;
/** The oldest minor version of the API whose function table and structs match `pjrtFunctions`. */
const oldestMinor = 54;

/** The code of absl::Status for memory or another resource that is used up. */
const exhausted = 8;

/** An error that a plugin returned. */
interface PluginFailure {
  /** Code of absl::Status, such as 3 for an invalid argument. */
  readonly status: number;
  readonly message: string;
}

/** A loaded plugin of a supported version. Methods throw RUN_FAILED with the plugin's message if a function of the plugin fails. */
export class PjrtPlugin {
  /** Version of the API, such as "0.106". */
  readonly apiVersion: string;
  readonly ffi: ForeignFunctions;
  readonly #functions = new Map<PjrtFunctionName, Call>();
  /** Objects whose memory the running call uses by address; a local variable that is not read any more does not keep them from being collected. */
  readonly #reachable = new Set<object>();

  /**
   * Loads the plugin at an absolute path and initializes it. Throws LIBRARY_INCOMPATIBLE if the file is not a PJRT plugin or has an unsupported
   * version, and LOAD_FAILED if the operating system cannot load it.
   */
  static open(ffi: ForeignFunctions, path: string): PjrtPlugin {
    const pin = ffi.open(cLibraryPath()).bind("dlopen", { result: "pointer", parameters: ["string", "int32"] });
    const library = ffi.open(path);
    pin(path, pinned);
    const address = library.bind("GetPjrtApi", { result: "pointer", parameters: [] })();
    if (address === 0n) throw incompatible(path, "GetPjrtApi returns nothing");
    return new PjrtPlugin(ffi, path, address);
  }

  private constructor(ffi: ForeignFunctions, path: string, address: bigint) {
    this.ffi = ffi;
    const head = ffi.bytesAt(address, pjrtApi.size);
    const field = (name: string): number => Number(readField(pjrtApi, head, name));
    const [size, major, minor] = [field("struct_size"), field("major_version"), field("minor_version")];
    this.apiVersion = `${major}.${minor}`;
    if (major !== 0 || minor < oldestMinor)
      throw incompatible(path, `it has version ${this.apiVersion} of the PJRT API, expected 0.${oldestMinor} or a later 0.x`);
    // A slot exists if the struct reaches to its end. A damaged size may claim more memory than there is.
    const stated = Math.max(0, Math.floor((size - pjrtApi.size) / 8));
    const count = Math.min(stated, 1 + Math.max(...Object.values(pjrtFunctions).map(({ slot }) => slot)));
    const table = new BigUint64Array(ffi.bytesAt(address + BigInt(pjrtApi.size), count * 8).buffer);
    for (const [name, { slot }] of Object.entries(pjrtFunctions)) {
      const at = table[slot] ?? 0n;
      if (at === 0n) throw incompatible(path, `it lacks PJRT_${name}`);
      this.#functions.set(name as PjrtFunctionName, ffi.functionAt(at, { result: "pointer", parameters: ["pointer"] }));
    }
    this.call("Plugin_Initialize", {});
  }

  /**
   * Calls a function with a struct of arguments, and returns the struct's fields after the call. `pointedTo`: arrays whose addresses are in the memory that
   * the fields point to. Throws RUN_FAILED if the function returns an error, and OUT_OF_MEMORY.
   */
  call(name: PjrtFunctionName, fields: PjrtFields, pointedTo: readonly object[] = []): PjrtAnswer {
    const { layout } = pjrtFunctions[name];
    const bytes = structBytes(this.ffi, layout, fields, spareBytes);
    this.#reachable.add(fields).add(pointedTo);
    const failed = this.#getFunction(name)(bytes);
    this.#reachable.clear();
    if (failed !== 0n) throw this.#getError(name, failed);
    const answer: PjrtAnswer = {
      number: (field) => Number(readField(layout, bytes, field)),
      address: (field) => readField(layout, bytes, field) as bigint,
      text: (field) => this.textAt(answer.address(field), answer.number(`${field}_size`)),
    };
    return answer;
  }

  /** Decodes the UTF-8 text of `byteLength` bytes at an address. */
  textAt(address: bigint, byteLength: number): string {
    return byteLength === 0 ? "" : new TextDecoder().decode(this.ffi.bytesAt(address, byteLength));
  }

  /** Blocks this thread until a PJRT event is ready, and frees the event. Throws RUN_FAILED if the operation of the event failed. */
  finish(event: bigint): void {
    if (event === 0n) return;
    try {
      this.call("Event_Await", { event });
    } finally {
      this.call("Event_Destroy", { event });
    }
  }

  /** Attributes of the plugin by name, such as `stablehlo_current_version`. Lists of numbers are joined by dots. */
  attributes(): Readonly<Record<string, string>> {
    const answer = this.call("Plugin_Attributes", {});
    const count = answer.number("num_attributes");
    const first = answer.address("attributes");
    const named = Array.from({ length: count }, (_, index) => {
      const bytes = this.ffi.bytesAt(first + BigInt(index * namedValueLayout.size), namedValueLayout.size);
      const field = (name: string): bigint => BigInt(readField(namedValueLayout, bytes, name));
      return [
        this.textAt(field("name"), Number(field("name_size"))),
        this.#attributeText(Number(field("type")), field("value"), Number(field("value_size"))),
      ];
    });
    return Object.fromEntries(named) as Record<string, string>;
  }

  /** Formats the value of an attribute: text (type 0), a number (1), or a list of numbers (2). */
  #attributeText(type: number, value: bigint, size: number): string {
    if (type === 0) return this.textAt(BigInt.asUintN(64, value), size);
    if (type !== 2) return String(value);
    return [...new BigInt64Array(this.ffi.bytesAt(BigInt.asUintN(64, value), size * 8).buffer)].join(".");
  }

  #getFunction(name: PjrtFunctionName): Call {
    const found = this.#functions.get(name);
    if (found === undefined) throw new TypeError(`PJRT_${name} is not bound`);
    return found;
  }

  #getError(name: PjrtFunctionName, error: bigint): InferyardError {
    const { status, message } = this.#describe(error);
    const code = status === exhausted ? "OUT_OF_MEMORY" : "RUN_FAILED";
    return new InferyardError(code, `PJRT_${name} failed (status ${status}): ${message}`, {
      data: { function: `PJRT_${name}`, status },
    });
  }

  #describe(error: bigint): PluginFailure {
    const message = structBytes(this.ffi, pjrtFunctions.Error_Message.layout, { error }, spareBytes);
    this.#getFunction("Error_Message")(message);
    const field = (name: string): bigint => readField(pjrtFunctions.Error_Message.layout, message, name) as bigint;
    const text = this.textAt(field("message"), Number(field("message_size")));
    const code = structBytes(this.ffi, pjrtFunctions.Error_GetCode.layout, { error }, spareBytes);
    this.#getFunction("Error_GetCode")(code);
    const status = Number(readField(pjrtFunctions.Error_GetCode.layout, code, "code"));
    this.#getFunction("Error_Destroy")(structBytes(this.ffi, pjrtFunctions.Error_Destroy.layout, { error }, spareBytes));
    return { status, message: text };
  }
}

/** The bytes of a struct with these fields, `spare` bytes of zeros after them, and the size of both. Missing fields are zero. */
export function structBytes(ffi: ForeignFunctions, layout: StructLayout, fields: PjrtFields, spare: number = 0): Uint8Array {
  const bytes = new Uint8Array(layout.size + spare);
  writeField(layout, bytes, "struct_size", bytes.length);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    writeField(layout, bytes, name, typeof value === "object" ? ffi.getAddress(value) : value);
  }
  return bytes;
}

function incompatible(path: string, reason: string): InferyardError {
  return new InferyardError("LIBRARY_INCOMPATIBLE", `${path} is no PJRT plugin that can be used: ${reason}`, { data: { path } });
}
