/** Asks NVIDIA's driver library for its GPUs, by the CUDA driver API (cuda.h). It makes no context, so that it takes no memory of a GPU. */
import { InferyardError } from "../../../contract/errors.ts";
import type { ForeignFunctions, NativeLibrary } from "../../ffi/index.ts";
import type { CudaDevice } from "./cuda-device.ts";

/** Numbers of CUdevice_attribute. */
const attributes = {
  sharedMemoryPerBlock: 8,
  multiprocessors: 16,
  capabilityMajor: 75,
  capabilityMinor: 76,
  sharedMemoryPerMultiprocessor: 81,
  sharedMemoryPerBlockOptIn: 97,
} as const;

/** Bytes of the buffer for a name; CUDA cuts off what is longer. */
const nameBytes = 256;

/** The GPUs that a CUDA program started now would see, in its order. Throws RUN_FAILED with the driver's own word where it refuses. */
export function readCudaDevices(ffi: ForeignFunctions, path: string): readonly CudaDevice[] {
  const library = ffi.open(path);
  const check = checker(ffi, library);
  const initialize = library.bind("cuInit", { result: "int32", parameters: ["uint32"] });
  const getCount = library.bind("cuDeviceGetCount", { result: "int32", parameters: ["pointer"] });
  check("cuInit", initialize(0));
  const count = numberFrom((to) => check("cuDeviceGetCount", getCount(to)));
  return Array.from({ length: count }, (_, index) => readDevice(library, check, index));
}

/** Throws unless a function returned CUDA_SUCCESS. */
type Check = (name: string, result: number) => void;

function readDevice(library: NativeLibrary, check: Check, index: number): CudaDevice {
  const get = library.bind("cuDeviceGet", { result: "int32", parameters: ["pointer", "int32"] });
  const getName = library.bind("cuDeviceGetName", { result: "int32", parameters: ["pointer", "int32", "int32"] });
  const getTotal = library.bind("cuDeviceTotalMem_v2", { result: "int32", parameters: ["pointer", "int32"] });
  const getAttribute = library.bind("cuDeviceGetAttribute", { result: "int32", parameters: ["pointer", "int32", "int32"] });
  const device = numberFrom((to) => check("cuDeviceGet", get(to, index)));
  const attribute = (name: keyof typeof attributes): number =>
    numberFrom((to) => check("cuDeviceGetAttribute", getAttribute(to, attributes[name], device)));
  const name = Buffer.alloc(nameBytes);
  check("cuDeviceGetName", getName(name, nameBytes, device));
  const total = new BigUint64Array(1);
  check("cuDeviceTotalMem_v2", getTotal(total, device));
  return {
    name: name.toString("utf8", 0, name.indexOf(0)),
    totalBytes: Number(total[0]),
    computeCapability: `${attribute("capabilityMajor")}.${attribute("capabilityMinor")}`,
    multiprocessors: attribute("multiprocessors"),
    sharedMemory: {
      perBlockBytes: attribute("sharedMemoryPerBlock"),
      perBlockOptInBytes: attribute("sharedMemoryPerBlockOptIn"),
      perMultiprocessorBytes: attribute("sharedMemoryPerMultiprocessor"),
    },
  };
}

/** The int that a function writes. */
function numberFrom(write: (to: Int32Array) => void): number {
  const to = new Int32Array(1);
  write(to);
  return to[0] ?? 0;
}

function checker(ffi: ForeignFunctions, library: NativeLibrary): Check {
  return (name, result) => {
    if (result === 0) return;
    throw new InferyardError("RUN_FAILED", `${name} of ${library.path} returned ${result}${errorName(ffi, library, result)}`);
  };
}

/** The driver's name of an error, as " (CUDA_ERROR_NO_DEVICE)"; empty where it has none. */
function errorName(ffi: ForeignFunctions, library: NativeLibrary, code: number): string {
  if (!library.has("cuGetErrorName")) return "";
  const getName = library.bind("cuGetErrorName", { result: "int32", parameters: ["int32", "pointer"] });
  const text = new BigUint64Array(1);
  getName(code, text);
  const [address = 0n] = text;
  return address === 0n ? "" : ` (${ffi.stringAt(address)})`;
}
