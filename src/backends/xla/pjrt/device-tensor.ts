/** Tensors in the memory of a PJRT device. */
import { InferyardError } from "../../../contract/errors.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { elementTypes } from "../../../engine/ir/element-types.ts";
import { byteSize, describeType, type TensorType } from "../../../engine/ir/tensor-type.ts";
import { bufferTypes } from "./element-types.ts";
import type { PjrtPlugin } from "./plugin.ts";
import { PluginHandle } from "./plugin-handle.ts";

/** A tensor in JavaScript memory: its type and its elements. */
export interface HostTensor {
  readonly type: TensorType;
  readonly data: ArrayBufferView;
  /** Bytes from one element to the next along each axis, for uploads. Default: the strides of a dense tensor in row-major order. */
  readonly byteStrides?: readonly number[];
}

/** State shared by programs and tensors of one client. */
export interface ClientScope {
  readonly plugin: PjrtPlugin;
  readonly client: PluginHandle;
  /** The plugin's handle of the device, which the client owns. */
  readonly device: bigint;
  /** Whether the device computes in the memory of this process, so that its tensors can be read at their address. */
  readonly isHost: boolean;
  /** Programs and tensors that are not freed yet. */
  readonly handles: Set<PluginHandle>;
}

/** A tensor in a device's memory. */
export class DeviceTensor {
  readonly type: TensorType;
  readonly #scope: ClientScope;
  readonly #handle: PluginHandle;

  /** `buffer`: the plugin's handle, which this tensor frees. */
  constructor(scope: ClientScope, type: TensorType, buffer: bigint) {
    this.#scope = scope;
    this.type = type;
    this.#handle = new PluginHandle(scope.plugin, "tensor", buffer, scope.handles);
  }

  /**
   * Copies a tensor to the device of a client. Throws INPUT_INVALID if the array's size differs from the tensor type, which the plugin would not
   * detect, and MODEL_UNSUPPORTED for element types that devices do not have, for which it would end the process.
   */
  static upload(scope: ClientScope, { type, data, byteStrides }: HostTensor): DeviceTensor {
    const { plugin } = scope;
    const number = bufferTypes[type.dataType];
    if (number === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `devices have no tensors of ${type.dataType}`);
    const expected = byteSize(type);
    if (data.byteLength !== expected)
      throw new InferyardError("INPUT_INVALID", `${data.byteLength} bytes are not ${describeType(type)}`);
    const bytes =
      expected === 0 ? new Uint8Array(8) : new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
    const sent = plugin.call("Client_BufferFromHostBuffer", {
      client: scope.client.address,
      data: bytes,
      type: number,
      dims: BigInt64Array.from(type.shape.length === 0 ? [0n] : type.shape.map(BigInt)),
      num_dims: type.shape.length,
      ...(byteStrides === undefined
        ? {}
        : { byte_strides: BigInt64Array.from(byteStrides, BigInt), num_byte_strides: byteStrides.length }),
      device: scope.device,
    });
    const tensor = new DeviceTensor(scope, type, sent.address("buffer"));
    try {
      plugin.finish(sent.address("done_with_host_buffer"));
      return tensor;
    } catch (error) {
      tensor.dispose();
      throw error;
    }
  }

  /** The plugin's handle of the tensor. Throws DISPOSED after `dispose`; with a freed handle the plugin would abort the process. */
  get handle(): bigint {
    return this.#handle.address;
  }

  /** Copies the elements to JavaScript memory. Blocks this thread until they are computed. Throws RUN_FAILED if their computation failed. */
  read(): HostTensor {
    const { dataType, shape } = this.type;
    const data = new (elementTypes[dataType].array as Float32ArrayConstructor)(elementCount(shape));
    const bytes = new Uint8Array(data.buffer);
    if (this.#scope.isHost || bytes.length === 0) {
      this.wait();
      if (bytes.length > 0) bytes.set(new Uint8Array(this.#scope.plugin.ffi.memoryAt(this.#address, bytes.length)));
      return { type: this.type, data };
    }
    const copied = this.#scope.plugin.call("Buffer_ToHostBuffer", { src: this.handle, dst: bytes, dst_size: bytes.length });
    this.#scope.plugin.finish(copied.address("event"));
    return { type: this.type, data };
  }

  /** Blocks this thread until the elements are computed. Throws RUN_FAILED if their computation failed. */
  wait(): void {
    this.#scope.plugin.finish(this.#scope.plugin.call("Buffer_ReadyEvent", { buffer: this.handle }).address("event"));
  }

  get #address(): bigint {
    return this.#scope.plugin.call("Buffer_UnsafePointer", { buffer: this.handle }).address("buffer_pointer");
  }

  /** Frees the tensor; a second call does nothing. */
  dispose(): void {
    this.#handle.dispose();
  }
}
