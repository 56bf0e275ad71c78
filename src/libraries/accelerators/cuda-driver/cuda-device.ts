/** A GPU as NVIDIA's driver states it. */

/** The limits of a GPU. Sizes in bytes. */
export interface CudaDevice {
  readonly name: string;
  readonly totalBytes: number;
  /** Compute capability of the device, such as "9.0". */
  readonly computeCapability: string;
  readonly multiprocessors: number;
  readonly sharedMemory: SharedMemory;
}

/** Memory that the threads of a block share, on the chip. Sizes in bytes. */
export interface SharedMemory {
  /** Shared memory that every kernel may use per block. */
  readonly perBlockBytes: number;
  /** Shared memory per block for kernels that request more (cudaFuncAttributeMaxDynamicSharedMemorySize). */
  readonly perBlockOptInBytes: number;
  /** Shared memory of all blocks on one multiprocessor. */
  readonly perMultiprocessorBytes: number;
}
