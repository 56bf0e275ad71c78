/** Tensors in the memory of a PJRT device. */
import { InferyardError } from "../../../contract/errors.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { elementTypes } from "../../../engine/ir/element-types.ts";
import { byteSize, describeType, type TensorType } from "../../../engine/ir/tensor-type.ts";
import { bufferTypes } from "./element-types.ts";
import type { PjrtPlugin } from "./plugin.ts";

/** A tensor in JavaScript memory: its type and its elements. */
export interface HostTensor {
  readonly type: TensorType;
  readonly data: ArrayBufferView;
  /** Bytes from one element to the next along each axis, for uploads. Default: those of a dense tensor in row-major order. */
  readonly byteStrides?: readonly number[];
}

/** Where a tensor is copied to. */
export interface Destination {
  /** The plugin's handle of the client. */
  readonly client: bigint;
  /** The plugin's handle of the device. */
  readonly device: bigint;
  /** Whether the device computes in the memory of this process, so that its tensors can be read at their address. */
  readonly isHost: boolean;
}

/** A tensor in a device's memory. */
export class DeviceTensor {
  readonly type: TensorType;
  readonly #plugin: PjrtPlugin;
  readonly #isHost: boolean;
  #buffer: bigint;

  constructor(plugin: PjrtPlugin, type: TensorType, buffer: bigint, isHost: boolean) {
    this.#plugin = plugin;
    this.type = type;
    this.#buffer = buffer;
    this.#isHost = isHost;
  }

  /**
   * Copies a tensor to a device. Throws INPUT_INVALID if the array's size differs from the tensor type, which the plugin would not detect.
   */
  static upload(plugin: PjrtPlugin, { type, data, byteStrides }: HostTensor, to: Destination): DeviceTensor {
    const number = bufferTypes[type.dataType];
    const expected = byteSize(type);
    if (number === undefined || data.byteLength !== expected)
      throw new InferyardError("INPUT_INVALID", `${data.byteLength} bytes are not ${describeType(type)}`);
    const bytes =
      expected === 0 ? new Uint8Array(8) : new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
    const sent = plugin.call("Client_BufferFromHostBuffer", {
      client: to.client,
      data: bytes,
      type: number,
      dims: BigInt64Array.from(type.shape.length === 0 ? [0n] : type.shape.map(BigInt)),
      num_dims: type.shape.length,
      ...(byteStrides === undefined
        ? {}
        : { byte_strides: BigInt64Array.from(byteStrides, BigInt), num_byte_strides: byteStrides.length }),
      device: to.device,
    });
    plugin.finish(sent.address("done_with_host_buffer"));
    return new DeviceTensor(plugin, type, sent.address("buffer"), to.isHost);
  }

  /** The plugin's handle of the tensor. Throws DISPOSED after `dispose`; with a freed handle the plugin would abort the process. */
  get handle(): bigint {
    if (this.#buffer !== 0n) return this.#buffer;
    throw new InferyardError("DISPOSED", "the tensor was freed");
  }

  /** Copies the elements to JavaScript memory. Blocks this thread until they are computed. Throws RUN_FAILED if their computation failed. */
  read(): HostTensor {
    const { dataType, shape } = this.type;
    const data = new (elementTypes[dataType].array as Float32ArrayConstructor)(elementCount(shape));
    const bytes = new Uint8Array(data.buffer);
    if (this.#isHost || bytes.length === 0) {
      this.wait();
      if (bytes.length > 0) bytes.set(new Uint8Array(this.#plugin.ffi.memoryAt(this.#address, bytes.length)));
      return { type: this.type, data };
    }
    const copied = this.#plugin.call("Buffer_ToHostBuffer", { src: this.handle, dst: bytes, dst_size: bytes.length });
    this.#plugin.finish(copied.address("event"));
    return { type: this.type, data };
  }

  /** Blocks this thread until the elements are computed. Throws RUN_FAILED if their computation failed. */
  wait(): void {
    this.#plugin.finish(this.#plugin.call("Buffer_ReadyEvent", { buffer: this.handle }).address("event"));
  }

  get #address(): bigint {
    return this.#plugin.call("Buffer_UnsafePointer", { buffer: this.handle }).address("buffer_pointer");
  }

  /** Frees the tensor; a second call does nothing. */
  dispose(): void {
    if (this.#buffer === 0n) return;
    const buffer = this.#buffer;
    this.#buffer = 0n;
    this.#plugin.call("Buffer_Destroy", { buffer });
  }
}
