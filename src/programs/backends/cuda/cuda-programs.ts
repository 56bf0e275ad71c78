/** The backend `cuda` of programs: graphs printed as CUDA C, compiled by NVRTC, launched by CUDA's driver; matrix products by cuBLAS where it is found. */
import { resolve } from "node:path";
import { getMessage, InferyardError } from "../../../contract/errors.ts";
import { isKoffiInstalled, koffiInstall } from "../../../libraries/ffi/koffi.ts";
import type { ProgramAvailability, ProgramBackend } from "../../interface/program-backend.ts";
import { CudaDevice, untried } from "./cuda-device.ts";
import { type CudaLibraries, openProvedCuda } from "./cuda-libraries.ts";
import { type CudaFiles, findCuda } from "./find-cuda.ts";

/** Options of the backend: paths of the libraries. Default: those that are found. */
export interface CudaProgramsOptions {
  /** The driver's library: libcuda.so.1. */
  readonly driver?: string;
  /** The compiler's library: libnvrtc.so.12. */
  readonly nvrtc?: string;
  /** cuBLAS's library, libcublas.so.12; false: products are printed as well. */
  readonly cublas?: string | false;
}

const installation = "pip install nvidia-cuda-nvrtc-cu12 nvidia-cublas-cu12";

/** The libraries, or why they cannot be used. */
type Found = CudaLibraries | { readonly reason: string; readonly remedy?: string };

/** The backend `cuda`, on the first GPU that the driver shows. It has no qualifiers. What was found is kept. */
export function cudaPrograms(options: CudaProgramsOptions = {}): ProgramBackend {
  let found: Promise<Found> | undefined;
  const find = (): Promise<Found> => (found ??= openFirst(options));
  return {
    name: "cuda",
    qualifiers: [],
    probe: async (): Promise<ProgramAvailability> => {
      const libraries = await find();
      if ("reason" in libraries) return { isAvailable: false, ...libraries };
      const { gpu, nvrtc } = libraries;
      const reason = `a small kernel gives the right results on ${gpu.name}; ${untried}`;
      return { isAvailable: true, reason, library: { name: "NVRTC", version: nvrtc.version }, devices: [`cuda:${gpu.index}`] };
    },
    open: async () => {
      const libraries = await find();
      if ("reason" in libraries) throw new InferyardError("BACKEND_UNAVAILABLE", libraries.reason, { remedy: libraries.remedy });
      return new CudaDevice(libraries);
    },
  };
}

async function openFirst({ driver, nvrtc, cublas }: CudaProgramsOptions): Promise<Found> {
  if (!isKoffiInstalled()) return { reason: "koffi, which calls libraries, is not installed", remedy: koffiInstall };
  const isStated = driver !== undefined && nvrtc !== undefined && cublas !== undefined;
  const files: CudaFiles = isStated ? { driver: [], nvrtc: [], cublas: [] } : await findCuda();
  const [firstDriver] = driver === undefined ? files.driver : [resolve(driver)];
  if (firstDriver === undefined)
    return {
      reason: "no CUDA driver was found: no file is called libcuda.so.1",
      remedy: "install NVIDIA's driver, or ask for xla or native",
    };
  const compilers = nvrtc === undefined ? files.nvrtc : [resolve(nvrtc)];
  if (compilers.length === 0)
    return { reason: "NVRTC, CUDA's compiler, was not found: no file is called libnvrtc.so.12", remedy: installation };
  const products = cublas === undefined ? files.cublas : cublas === false ? [] : [resolve(cublas)];
  const failures: string[] = [];
  // A compiler that does not know the GPU gives way to the next one; without a cuBLAS that works, products are printed.
  for (const compiler of compilers) {
    for (const each of [...products.slice(0, 2), undefined]) {
      try {
        return await openProvedCuda({ driver: firstDriver, nvrtc: compiler, cublas: each });
      } catch (error) {
        if (!(error instanceof InferyardError)) throw error;
        failures.push(getMessage(error));
        if (error.code === "BACKEND_UNAVAILABLE") return { reason: getMessage(error) }; // no GPU: other compilers change nothing
      }
    }
  }
  return { reason: [...new Set(failures)].slice(0, 3).join("; "), remedy: installation };
}
