/** The libraries of CUDA, opened and proved: in a child process at first, then in this one. */
import { InferyardError } from "../../../contract/errors.ts";
import { ForeignFunctions } from "../../../libraries/ffi/index.ts";
import { proveLoads } from "../../../libraries/validation/first-load.ts";
import { type CudaContext, CudaDriver, type CudaGpu, type CudaGrid } from "./cuda-driver.ts";
import { Cublas } from "./cublas.ts";
import { Nvrtc } from "./nvrtc.ts";
import type { ProductMatrix } from "./print/program-text.ts";
import type { Value } from "../../../engine/ir/graph.ts";

/** Paths of the libraries, absolute. */
export interface CudaPaths {
  readonly driver: string;
  readonly nvrtc: string;
  /** Undefined: products are printed. */
  readonly cublas: string | undefined;
}

/** The libraries in this process, and the GPU that programs run on: the first that the driver shows. */
export interface CudaLibraries {
  readonly paths: CudaPaths;
  readonly driver: CudaDriver;
  readonly nvrtc: Nvrtc;
  readonly gpu: CudaGpu;
  /** Opens cuBLAS in the current context; undefined without the library. */
  openCublas(): Cublas | undefined;
  /** Passes addresses to kernels. */
  readonly ffi: ForeignFunctions;
}

/** Opens the libraries in this process. Throws LOAD_FAILED, LIBRARY_INCOMPATIBLE, and BACKEND_UNAVAILABLE if the driver shows no GPU. */
export async function openCuda(paths: CudaPaths): Promise<CudaLibraries> {
  const ffi = await ForeignFunctions.load();
  const driver = new CudaDriver(ffi, ffi.open(paths.driver));
  const [gpu] = driver.gpus();
  if (gpu === undefined) throw new InferyardError("BACKEND_UNAVAILABLE", `the driver ${paths.driver} shows no GPU`);
  const nvrtc = new Nvrtc(ffi, ffi.open(paths.nvrtc));
  const cublas = paths.cublas === undefined ? undefined : ffi.open(paths.cublas);
  return { paths, driver, nvrtc, gpu, ffi, openCublas: () => cublas && new Cublas(cublas) };
}

/** As `openCuda`, after a child process has compiled and run a small kernel with the same libraries, and they are remembered. */
export async function openProvedCuda(paths: CudaPaths): Promise<CudaLibraries> {
  const files = [paths.driver, paths.nvrtc, ...(paths.cublas === undefined ? [] : [paths.cublas])];
  const child = { program: new URL("./prove-cuda-child.ts", import.meta.url), tests: "a kernel and a product on CUDA" };
  await proveLoads(files, { child });
  const libraries = await openCuda(paths);
  proveCuda(libraries);
  return libraries;
}

const provedCount = 300;
const provedKernel = `extern "C" __global__ void prove(const float *x, float *y) {
  int i = (int)(blockIdx.x * 256u + threadIdx.x);
  if (i < ${provedCount}) y[i] = x[i] * 2.0f + 1.0f;
}
`;

/** Compiles and runs a small kernel, and multiplies small matrices. Throws VERIFICATION_FAILED if a result is wrong. */
export function proveCuda({ driver, nvrtc, gpu, ffi, openCublas }: CudaLibraries): void {
  const context = driver.open(gpu.index);
  const allocated: bigint[] = [];
  const allocate = (bytes: number): bigint => {
    const address = context.allocate(bytes);
    allocated.push(address);
    return address;
  };
  let cublas: Cublas | undefined;
  try {
    const module = context.load(nvrtc.compile(provedKernel, gpu.capability));
    const data = Float32Array.from({ length: provedCount }, (_, index) => index / 4);
    const [x, y] = [allocate(data.byteLength), allocate(data.byteLength)];
    context.upload(x, data);
    launchWith(context, ffi, module.find("prove"), { blocks: 2, threads: 256 }, [x, y]);
    const results = new Float32Array(provedCount);
    context.download(results, y);
    module.unload();
    if (results.some((value, index) => value !== (data[index] ?? 0) * 2 + 1)) throw wrong("a small kernel");
    context.use();
    cublas = openCublas();
    if (cublas !== undefined) proveProduct(context, cublas, allocate);
  } finally {
    cublas?.dispose();
    for (const address of allocated) context.free(address);
    context.dispose();
  }
}

function proveProduct(context: CudaContext, cublas: Cublas, allocate: (bytes: number) => bigint): void {
  const [a, b, expected] = [Float32Array.of(1, 2, 3, 4, 5, 6), Float32Array.of(1, 0, 2, 1, 0, 3), Float32Array.of(5, 11, 14, 23)];
  const places = [a, b, expected].map(({ byteLength }) => allocate(byteLength));
  context.upload(places[0] ?? 0n, a);
  context.upload(places[1] ?? 0n, b);
  const value: Value = { type: { dataType: "float32", shape: [] } };
  const matrix = (rowStride: number): ProductMatrix => ({ value, offset: 0, rowStride, columnStride: 1, batchStride: 0 });
  const [left, right, result] = [matrix(3), matrix(2), matrix(2)];
  const sizes = { rows: 2, inner: 3, columns: 2, count: 1 };
  cublas.multiply(
    { kind: "product", dataType: "float32", ...sizes, a: left, b: right, result },
    (asked) => places[[left, right, result].indexOf(asked)] ?? 0n,
  );
  const results = new Float32Array(4);
  context.download(results, places[2] ?? 0n);
  if (results.some((each, index) => each !== expected[index])) throw wrong("a small product by cuBLAS");
}

function wrong(what: string): InferyardError {
  return new InferyardError("VERIFICATION_FAILED", `${what} gives wrong results on this GPU`);
}

/** Launches a kernel whose arguments are addresses. */
export function launchWith(
  context: CudaContext,
  ffi: ForeignFunctions,
  kernel: bigint,
  grid: CudaGrid,
  addresses: readonly bigint[],
): void {
  const values = BigUint64Array.from(addresses);
  const first = ffi.getAddress(values);
  const parameters = BigUint64Array.from(addresses, (_, index) => first + BigInt(index * 8));
  context.launch(kernel, grid, parameters);
}
