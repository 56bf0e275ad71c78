/** A GPU that is open for one program. */
import { InferyardError } from "../../../contract/errors.ts";
import type { Library } from "../../../contract/backend.ts";
import { type DataType, type Tensor, zeros } from "../../../contract/tensor.ts";
import type { TraceBudget } from "../../../engine/build/trace-budget.ts";
import type { Graph } from "../../../engine/ir/graph.ts";
import type { Literal } from "../../../engine/ir/literal.ts";
import { passes } from "../../../engine/passes/index.ts";
import { checkSameType } from "../../interface/host-buffer.ts";
import type { BufferType, DeviceBuffer, DeviceGraph, ProgramDevice } from "../../interface/program-backend.ts";
import { type CudaBuffer, CudaBuffers } from "./cuda-buffer.ts";
import type { CudaContext } from "./cuda-driver.ts";
import { CudaGraph } from "./cuda-graph.ts";
import type { CudaLibraries } from "./cuda-libraries.ts";
import type { Cublas } from "./cublas.ts";
import { nvrtcOptions } from "./nvrtc.ts";
import { hasCType } from "./print/c-types.ts";
import { printGraph } from "./print/print-graph.ts";

/** Passes whose results have no kernels here: products of quantized activations stay the operations that they are made of. */
const unusedPasses: ReadonlySet<string> = new Set([
  "recognizeDynamicQuantization",
  "fuseQuantizedMatmul",
  "eliminateCommonQuantization",
]);

/** What a decision says as long as nobody has run the backend on a GPU. */
export const untried =
  "this backend was tested with the NVIDIA compiler and an emulated driver, and never on a GPU: each program is checked against the interpreter before it is used";

/** Rewrites a graph for kernels on a GPU: chains of elementwise operations become one, and known patterns too. */
export function fuseForCuda(graph: Graph, budget?: TraceBudget): Graph {
  let current = graph;
  for (const [name, pass] of Object.entries(passes)) {
    if (unusedPasses.has(name)) continue;
    budget?.checkTime();
    current = pass(current);
  }
  return current;
}

export class CudaDevice implements ProgramDevice {
  readonly target = "cuda";
  readonly library: Library;
  readonly #libraries: CudaLibraries;
  readonly #context: CudaContext;
  readonly #cublas: Cublas | undefined;
  readonly #buffers: CudaBuffers;
  readonly #constants = new Map<Literal, CudaBuffer>();
  readonly #graphs = new Set<CudaGraph>();
  #isDisposed = false;

  /** Throws BACKEND_UNAVAILABLE with the driver's words. */
  constructor(libraries: CudaLibraries) {
    const { driver, nvrtc, gpu } = libraries;
    this.#libraries = libraries;
    this.library = { name: "NVRTC", version: nvrtc.version };
    this.#context = driver.open(gpu.index);
    this.#buffers = new CudaBuffers(this.#context);
    try {
      this.#context.use();
      this.#cublas = libraries.openCublas();
    } catch (error) {
      this.#context.dispose();
      throw error;
    }
  }

  async compile(graph: Graph, { budget }: { readonly budget: TraceBudget }): Promise<DeviceGraph> {
    this.#refuseDisposed();
    const fused = fuseForCuda(graph, budget);
    const printed = printGraph(fused, { hasCublas: this.#cublas !== undefined });
    const compiled = new CudaGraph(fused, printed, {
      libraries: this.#libraries,
      context: this.#context,
      cublas: this.#cublas,
      buffers: this.#buffers,
      constantOn: (literal) => this.#constantOn(literal),
    });
    this.#graphs.add(compiled);
    return compiled;
  }

  flags(): readonly string[] {
    return nvrtcOptions(this.#libraries.gpu.capability);
  }

  allocate(type: BufferType): DeviceBuffer {
    this.#refuseDisposed();
    if (!this.supportsDataType(type.dataType))
      throw new InferyardError("MODEL_UNSUPPORTED", `programs on CUDA have no tensors of ${type.dataType}`);
    return this.#buffers.allocate(type);
  }

  free(buffer: DeviceBuffer): void {
    this.#buffers.free(this.#buffers.own(buffer));
  }

  copyToDevice(tensor: Tensor, buffer: DeviceBuffer): void {
    checkSameType(tensor, buffer);
    this.#context.upload(this.#buffers.own(buffer).address, tensor.data as Float32Array);
  }

  async copyFromDevice(buffer: DeviceBuffer): Promise<Tensor> {
    const { address, type } = this.#buffers.own(buffer);
    const tensor = zeros(type.dataType, [...type.shape]);
    this.#context.download(tensor.data as Float32Array, address);
    return tensor;
  }

  async synchronize(): Promise<void> {
    this.#refuseDisposed();
    this.#context.synchronize();
  }

  maxMemory(): number {
    return this.#context.memory().free + this.bytes;
  }

  maxSharedMemory(): number {
    return this.#libraries.gpu.sharedBytes;
  }

  supportsDataType(type: DataType): boolean {
    return hasCType(type);
  }

  get bytes(): number {
    return this.#buffers.bytes;
  }

  evidence(): readonly string[] {
    const { gpu, driver, paths } = this.#libraries;
    const products =
      this.#cublas === undefined
        ? "printed kernels compute products: cuBLAS was not found"
        : `products by cuBLAS ${this.#cublas.version} (${paths.cublas})`;
    return [
      `${gpu.name} (compute capability ${gpu.capability / 10}), driver for CUDA ${driver.version} (${paths.driver}), NVRTC ${this.library.version} (${paths.nvrtc})`,
      products,
      untried,
    ];
  }

  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const graph of this.#graphs) graph.dispose();
    this.#cublas?.dispose();
    this.#buffers.dispose();
    this.#constants.clear();
    this.#context.dispose();
  }

  #constantOn(literal: Literal): CudaBuffer {
    const known = this.#constants.get(literal);
    if (known !== undefined) return known;
    const { dataType, shape, data } = literal;
    const buffer = this.#buffers.allocate({ dataType: dataType as DataType, shape });
    this.#constants.set(literal, buffer);
    this.#context.upload(buffer.address, data as Float32Array);
    return buffer;
  }

  #refuseDisposed(): void {
    if (this.#isDisposed) throw new InferyardError("DISPOSED", "the device was disposed");
  }
}
