/** Tensors in the memory of a GPU. */
import { InferyardError } from "../../../contract/errors.ts";
import { bufferBytes } from "../../interface/host-buffer.ts";
import type { BufferType, DeviceBuffer } from "../../interface/program-backend.ts";
import type { CudaContext } from "./cuda-driver.ts";

/** A tensor in the memory of a GPU. */
export class CudaBuffer implements DeviceBuffer {
  readonly type: BufferType;
  readonly bytes: number;
  readonly #owner: CudaBuffers;
  #address: bigint | undefined;

  constructor(owner: CudaBuffers, type: BufferType, address: bigint) {
    this.type = type;
    this.bytes = bufferBytes(type);
    this.#owner = owner;
    this.#address = address;
  }

  /** The address of the first element. Throws DISPOSED after `free`. */
  get address(): bigint {
    if (this.#address === undefined) throw new InferyardError("DISPOSED", "the buffer was freed");
    return this.#address;
  }

  get isFreed(): boolean {
    return this.#address === undefined;
  }

  isOf(owner: CudaBuffers): boolean {
    return this.#owner === owner;
  }

  /** Forgets the address, and returns it. */
  release(): bigint | undefined {
    const address = this.#address;
    this.#address = undefined;
    return address;
  }
}

/** Most bytes of freed memory that are kept for the next buffer of the same size: `cuMemFree` waits for the GPU. */
const maxKeptBytes = 256 * 2 ** 20;

/** The buffers of one device. */
export class CudaBuffers {
  readonly #context: CudaContext;
  readonly #live = new Set<CudaBuffer>();
  readonly #kept = new Map<number, bigint[]>();
  #keptBytes = 0;
  #liveBytes = 0;

  constructor(context: CudaContext) {
    this.#context = context;
  }

  /** Bytes of the buffers that are not freed. */
  get bytes(): number {
    return this.#liveBytes;
  }

  /** Throws OUT_OF_MEMORY. */
  allocate(type: BufferType): CudaBuffer {
    const bytes = bufferBytes(type);
    const kept = this.#kept.get(bytes)?.pop();
    if (kept !== undefined) this.#keptBytes -= bytes;
    const buffer = new CudaBuffer(this, type, kept ?? this.#allocate(bytes));
    this.#live.add(buffer);
    this.#liveBytes += bytes;
    return buffer;
  }

  /** Where the GPU has no memory left, what is kept is given back first. */
  #allocate(bytes: number): bigint {
    try {
      return this.#context.allocate(bytes);
    } catch (error) {
      if (this.#keptBytes === 0) throw error;
      this.#giveBack();
      return this.#context.allocate(bytes);
    }
  }

  free(buffer: CudaBuffer): void {
    const address = buffer.release();
    if (address === undefined) return;
    this.#live.delete(buffer);
    this.#liveBytes -= buffer.bytes;
    if (this.#keptBytes + buffer.bytes > maxKeptBytes) return this.#context.free(address);
    const kept = this.#kept.get(buffer.bytes) ?? [];
    kept.push(address);
    this.#kept.set(buffer.bytes, kept);
    this.#keptBytes += buffer.bytes;
  }

  /** Throws INPUT_INVALID for a buffer of another device. */
  own(buffer: DeviceBuffer): CudaBuffer {
    if (buffer instanceof CudaBuffer && buffer.isOf(this)) return buffer;
    throw new InferyardError("INPUT_INVALID", "the buffer belongs to another device");
  }

  dispose(): void {
    for (const buffer of this.#live) this.free(buffer);
    this.#giveBack();
  }

  #giveBack(): void {
    for (const addresses of this.#kept.values()) for (const address of addresses) this.#context.free(address);
    this.#kept.clear();
    this.#keptBytes = 0;
  }
}
