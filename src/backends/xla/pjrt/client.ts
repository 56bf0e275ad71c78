/** A client of a PJRT plugin: its devices, programs compiled for them, and tensors in their memory. */
import { at } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { type ElementType, elementTypes } from "../../../engine/ir/element-types.ts";
import { type TensorType, describeType, sameShape } from "../../../engine/ir/tensor-type.ts";
import { type PjrtPlugin, structBytes } from "./plugin.ts";
import { executeOptionsLayout, namedValueLayout, programLayout } from "./structs.ts";

/** Element types as `PJRT_Buffer_Type` numbers them. */
const typeNumbers: Readonly<Partial<Record<ElementType, number>>> = {
  bool: 1,
  int8: 2,
  int16: 3,
  int32: 4,
  int64: 5,
  uint8: 6,
  uint16: 7,
  uint32: 8,
  uint64: 9,
  float16: 10,
  float32: 11,
  float64: 12,
  bfloat16: 13,
  float8e5m2: 16,
  float8e4m3fn: 17,
  float8e5m2fnuz: 19,
  float8e4m3fnuz: 20,
};

/**
 * Serialized CompileOptionsProto: executable_build_options (field 3) for any device, one replica and one partition. The plugin aborts the process on
 * an empty message.
 */
const compileOptions = Uint8Array.from([
  0x1a,
  0x0f,
  0x08,
  ...Array.from({ length: 9 }, () => 0xff),
  0x01,
  0x20,
  0x01,
  0x28,
  0x01,
]);

/** A tensor in JavaScript memory: elements and element type. */
export interface HostTensor {
  readonly type: TensorType;
  readonly data: ArrayBufferView;
}

/** A tensor in a device's memory. */
export class DeviceTensor {
  readonly type: TensorType;
  readonly #plugin: PjrtPlugin;
  #buffer: bigint;

  constructor(plugin: PjrtPlugin, type: TensorType, buffer: bigint) {
    this.#plugin = plugin;
    this.type = type;
    this.#buffer = buffer;
  }

  /** The plugin's handle of the tensor. Throws DISPOSED after `dispose`; with a freed handle the plugin would abort the process. */
  get handle(): bigint {
    if (this.#buffer !== 0n) return this.#buffer;
    throw new InferyardError("DISPOSED", "the tensor was freed");
  }

  /** Copies the elements to JavaScript memory. Blocks this thread until they are computed. */
  read(): HostTensor {
    const { dataType, shape } = this.type;
    const data = new (elementTypes[dataType].array as Float32ArrayConstructor)(elementCount(shape));
    if (data.length === 0) return { type: this.type, data };
    const bytes = new Uint8Array(data.buffer);
    const copied = this.#plugin.call("Buffer_ToHostBuffer", { src: this.handle, dst: bytes, dst_size: bytes.length });
    this.#plugin.finish(copied.address("event"));
    return { type: this.type, data };
  }

  /** Frees the tensor; a second call does nothing. */
  dispose(): void {
    if (this.#buffer === 0n) return;
    const buffer = this.#buffer;
    this.#buffer = 0n;
    this.#plugin.call("Buffer_Destroy", { buffer });
  }
}

/** A program compiled for one device. */
export class DeviceProgram {
  readonly #plugin: PjrtPlugin;
  readonly #arguments: readonly TensorType[];
  readonly #results: readonly TensorType[];
  #executable: bigint;

  constructor(
    plugin: PjrtPlugin,
    executable: bigint,
    types: { readonly arguments: readonly TensorType[]; readonly results: readonly TensorType[] },
  ) {
    this.#plugin = plugin;
    this.#executable = executable;
    this.#arguments = types.arguments;
    this.#results = types.results;
  }

  /**
   * Runs the program. Throws INPUT_INVALID if the types of the arguments differ from the program's parameters; the plugin would not detect this and
   * would misread them.
   */
  run(given: readonly DeviceTensor[]): readonly DeviceTensor[] {
    if (this.#executable === 0n) throw new InferyardError("DISPOSED", "the program was freed");
    if (given.length !== this.#arguments.length)
      throw new InferyardError("INPUT_INVALID", `the program takes ${this.#arguments.length} arguments, got ${given.length}`);
    for (const [index, { type }] of given.entries()) {
      const expected = at(this.#arguments, index);
      if (type.dataType !== expected.dataType || !sameShape(type.shape, expected.shape))
        throw new InferyardError(
          "INPUT_INVALID",
          `argument ${index} is ${describeType(type)}, expected ${describeType(expected)}`,
        );
    }
    const { ffi } = this.#plugin;
    const inputs = BigUint64Array.from(given.length === 0 ? [0n] : given.map(({ handle }) => handle));
    const outputs = new BigUint64Array(Math.max(1, this.#results.length));
    const [inputList, outputList] = [BigUint64Array.of(ffi.addressOf(inputs)), BigUint64Array.of(ffi.addressOf(outputs))];
    this.#plugin.call("LoadedExecutable_Execute", {
      executable: this.#executable,
      options: structBytes(ffi, executeOptionsLayout, {}),
      argument_lists: inputList,
      num_devices: 1,
      num_args: given.length,
      output_lists: outputList,
    });
    return this.#results.map((type, index) => new DeviceTensor(this.#plugin, type, at(outputs, index)));
  }

  /** Frees the program; a second call does nothing. */
  dispose(): void {
    if (this.#executable === 0n) return;
    const executable = this.#executable;
    this.#executable = 0n;
    this.#plugin.call("LoadedExecutable_Destroy", { executable });
  }
}

/** A client, which uses its first device. */
export class PjrtClient {
  /** The platform as the plugin names it, such as "cpu". */
  readonly platform: string;
  readonly #plugin: PjrtPlugin;
  readonly #client: bigint;
  readonly #device: bigint;

  /** `options`: integer options of the plugin by name, such as `cpu_device_count`. */
  constructor(plugin: PjrtPlugin, options: Readonly<Record<string, number>> = {}) {
    this.#plugin = plugin;
    const named = Object.entries(options).map(([name, value]) => ({ name: new TextEncoder().encode(name), value }));
    const size = namedValueLayout.size;
    const list = new Uint8Array(Math.max(1, named.length) * size);
    for (const [index, { name, value }] of named.entries())
      list.set(
        structBytes(plugin.ffi, namedValueLayout, { name, name_size: name.length, type: 1, value, value_size: 1 }),
        index * size,
      );
    const made = plugin.call("Client_Create", { create_options: list, num_options: named.length });
    this.#client = made.address("client");
    this.platform = plugin.call("Client_PlatformName", { client: this.#client }).text("platform_name");
    const found = plugin.call("Client_AddressableDevices", { client: this.#client });
    if (found.number("num_devices") === 0) throw new InferyardError("BACKEND_UNAVAILABLE", "the plugin has no device");
    this.#device = at(new BigUint64Array(plugin.ffi.bytesAt(found.address("devices"), 8).buffer), 0);
  }

  /** Compiles StableHLO text, on this thread. Throws RUN_FAILED with the compiler's message. */
  compile(
    text: string,
    types: { readonly arguments: readonly TensorType[]; readonly results: readonly TensorType[] },
  ): DeviceProgram {
    if (text.trim() === "") throw new InferyardError("INPUT_INVALID", "the program is empty"); // it would end the process
    const [code, format] = [new TextEncoder().encode(text), new TextEncoder().encode("mlir")];
    const program = structBytes(this.#plugin.ffi, programLayout, {
      code,
      code_size: code.length,
      format,
      format_size: format.length,
    });
    const compiled = this.#plugin.call("Client_Compile", {
      client: this.#client,
      program,
      compile_options: compileOptions,
      compile_options_size: compileOptions.length,
    });
    return new DeviceProgram(this.#plugin, compiled.address("executable"), types);
  }

  /** Copies a tensor to the device. Throws INPUT_INVALID if the array's size differs from the tensor type, which the plugin would not detect. */
  upload({ type, data }: HostTensor): DeviceTensor {
    const number = typeNumbers[type.dataType];
    const expected = elementCount(type.shape) * (elementTypes[type.dataType].bits / 8);
    if (number === undefined || data.byteLength !== expected)
      throw new InferyardError("INPUT_INVALID", `${data.byteLength} bytes are not ${describeType(type)}`);
    const bytes =
      expected === 0 ? new Uint8Array(8) : new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
    const sent = this.#plugin.call("Client_BufferFromHostBuffer", {
      client: this.#client,
      data: bytes,
      type: number,
      dims: BigInt64Array.from(type.shape.length === 0 ? [0n] : type.shape.map(BigInt)),
      num_dims: type.shape.length,
      device: this.#device,
    });
    this.#plugin.finish(sent.address("done_with_host_buffer"));
    return new DeviceTensor(this.#plugin, type, sent.address("buffer"));
  }

  /** Frees the client, after its programs and tensors. */
  dispose(): void {
    this.#plugin.call("Client_Destroy", { client: this.#client });
  }
}
