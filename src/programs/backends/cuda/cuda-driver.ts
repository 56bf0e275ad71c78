/** CUDA's driver API: memory, modules and launches on one GPU, in its primary context. */
import { InferyardError } from "../../../contract/errors.ts";
import type { ForeignFunctions, NativeLibrary } from "../../../libraries/ffi/index.ts";

/** Attributes of `cuDeviceGetAttribute` that are read, by their numbers in cuda.h. */
const attributes = { sharedBytes: 8, major: 75, minor: 76 } as const;
/** CUDA_ERROR_OUT_OF_MEMORY. */
const outOfMemory = 2;

const status = "int32" as const;

function bindDriver(library: NativeLibrary) {
  const bind = <const Parameters extends readonly ("pointer" | "int32" | "uint32" | "size" | "uint64" | "string")[]>(
    name: string,
    parameters: Parameters,
  ) => library.bind(name, { result: status, parameters });
  return {
    cuInit: bind("cuInit", ["uint32"]),
    cuDriverGetVersion: bind("cuDriverGetVersion", ["pointer"]),
    cuDeviceGetCount: bind("cuDeviceGetCount", ["pointer"]),
    cuDeviceGet: bind("cuDeviceGet", ["pointer", "int32"]),
    cuDeviceGetName: bind("cuDeviceGetName", ["pointer", "int32", "int32"]),
    cuDeviceGetAttribute: bind("cuDeviceGetAttribute", ["pointer", "int32", "int32"]),
    cuDevicePrimaryCtxRetain: bind("cuDevicePrimaryCtxRetain", ["pointer", "int32"]),
    cuDevicePrimaryCtxRelease: bind("cuDevicePrimaryCtxRelease_v2", ["int32"]),
    cuCtxSetCurrent: bind("cuCtxSetCurrent", ["pointer"]),
    cuCtxSynchronize: bind("cuCtxSynchronize", []),
    cuMemGetInfo: bind("cuMemGetInfo_v2", ["pointer", "pointer"]),
    cuMemAlloc: bind("cuMemAlloc_v2", ["pointer", "size"]),
    cuMemFree: bind("cuMemFree_v2", ["uint64"]),
    cuMemcpyHtoD: bind("cuMemcpyHtoD_v2", ["uint64", "pointer", "size"]),
    cuMemcpyDtoH: bind("cuMemcpyDtoH_v2", ["pointer", "uint64", "size"]),
    cuMemcpyDtoD: bind("cuMemcpyDtoD_v2", ["uint64", "uint64", "size"]),
    cuModuleLoadData: bind("cuModuleLoadData", ["pointer", "pointer"]),
    cuModuleUnload: bind("cuModuleUnload", ["pointer"]),
    cuModuleGetFunction: bind("cuModuleGetFunction", ["pointer", "pointer", "string"]),
    cuLaunchKernel: bind("cuLaunchKernel", [
      "pointer",
      ...(["uint32", "uint32", "uint32"] as const),
      ...(["uint32", "uint32", "uint32"] as const),
      "uint32",
      "pointer",
      "pointer",
      "pointer",
    ]),
    cuGetErrorString: bind("cuGetErrorString", ["int32", "pointer"]),
  };
}

/** What the driver says of a GPU. */
export interface CudaGpu {
  readonly index: number;
  readonly name: string;
  /** Compute capability times ten: 90 for 9.0. */
  readonly capability: number;
  /** Bytes of shared memory that a block can have. */
  readonly sharedBytes: number;
}

/** The driver library, initialized. */
export class CudaDriver {
  /** "13.0", the newest version of CUDA that the driver supports. */
  readonly version: string;
  readonly #ffi: ForeignFunctions;
  readonly #calls: ReturnType<typeof bindDriver>;

  /** Throws LIBRARY_INCOMPATIBLE for a library without the driver's functions, and BACKEND_UNAVAILABLE with the driver's words if there is no GPU. */
  constructor(ffi: ForeignFunctions, library: NativeLibrary) {
    this.#ffi = ffi;
    this.#calls = bindDriver(library);
    this.#check("cuInit", this.#calls.cuInit(0));
    const version = this.#readInt((into) => this.#check("cuDriverGetVersion", this.#calls.cuDriverGetVersion(into)));
    this.version = `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
  }

  /** The GPUs that the driver shows to this process. */
  gpus(): readonly CudaGpu[] {
    const count = this.#readInt((into) => this.#check("cuDeviceGetCount", this.#calls.cuDeviceGetCount(into)));
    return Array.from({ length: count }, (_, index): CudaGpu => {
      const name = new Uint8Array(256);
      this.#check("cuDeviceGetName", this.#calls.cuDeviceGetName(name, name.length, this.#handle(index)));
      const attribute = (number: number): number =>
        this.#readInt((into) =>
          this.#check("cuDeviceGetAttribute", this.#calls.cuDeviceGetAttribute(into, number, this.#handle(index))),
        );
      return {
        index,
        name: Buffer.from(name.subarray(0, name.indexOf(0))).toString("utf8"),
        capability: attribute(attributes.major) * 10 + attribute(attributes.minor),
        sharedBytes: attribute(attributes.sharedBytes),
      };
    });
  }

  /** Opens the primary context of a GPU, which cuBLAS uses as well. */
  open(index: number): CudaContext {
    const context = this.#readPointer((into) =>
      this.#check("cuDevicePrimaryCtxRetain", this.#calls.cuDevicePrimaryCtxRetain(into, this.#handle(index))),
    );
    const release = (): void => {
      this.#check("cuDevicePrimaryCtxRelease", this.#calls.cuDevicePrimaryCtxRelease(this.#handle(index)));
    };
    return new PrimaryContext(this.#calls, context, (name, result) => this.#check(name, result), release);
  }

  #handle(index: number): number {
    return this.#readInt((into) => this.#check("cuDeviceGet", this.#calls.cuDeviceGet(into, index)));
  }

  #readInt(read: (into: Int32Array) => void): number {
    const into = new Int32Array(1);
    read(into);
    return into[0] ?? 0;
  }

  #readPointer(read: (into: BigUint64Array) => void): bigint {
    const into = new BigUint64Array(1);
    read(into);
    return into[0] ?? 0n;
  }

  /** Throws OUT_OF_MEMORY, and RUN_FAILED with the driver's words; BACKEND_UNAVAILABLE while it starts. */
  #check(name: string, result: number): void {
    if (result === 0) return;
    const into = new BigUint64Array(1);
    this.#calls.cuGetErrorString(result, into);
    const address = into[0] ?? 0n;
    const words = address === 0n ? `error ${result}` : this.#ffi.stringAt(address);
    const isStart = name === "cuInit" || name.startsWith("cuDevice");
    const code = result === outOfMemory ? "OUT_OF_MEMORY" : isStart ? "BACKEND_UNAVAILABLE" : "RUN_FAILED";
    throw new InferyardError(code, `${name}: ${words}`, { data: { function: name, status: result } });
  }
}

type Check = (name: string, result: number) => void;

/** A kernel of a loaded module. */
export type CudaFunction = bigint;

/** A context on one GPU. Calls are made on the thread that opened it, and throw RUN_FAILED with the driver's words. */
export interface CudaContext {
  /** Makes the context current on this thread: another library may have set its own. */
  use(): void;
  /** Bytes of memory that are free and that there are. */
  memory(): { readonly free: number; readonly total: number };
  /** The address of new memory of `bytes` bytes, at least 1. Throws OUT_OF_MEMORY. */
  allocate(bytes: number): bigint;
  free(address: bigint): void;
  upload(address: bigint, data: ArrayBufferView): void;
  /** Waits for launches before it, then copies. */
  download(into: ArrayBufferView, address: bigint): void;
  /** Copies on the device, in the order of launches. */
  copy(to: bigint, from: bigint, bytes: number): void;
  /** Waits until all launches have ended. */
  synchronize(): void;
  /** Loads machine code of NVRTC. */
  load(code: Uint8Array): CudaModule;
  /** Launches a kernel in the current context. `parameters`: the addresses of its arguments in memory of this process, which it reads before it returns. */
  launch(kernel: CudaFunction, grid: CudaGrid, parameters: BigUint64Array): void;
  /** Gives the context back. */
  dispose(): void;
}

/** Blocks of a launch, and threads of each. */
export interface CudaGrid {
  readonly blocks: number;
  readonly threads: number;
}

/** A module in a context. */
export interface CudaModule {
  /** Throws RUN_FAILED if there is no kernel of this name. */
  find(name: string): CudaFunction;
  unload(): void;
}

class PrimaryContext implements CudaContext {
  readonly #calls: ReturnType<typeof bindDriver>;
  readonly #context: bigint;
  readonly #check: Check;
  readonly #release: () => void;

  constructor(calls: ReturnType<typeof bindDriver>, context: bigint, check: Check, release: () => void) {
    this.#calls = calls;
    this.#context = context;
    this.#check = check;
    this.#release = release;
  }

  use(): void {
    this.#check("cuCtxSetCurrent", this.#calls.cuCtxSetCurrent(this.#context));
  }

  memory(): { readonly free: number; readonly total: number } {
    this.use();
    const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
    this.#check("cuMemGetInfo", this.#calls.cuMemGetInfo(free, total));
    return { free: Number(free[0]), total: Number(total[0]) };
  }

  allocate(bytes: number): bigint {
    this.use();
    const into = new BigUint64Array(1);
    this.#check("cuMemAlloc", this.#calls.cuMemAlloc(into, Math.max(1, bytes)));
    return into[0] ?? 0n;
  }

  free(address: bigint): void {
    this.use();
    this.#check("cuMemFree", this.#calls.cuMemFree(address));
  }

  upload(address: bigint, data: ArrayBufferView): void {
    if (data.byteLength === 0) return;
    this.use();
    this.#check("cuMemcpyHtoD", this.#calls.cuMemcpyHtoD(address, data, data.byteLength));
  }

  download(into: ArrayBufferView, address: bigint): void {
    if (into.byteLength === 0) return;
    this.use();
    this.#check("cuMemcpyDtoH", this.#calls.cuMemcpyDtoH(into, address, into.byteLength));
  }

  copy(to: bigint, from: bigint, bytes: number): void {
    if (bytes === 0) return;
    this.use();
    this.#check("cuMemcpyDtoD", this.#calls.cuMemcpyDtoD(to, from, bytes));
  }

  synchronize(): void {
    this.use();
    this.#check("cuCtxSynchronize", this.#calls.cuCtxSynchronize());
  }

  load(code: Uint8Array): CudaModule {
    this.use();
    const into = new BigUint64Array(1);
    this.#check("cuModuleLoadData", this.#calls.cuModuleLoadData(into, code));
    const module = into[0] ?? 0n;
    return {
      find: (name) => {
        const found = new BigUint64Array(1);
        this.#check("cuModuleGetFunction", this.#calls.cuModuleGetFunction(found, module, name));
        return found[0] ?? 0n;
      },
      unload: () => {
        this.use();
        this.#check("cuModuleUnload", this.#calls.cuModuleUnload(module));
      },
    };
  }

  launch(kernel: CudaFunction, { blocks, threads }: CudaGrid, parameters: BigUint64Array): void {
    this.#check(
      "cuLaunchKernel",
      this.#calls.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, undefined, parameters, undefined),
    );
  }

  dispose(): void {
    this.#release();
  }
}
