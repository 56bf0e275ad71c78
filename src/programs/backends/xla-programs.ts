/** The backend `xla` of programs: graphs as StableHLO, compiled by XLA through a PJRT plugin. */
import { freemem } from "node:os";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { Library } from "../../contract/backend.ts";
import type { DataType, Tensor } from "../../contract/tensor.ts";
import { type CompilerPlugin, openCompiler, type XlaModelCompiler } from "../../backends/xla/open-compiler.ts";
import { compileInChild } from "../../backends/xla/separate/compile-in-child.ts";
import type { DeviceTensor, HostTensor } from "../../backends/xla/pjrt/device-tensor.ts";
import { bufferTypes } from "../../backends/xla/pjrt/element-types.ts";
import { getLibrary, XlaPlugins } from "../../backends/xla/plugins/xla-plugins.ts";
import { readXlaTensor, type XlaGraph } from "../../backends/xla/xla-graph.ts";
import { compilerFlags } from "../../backends/xla/compiler-flags.ts";
import type { TraceBudget } from "../../engine/build/trace-budget.ts";
import type { ConstantFolder } from "../../engine/interpret/evaluate.ts";
import type { Graph } from "../../engine/ir/graph.ts";
import { isKoffiInstalled, koffiInstall } from "../../libraries/ffi/koffi.ts";
import { bufferBytes, checkSameType } from "../interface/host-buffer.ts";
import type {
  BufferType,
  DeviceBuffer,
  DeviceGraph,
  DeviceSettings,
  ProgramAvailability,
  ProgramBackend,
  ProgramDevice,
} from "../interface/program-backend.ts";

/** Options of the backend. */
export interface XlaProgramsOptions {
  /** Path of a PJRT plugin. Default: the plugins that are found. */
  readonly plugin?: string;
  /**
   * Whether each program is compiled in a child process first, unless it is among the compiled programs that are kept on disk: for some programs the compiler ends its process.
   * Costs about half a second. Default: true.
   */
  readonly compilesInChild?: boolean;
}

const deviceTypes = ["cpu", "cuda", "rocm", "tpu"] as const;

/** The backend `xla`. Its qualifiers are kinds of devices: "cpu", "cuda", "rocm" and "tpu"; without one, the CPU. */
export function xlaPrograms({ plugin, compilesInChild = true }: XlaProgramsOptions = {}): ProgramBackend {
  const plugins = new XlaPlugins(plugin, []);
  return {
    name: "xla",
    qualifiers: deviceTypes,
    probe: async (qualifier) => await probe(qualifier, plugins),
    open: async (settings) => await openXla(settings, plugins, compilesInChild),
  };
}

async function probe(type: string = "cpu", plugins: XlaPlugins): Promise<ProgramAvailability> {
  if (!isKoffiInstalled())
    return { isAvailable: false, reason: "koffi, which calls libraries, is not installed", remedy: koffiInstall };
  try {
    const { path, facts } = await plugins.pluginFor({ type, index: 0 }, undefined);
    const reason = `a tiny program gives the right answers on ${facts.deviceKind}, through ${path} (PJRT ${facts.apiVersion})`;
    return { isAvailable: true, reason, library: getLibrary(facts), devices: [type] };
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    return { isAvailable: false, reason: error.message, remedy: error.remedy };
  }
}

async function openXla(
  { weights, qualifier = "cpu", threads }: DeviceSettings,
  plugins: XlaPlugins,
  compilesInChild: boolean,
): Promise<ProgramDevice> {
  if (!isKoffiInstalled())
    throw new InferyardError("BACKEND_UNAVAILABLE", "koffi, which calls libraries, is not installed", { remedy: koffiInstall });
  const device = { type: qualifier, index: 0 };
  const { path, facts } = await plugins.pluginFor(device, undefined);
  const plugin: CompilerPlugin = { path, device, settings: {}, programCacheBytes: undefined };
  const opened = await openCompiler(weights, "a program", plugin, threads === undefined ? {} : { threads });
  const tryCompile = async (program: XlaGraph["text"]): Promise<void> => {
    if (compilesInChild && !opened.programs.isKept(program)) await compileInChild(program, plugin, { threads });
  };
  return new XlaDevice(opened, { type: qualifier, library: getLibrary(facts), tryCompile });
}

/** A tensor on a device of PJRT. */
class XlaBuffer implements DeviceBuffer {
  readonly type: BufferType;
  readonly device: XlaDevice;
  /** The elements; undefined if none were copied yet, since PJRT allocates memory when elements are copied. */
  uploaded: DeviceTensor | undefined;
  #isFreed = false;

  constructor(device: XlaDevice, type: BufferType, uploaded?: DeviceTensor) {
    this.device = device;
    this.type = type;
    this.uploaded = uploaded;
  }

  /** The elements. Throws DISPOSED after `free`, and INPUT_INVALID if there are none. */
  get tensor(): DeviceTensor {
    this.refuseFreed();
    if (this.uploaded === undefined) throw new InferyardError("INPUT_INVALID", "the buffer has no elements yet");
    return this.uploaded;
  }

  refuseFreed(): void {
    if (this.#isFreed) throw new InferyardError("DISPOSED", "the buffer was freed");
  }

  get bytes(): number {
    return this.uploaded === undefined ? 0 : bufferBytes(this.type);
  }

  free(): void {
    this.#isFreed = true;
    this.uploaded?.dispose();
    this.uploaded = undefined;
  }
}

class XlaDevice implements ProgramDevice {
  readonly target: string;
  readonly library: Library;
  readonly #opened: XlaModelCompiler;
  readonly #type: string;
  readonly #buffers = new Set<XlaBuffer>();
  /** Outputs of runs that may still be computed. */
  readonly #pending = new Set<DeviceTensor>();
  readonly #tryCompile: (program: XlaGraph["text"]) => Promise<void>;
  #isFoldingOpen = true;
  #isDisposed = false;

  /** `tryCompile` throws if the compiler fails. */
  constructor(
    opened: XlaModelCompiler,
    {
      type,
      library,
      tryCompile,
    }: { readonly type: string; readonly library: Library; readonly tryCompile: (program: XlaGraph["text"]) => Promise<void> },
  ) {
    this.#opened = opened;
    this.#type = type;
    this.#tryCompile = tryCompile;
    this.target = `xla:${type}`;
    this.library = library;
  }

  get fold(): ConstantFolder {
    if (this.#isFoldingOpen) this.#opened.compiler.openFoldingCache("");
    return this.#opened.compiler.fold;
  }

  async compile(graph: Graph, { budget }: { readonly budget: TraceBudget }): Promise<DeviceGraph> {
    const { compiler } = this.#opened;
    const compiled = compiler.attempt(() => compiler.compile(graph, { budget }));
    this.#isFoldingOpen = false;
    compiler.closeFoldingCache();
    await compiler.checkInterpreter();
    await this.#tryCompile(compiled.text);
    return new XlaProgram(compiled, this);
  }

  flags(): readonly string[] {
    return Object.entries(compilerFlags(this.#type)).map(([name, value]) => `--${name}=${String(value)}`);
  }

  allocate(type: BufferType): DeviceBuffer {
    this.#refuseDisposed();
    if (!this.supportsDataType(type.dataType))
      throw new InferyardError("MODEL_UNSUPPORTED", `devices of XLA have no tensors of ${type.dataType}`);
    return this.#keep(new XlaBuffer(this, type));
  }

  free(buffer: DeviceBuffer): void {
    const own = this.own(buffer);
    if (own.uploaded !== undefined) this.#pending.delete(own.uploaded);
    own.free();
    this.#buffers.delete(own);
  }

  copyToDevice(tensor: Tensor, buffer: DeviceBuffer): void {
    checkSameType(tensor, buffer);
    const own = this.own(buffer);
    own.refuseFreed();
    const { dataType, shape } = tensor;
    const uploaded = this.#opened.client.upload({ type: { dataType, shape }, data: tensor.data as HostTensor["data"] });
    own.uploaded?.dispose();
    own.uploaded = uploaded;
  }

  async copyFromDevice(buffer: DeviceBuffer): Promise<Tensor> {
    const { tensor } = this.own(buffer);
    this.#pending.delete(tensor);
    return readXlaTensor(tensor);
  }

  async synchronize(): Promise<void> {
    this.#refuseDisposed();
    const waiting = [...this.#pending];
    this.#pending.clear();
    for (const tensor of waiting) tensor.wait();
  }

  maxMemory(): number | undefined {
    if (this.#type === "cpu") return freemem() + this.bytes;
    return this.#opened.client.memory()?.limit;
  }

  /** PJRT does not state it. */
  maxSharedMemory(): undefined {
    return undefined;
  }

  supportsDataType(type: DataType): boolean {
    return bufferTypes[type] !== undefined;
  }

  get bytes(): number {
    if (this.#isDisposed) return 0;
    return this.#opened.compiler.bytes + [...this.#buffers].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  evidence(): readonly string[] {
    return this.#opened.compiler.describeCode();
  }

  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const buffer of this.#buffers) buffer.free();
    this.#buffers.clear();
    await this.#opened.compiler.dispose();
  }

  /** A buffer of an output, which may still be computed. */
  wrap(tensor: DeviceTensor): XlaBuffer {
    this.#pending.add(tensor);
    const { dataType, shape } = tensor.type;
    return this.#keep(new XlaBuffer(this, { dataType: dataType as DataType, shape }, tensor));
  }

  /** Throws INPUT_INVALID for a buffer of another device. */
  own(buffer: DeviceBuffer): XlaBuffer {
    if (buffer instanceof XlaBuffer && buffer.device === this) return buffer;
    throw new InferyardError("INPUT_INVALID", "the buffer belongs to another device");
  }

  describeRun(graph: XlaGraph): string {
    return this.#opened.compiler.describeRun({ ...graph.steps, executables: 1 });
  }

  #keep(buffer: XlaBuffer): XlaBuffer {
    this.#buffers.add(buffer);
    return buffer;
  }

  #refuseDisposed(): void {
    if (this.#isDisposed) throw new InferyardError("DISPOSED", "the device was disposed");
  }
}

class XlaProgram implements DeviceGraph {
  readonly #graph: XlaGraph;
  readonly #device: XlaDevice;
  #isDisposed = false;

  constructor(graph: XlaGraph, device: XlaDevice) {
    this.#graph = graph;
    this.#device = device;
  }

  get temporaryBytes(): number {
    return this.#graph.arenaBytes;
  }

  async run(inputs: ReadonlyMap<string, DeviceBuffer>, signal?: AbortSignal): Promise<ReadonlyMap<string, DeviceBuffer>> {
    if (this.#isDisposed) throw new InferyardError("DISPOSED", "the program was disposed");
    throwIfAborted(signal);
    const given = new Map([...inputs].map(([name, buffer]) => [name, this.#device.own(buffer).tensor]));
    const results = this.#graph.runOnDevice(given);
    return new Map([...results].map(([name, tensor]) => [name, this.#device.wrap(tensor)]));
  }

  evidence(): readonly string[] {
    return [this.#device.describeRun(this.#graph)];
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#graph.dispose();
  }
}
