/** A GPU as NVIDIA's driver states it. */

/** The limits of a GPU. Sizes in bytes. */
export interface CudaDevice {
  readonly name: string;
  readonly totalBytes: number;
  /** As "9.0". */
  readonly computeCapability: string;
  readonly multiprocessors: number;
  readonly sharedMemory: SharedMemory;
}

/** Memory that the threads of a block share, on the chip. Sizes in bytes. */
export interface SharedMemory {
  /** What every kernel may use. */
  readonly perBlockBytes: number;
  /** What a kernel may use that asks for it (cudaFuncAttributeMaxDynamicSharedMemorySize). */
  readonly perBlockOptInBytes: number;
  /** What the blocks that run on a multiprocessor share. */
  readonly perMultiprocessorBytes: number;
}
