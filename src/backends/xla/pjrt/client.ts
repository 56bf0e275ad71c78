/** A client of a PJRT plugin: its device, and programs compiled for it. */
import { at } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type PjrtClientOptions, namedValues } from "./client-options.ts";
import { type CompilerFlags, compileOptionsBytes } from "./compile-options.ts";
import { DeviceProgram, type ProgramTypes } from "./device-program.ts";
import { type ClientScope, DeviceTensor, type HostTensor } from "./device-tensor.ts";
import { type PjrtPlugin, structBytes } from "./plugin.ts";
import { PluginHandle } from "./plugin-handle.ts";
import { programLayout } from "./structs.ts";

/** Bytes of a device's memory. */
export interface DeviceMemory {
  /** Bytes that tensors and programs occupy. */
  readonly used: number;
  /** Bytes that the client may use; undefined if the plugin does not state it. */
  readonly limit: number | undefined;
}

/** A client, which uses its first device. Its methods block the calling thread. */
export class PjrtClient {
  /** The platform as the plugin names it, such as "cpu" or "cuda". */
  readonly platform: string;
  /** The version of the platform in the plugin's words; CPU plugins repeat the platform. */
  readonly platformVersion: string;
  /** The kind of the device, such as "cpu" or "NVIDIA H200". */
  readonly deviceKind: string;
  /** Number of devices of the client. */
  readonly deviceCount: number;
  readonly #scope: ClientScope;

  constructor(plugin: PjrtPlugin, options: PjrtClientOptions = {}) {
    const { list, count, keep } = namedValues(plugin.ffi, options);
    const made = plugin.call("Client_Create", { create_options: list, num_options: count }, keep);
    const handle = new PluginHandle(plugin, "client", made.address("client"));
    try {
      const client = handle.address;
      this.platform = plugin.call("Client_PlatformName", { client }).text("platform_name");
      this.platformVersion = plugin.call("Client_PlatformVersion", { client }).text("platform_version");
      const found = plugin.call("Client_AddressableDevices", { client });
      this.deviceCount = found.number("num_addressable_devices");
      if (this.deviceCount === 0) throw new InferyardError("BACKEND_UNAVAILABLE", "the plugin has no device");
      const device = at(new BigUint64Array(plugin.ffi.bytesAt(found.address("addressable_devices"), 8).buffer), 0);
      const description = plugin.call("Device_GetDescription", { device }).address("device_description");
      this.deviceKind = plugin.call("DeviceDescription_Kind", { device_description: description }).text("device_kind");
      this.#scope = { plugin, client: handle, device, isHost: this.platform === "cpu", handles: new Set() };
    } catch (error) {
      handle.dispose();
      throw error;
    }
  }

  /** Number of programs and tensors that are not freed yet. */
  get handleCount(): number {
    return this.#scope.handles.size;
  }

  /** Whether the device computes in the memory of this process. */
  get isHost(): boolean {
    return this.#scope.isHost;
  }

  /** The memory of the device; undefined if the plugin does not state it, as on CPUs. */
  memory(): DeviceMemory | undefined {
    const { plugin, client, device } = this.#scope;
    if (client.isFreed) return undefined;
    try {
      const stated = plugin.call("Device_MemoryStats", { device });
      const limit = stated.number("bytes_limit");
      return { used: stated.number("bytes_in_use"), limit: limit > 0 ? limit : undefined };
    } catch {
      return undefined; // optional in PJRT
    }
  }

  /** Compiles StableHLO text, on this thread. Throws RUN_FAILED with the compiler's message. */
  compile(text: string, types: ProgramTypes, flags: CompilerFlags = {}): DeviceProgram {
    if (text.trim() === "") throw new InferyardError("INPUT_INVALID", "the program is empty"); // it would end the process
    const [code, format, options] = [
      new TextEncoder().encode(text),
      new TextEncoder().encode("mlir"),
      compileOptionsBytes(flags),
    ];
    const program = structBytes(this.#scope.plugin.ffi, programLayout, {
      code,
      code_size: code.length,
      format,
      format_size: format.length,
    });
    const compiled = this.#scope.plugin.call(
      "Client_Compile",
      { client: this.#scope.client.address, program, compile_options: options, compile_options_size: options.length },
      [code, format],
    );
    return new DeviceProgram(this.#scope, compiled.address("executable"), types);
  }

  /** Loads a program that `DeviceProgram.serialize` returned. Throws RUN_FAILED if the plugin refuses the bytes. */
  load(serialized: Uint8Array, types: ProgramTypes): DeviceProgram {
    if (serialized.length === 0) throw new InferyardError("INPUT_INVALID", "the serialized program is empty");
    const loaded = this.#scope.plugin.call("Executable_DeserializeAndLoad", {
      client: this.#scope.client.address,
      serialized_executable: serialized,
      serialized_executable_size: serialized.length,
    });
    return new DeviceProgram(this.#scope, loaded.address("loaded_executable"), types);
  }

  /** Copies a tensor to the device; see `DeviceTensor.upload`. */
  upload(tensor: HostTensor): DeviceTensor {
    return DeviceTensor.upload(this.#scope, tensor);
  }

  /** Frees the client, and before it the programs and tensors that were not freed. A second call does nothing. */
  dispose(): void {
    for (const handle of this.#scope.handles) handle.dispose();
    this.#scope.client.dispose();
  }
}
