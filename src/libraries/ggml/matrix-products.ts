/** Products of whole matrices by ggml's CPU backend: one graph of one operation for each, over memory that belongs to the caller. */
import { InferyardError } from "../../contract/errors.ts";
import { layOut, type NativeLibrary, type StructLayout, writeField } from "../ffi/index.ts";

/** `ggml_init_params`, which is passed by value. The same in all releases. */
const initParams: StructLayout = layOut("ggml_init_params", [
  ["mem_size", "uint64"],
  ["mem_buffer", "pointer"],
  ["no_alloc", "bool"],
]);

/** Functions of ggml's base library and of a CPU backend. */
const baseNames = [
  "ggml_init",
  "ggml_free",
  "ggml_new_tensor_2d",
  "ggml_mul_mat",
  "ggml_new_graph_custom",
  "ggml_build_forward_expand",
  "ggml_backend_cpu_buffer_from_ptr",
  "ggml_backend_tensor_alloc",
  "ggml_backend_buffer_free",
  "ggml_backend_graph_compute",
  "ggml_backend_free",
] as const;
const cpuNames = ["ggml_backend_cpu_init", "ggml_backend_cpu_set_n_threads"] as const;

/** Bytes for the descriptions of three tensors and a graph of few nodes. */
const contextBytes = 64 * 1024;
/** Nodes that a graph has room for. */
const graphNodes = 8;
/** Bytes: what addresses of buffers are multiples of (`TENSOR_ALIGNMENT` of ggml-impl.h). */
const alignment = 32n;
/** `ggml_type` of float32. */
const f32 = 0;

/** A matrix of a type [rows, columns], at an address. */
export interface StoredMatrix {
  readonly type: number;
  readonly rows: number;
  readonly columns: number;
  readonly address: bigint;
  readonly bytes: number;
}

/** ggml's CPU backend as a multiplier of matrices. */
export class MatrixProducts {
  readonly #bound: ReturnType<typeof bindAll>;
  readonly #backend: bigint;
  readonly #params: Uint8Array;

  private constructor(bound: ReturnType<typeof bindAll>, backend: bigint) {
    this.#bound = bound;
    this.#backend = backend;
    this.#params = new Uint8Array(initParams.size);
    writeField(initParams, this.#params, "mem_size", contextBytes);
    writeField(initParams, this.#params, "no_alloc", true);
  }

  /** Undefined if the libraries lack a function that is needed. */
  static create(base: NativeLibrary, cpu: NativeLibrary): MatrixProducts | undefined {
    if (!baseNames.every((name) => base.has(name)) || !cpuNames.every((name) => cpu.has(name))) return undefined;
    const bound = bindAll(base, cpu);
    const backend = bound.initBackend();
    if (backend === 0n) return undefined;
    bound.setThreads(backend, 1);
    return new MatrixProducts(bound, backend);
  }

  /** Computes activations [m, columns] times the transpose of the weights, as float32 [m, rows] at `output`. Throws RUN_FAILED if ggml does. */
  multiply(weights: StoredMatrix, activations: bigint, m: number, output: bigint): void {
    const { bound, backend } = { bound: this.#bound, backend: this.#backend };
    const context = bound.init(this.#params);
    if (context === 0n) throw failed("it has no memory for a graph");
    const buffers: bigint[] = [];
    const place = (tensor: bigint, address: bigint, bytes: number): void => {
      const start = address - (address % alignment);
      const buffer = bound.bufferAt(start, Number(address - start) + bytes);
      buffers.push(buffer);
      if (bound.place(buffer, tensor, address) !== 0) throw failed("it does not take the memory of a tensor");
    };
    try {
      const { type, rows, columns, address, bytes } = weights;
      const a = bound.tensor(context, type, columns, rows);
      const b = bound.tensor(context, f32, columns, m);
      const c = bound.multiply(context, a, b);
      place(a, address, bytes);
      place(b, activations, 4 * columns * m);
      place(c, output, 4 * rows * m);
      const graph = bound.graph(context, graphNodes, false);
      bound.expand(graph, c);
      const status = bound.compute(backend, graph);
      if (status !== 0) throw failed(`its status is ${status}`);
    } finally {
      for (const buffer of buffers) bound.freeBuffer(buffer);
      bound.free(context);
    }
  }

  close(): void {
    this.#bound.freeBackend(this.#backend);
  }
}

function bindAll(base: NativeLibrary, cpu: NativeLibrary) {
  const pointer = "pointer" as const;
  return {
    init: base.bind("ggml_init", { result: pointer, parameters: [initParams] }),
    free: base.bind("ggml_free", { result: "void", parameters: [pointer] }),
    tensor: base.bind("ggml_new_tensor_2d", { result: pointer, parameters: [pointer, "int32", "int64", "int64"] }),
    multiply: base.bind("ggml_mul_mat", { result: pointer, parameters: [pointer, pointer, pointer] }),
    graph: base.bind("ggml_new_graph_custom", { result: pointer, parameters: [pointer, "size", "bool"] }),
    expand: base.bind("ggml_build_forward_expand", { result: "void", parameters: [pointer, pointer] }),
    bufferAt: base.bind("ggml_backend_cpu_buffer_from_ptr", { result: pointer, parameters: [pointer, "size"] }),
    place: base.bind("ggml_backend_tensor_alloc", { result: "int32", parameters: [pointer, pointer, pointer] }),
    freeBuffer: base.bind("ggml_backend_buffer_free", { result: "void", parameters: [pointer] }),
    compute: base.bind("ggml_backend_graph_compute", { result: "int32", parameters: [pointer, pointer] }),
    freeBackend: base.bind("ggml_backend_free", { result: "void", parameters: [pointer] }),
    initBackend: cpu.bind("ggml_backend_cpu_init", { result: pointer, parameters: [] }),
    setThreads: cpu.bind("ggml_backend_cpu_set_n_threads", { result: "void", parameters: [pointer, "int32"] }),
  };
}

function failed(why: string): InferyardError {
  return new InferyardError("RUN_FAILED", `ggml does not multiply a matrix: ${why}`);
}
