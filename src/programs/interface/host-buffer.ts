/** Buffers of devices that compute in the memory of this process. */
import { InferyardError } from "../../contract/errors.ts";
import { type DataType, elementBytes, elementCount, type Tensor, zeros } from "../../contract/tensor.ts";
import type { BufferType, DeviceBuffer } from "./program-backend.ts";

/** A tensor in the memory of this process. */
export class HostBuffer implements DeviceBuffer {
  readonly type: BufferType;
  #tensor: Tensor | undefined;

  constructor(tensor: Tensor) {
    this.type = { dataType: tensor.dataType, shape: tensor.shape };
    this.#tensor = tensor;
  }

  /** The elements. Throws DISPOSED after `free`. */
  get tensor(): Tensor {
    if (this.#tensor === undefined) throw new InferyardError("DISPOSED", "the buffer was freed");
    return this.#tensor;
  }

  /** Whether the buffer was freed. */
  get isFreed(): boolean {
    return this.#tensor === undefined;
  }

  free(): void {
    this.#tensor = undefined;
  }
}

/** Buffers of one device in the memory of this process. */
export class HostBuffers {
  readonly #live = new Set<HostBuffer>();

  /** Bytes of all buffers that are not freed. */
  get bytes(): number {
    return [...this.#live].reduce((sum, { type }) => sum + bufferBytes(type), 0);
  }

  allocate({ dataType, shape }: BufferType): HostBuffer {
    try {
      return this.wrap(zeros(dataType, [...shape]));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new InferyardError("OUT_OF_MEMORY", `a buffer of ${dataType}[${shape.join(",")}] does not fit into memory`, {
        cause: error,
      });
    }
  }

  /** A buffer of a tensor that nothing else holds. */
  wrap(tensor: Tensor): HostBuffer {
    const buffer = new HostBuffer(tensor);
    this.#live.add(buffer);
    return buffer;
  }

  free(buffer: DeviceBuffer): void {
    if (!(buffer instanceof HostBuffer) || buffer.isFreed) return;
    this.#own(buffer).free();
    this.#live.delete(buffer);
  }

  copyTo(tensor: Tensor, buffer: DeviceBuffer): void {
    checkSameType(tensor, buffer);
    const { data } = this.#own(buffer).tensor;
    (data as Float32Array).set(tensor.data as Float32Array);
  }

  read(buffer: DeviceBuffer): Tensor {
    const { dataType, shape, data } = this.#own(buffer).tensor;
    return { dataType, shape: [...shape], data: (data as Float32Array).slice() };
  }

  /** The tensor of a buffer, which must not be kept or changed. */
  peek(buffer: DeviceBuffer): Tensor {
    return this.#own(buffer).tensor;
  }

  dispose(): void {
    for (const buffer of this.#live) buffer.free();
    this.#live.clear();
  }

  #own(buffer: DeviceBuffer): HostBuffer {
    if (buffer instanceof HostBuffer && (buffer.isFreed || this.#live.has(buffer))) return buffer;
    throw new InferyardError("INPUT_INVALID", "the buffer belongs to another device");
  }
}

/** Throws INPUT_INVALID if a tensor does not have the type of a buffer. */
export function checkSameType({ dataType, shape }: Tensor, { type }: DeviceBuffer): void {
  if (dataType === type.dataType && shape.join() === type.shape.join()) return;
  throw new InferyardError(
    "INPUT_INVALID",
    `the tensor is ${dataType}[${shape.join(",")}], and the buffer is ${type.dataType}[${type.shape.join(",")}]`,
  );
}

/** Bytes of a tensor of this type; 0 for texts. */
export function bufferBytes({ dataType, shape }: { readonly dataType: DataType; readonly shape: readonly number[] }): number {
  return dataType === "string" ? 0 : elementCount(shape) * elementBytes(dataType);
}
