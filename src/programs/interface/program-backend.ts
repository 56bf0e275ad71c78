/**
 * The interface of backends of programs. A backend opens devices; a device compiles graphs, and owns the memory that their weights, inputs, outputs and states are
 * in. `compileProgram` traces a program, hands its graphs to a device, checks each compiled graph against the interpreter, and runs it.
 *
 * The conformance suite `programBackendCases` of `inferyard/testing` checks a backend.
 */
import type { Library } from "../../contract/backend.ts";
import type { DataType, Tensor } from "../../contract/tensor.ts";
import type { TraceBudget } from "../../engine/build/trace-budget.ts";
import type { ConstantFolder } from "../../engine/interpret/evaluate.ts";
import type { Graph } from "../../engine/ir/graph.ts";
import type { Literal } from "../../engine/ir/literal.ts";

/** Element type and dimensions of a tensor on a device. */
export interface BufferType {
  readonly dataType: DataType;
  readonly shape: readonly number[];
}

/** A tensor in the memory of a device. Only the device that allocated it can read or free it. */
export interface DeviceBuffer {
  readonly type: BufferType;
}

/** What a backend of programs found on this machine. `reason` is a sentence without a full stop. */
export type ProgramAvailability =
  | { readonly isAvailable: true; readonly reason: string; readonly library: Library; readonly devices: readonly string[] }
  | { readonly isAvailable: false; readonly reason: string; readonly remedy?: string | undefined };

/** Settings of a device. */
export interface DeviceSettings {
  /**
   * What follows the colon in a name such as "native:wasm" or "xla:cpu": a level or a kind of device. Undefined: the backend chooses.
   */
  readonly qualifier?: string | undefined;
  /** Weights of the program, in the order in which they are given in graphs of this device as constants. */
  readonly weights: readonly Literal[];
  /** Threads that compute. Default: the backend decides. */
  readonly threads?: number | undefined;
  /** "latency": one run shall end soon. "throughput": many runs shall end soon. */
  readonly mode: ProgramMode;
}

/** What a compiled program is made for: "latency", one run at a time on all threads; "throughput", runs beside each other with one thread each. */
export type ProgramMode = "latency" | "throughput";

/** A graph that a device can run. */
export interface DeviceGraph {
  /** Bytes of the memory that a run needs beside its inputs, outputs and weights. */
  readonly temporaryBytes: number;
  /**
   * Runs the graph and returns its outputs by name in buffers that the caller frees. `inputs`: buffers of the device by the names of the graph's inputs, which the run
   * neither changes nor frees. Throws RUN_FAILED and OUT_OF_MEMORY.
   */
  run(inputs: ReadonlyMap<string, DeviceBuffer>, signal?: AbortSignal): Promise<ReadonlyMap<string, DeviceBuffer>>;
  /** Facts about the code, each a sentence without a full stop. */
  evidence(): readonly string[];
  /** Frees the program. Calling it again does nothing. */
  dispose(): void;
}

/** A device with memory, open for one program. Methods are called one at a time. */
export interface ProgramDevice {
  /** The backend and the device or level, such as "native:machine-code" or "xla:cpu". */
  readonly target: string;
  readonly library: Library;
  /** Evaluates operations on constants while graphs are traced. Default: the interpreter, without a memory of earlier results. */
  readonly fold?: ConstantFolder | undefined;
  /**
   * Compiles a graph whose constants are weights of the device's settings or small. `budget`: the budget of its trace, whose time includes the compilation. Throws
   * MODEL_UNSUPPORTED for operations and types that the backend does not have, OUT_OF_MEMORY, and RUN_FAILED with the compiler's message.
   */
  compile(graph: Graph, settings: { readonly budget: TraceBudget }): Promise<DeviceGraph>;
  /** Settings of the compiler, as it spells them; none if it has no such form. */
  flags(): readonly string[];
  /** Allocates a tensor whose elements are undefined. Throws OUT_OF_MEMORY, and MODEL_UNSUPPORTED for a type of elements that the device does not have. */
  allocate(type: BufferType): DeviceBuffer;
  /** Frees a buffer. Freeing it again does nothing. */
  free(buffer: DeviceBuffer): void;
  /** Copies a tensor into a buffer of its type. */
  copyToDevice(tensor: Tensor, buffer: DeviceBuffer): void;
  /** Copies a buffer to JavaScript memory that the caller owns. Waits until its elements are computed. */
  copyFromDevice(buffer: DeviceBuffer): Promise<Tensor>;
  /** Waits until all runs have ended. Throws RUN_FAILED if one failed. */
  synchronize(): Promise<void>;
  /** Bytes of the memory that programs may use; undefined: not known. */
  maxMemory(): number | undefined;
  /** Bytes of the memory that threads which compute together share: shared memory of a GPU, the last level of cache of a processor; undefined: not known. */
  maxSharedMemory(): number | undefined;
  /** Whether buffers can have elements of this type. */
  supportsDataType(type: DataType): boolean;
  /** Bytes that are allocated now: weights, buffers and memory of runs. */
  readonly bytes: number;
  /** Facts about what runs where, each a sentence without a full stop. */
  evidence(): readonly string[];
  /** Frees all buffers and programs. Calling it again does nothing. */
  dispose(): Promise<void>;
}

/** A backend of programs. */
export interface ProgramBackend {
  /** Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** The qualifiers that may follow the name; empty: none. */
  readonly qualifiers: readonly string[];
  /** Says what is there, and runs something small to be sure. Never throws for absence. */
  probe(qualifier: string | undefined): Promise<ProgramAvailability>;
  /** Opens a device. Throws BACKEND_UNAVAILABLE if there is none. */
  open(settings: DeviceSettings): Promise<ProgramDevice>;
}
