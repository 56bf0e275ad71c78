/** The backend `native` of programs: kernels that the engine generates, in WebAssembly and in machine code. */
import { readFileSync } from "node:fs";
import { availableParallelism, freemem } from "node:os";
import { InferyardError } from "../../contract/errors.ts";
import type { Library, LoadOptions } from "../../contract/backend.ts";
import type { DataType, Tensor, TensorMap } from "../../contract/tensor.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { kernelChecksOf } from "../../backends/native/check-generated-code.ts";
import { createMachineCode } from "../../backends/native/model-machine-code.ts";
import { type NativeState, openOnce } from "../../backends/native/native-state.ts";
import { openPageDiscard } from "../../backends/native/page-discard.ts";
import type { TraceBudget } from "../../engine/build/trace-budget.ts";
import { enableRelaxedSimd } from "../../engine/codegen/wasm/v8-flags.ts";
import { Compiler } from "../../engine/execute/compiler.ts";
import type { CompiledGraph } from "../../engine/execute/graph-compiler.ts";
import { YieldPolicy } from "../../engine/execute/yield-policy.ts";
import { detectWasmFeatures } from "../../engine/index.ts";
import type { Graph } from "../../engine/ir/graph.ts";
import { spawnThread } from "../../engine/threads/spawn-thread.ts";
import { withoutMachineCode } from "../../kernels/kernel-ids.ts";
import { version } from "../../version.ts";
import { HostBuffers } from "../interface/host-buffer.ts";
import type {
  BufferType,
  DeviceBuffer,
  DeviceGraph,
  DeviceSettings,
  ProgramAvailability,
  ProgramBackend,
  ProgramDevice,
} from "../interface/program-backend.ts";

const library: Library = { name: "inferyard", version };
/** Bytes that one memory of WebAssembly can have. */
const wasmMemoryBytes = 2 ** 32;

/** What a backend changes of the engine's device. */
export interface DeviceChanges {
  readonly target: string;
  readonly library: Library;
  /** Rewrites each graph before the engine compiles it. */
  readonly rewrite: (graph: Graph) => Graph;
  /** Facts about what runs where, each a sentence without a full stop. */
  readonly evidence: () => readonly string[];
}

/** What the devices of one backend share: checks of generated code and machine code. */
export function createEngineState(): NativeState {
  return { library };
}

/**
 * The backend `native`. Its qualifiers are levels: "wasm" is WebAssembly alone; "machine-code" must compute at least one kernel of each program in machine code.
 * Without one, machine code computes what it can.
 */
export function nativePrograms(): ProgramBackend {
  const state = createEngineState();
  return {
    name: "native",
    qualifiers: ["wasm", "machine-code"],
    probe: async (qualifier) => probeEngine(qualifier, state),
    open: async (settings) => await openEngineDevice(settings, state),
  };
}

/** Says which levels of the engine are there. */
export function probeEngine(qualifier: string | undefined, state: NativeState): ProgramAvailability {
  if (!detectWasmFeatures(enableRelaxedSimd).simd)
    return { isAvailable: false, reason: "WebAssembly on this machine has no SIMD instructions, which the engine needs" };
  const machineCode = qualifier === "wasm" ? "" : openOnce(state);
  if (typeof machineCode === "string" && qualifier === "machine-code") return { isAvailable: false, reason: machineCode };
  const levels = typeof machineCode === "string" ? "WebAssembly" : `WebAssembly, and machine code up to ${machineCode.level}`;
  return { isAvailable: true, reason: `part of inferyard: ${levels}`, library, devices: ["cpu"] };
}

function loadOptions(qualifier: string | undefined): LoadOptions {
  return qualifier === "wasm" ? { engine: { machineCode: "off" } } : {};
}

/** Opens a device of the engine. `changes`: what another backend adds to it. Throws BACKEND_UNAVAILABLE if the engine or the level is not there. */
export async function openEngineDevice(
  { weights, qualifier, threads, mode }: DeviceSettings,
  state: NativeState,
  changes?: DeviceChanges,
): Promise<ProgramDevice> {
  const features = detectWasmFeatures(enableRelaxedSimd);
  const found = probeEngine(qualifier, state);
  if (!found.isAvailable) throw new InferyardError("BACKEND_UNAVAILABLE", found.reason);
  const count = threads ?? (mode === "throughput" ? 1 : availableParallelism());
  const kernelChecks = kernelChecksOf(state);
  const compiler = new Compiler(weights, {
    features,
    ...omitUndefined({ kernelChecks }),
    machineCode: await createMachineCode(loadOptions(qualifier), state),
    ...(spawnThread === undefined || count === 1 ? {} : { threads: count, spawnThread }),
    ...omitUndefined({ openDiscard: openPageDiscard }),
  });
  const target = qualifier === undefined ? "native" : `native:${qualifier}`;
  const own: DeviceChanges = { target, library, rewrite: (graph) => graph, evidence: () => [] };
  return new NativeDevice(compiler, changes ?? own, {
    requiresMachineCode: qualifier === "machine-code",
    rememberChecks: () => kernelChecks?.remember(),
  });
}

class NativeDevice implements ProgramDevice {
  readonly library: Library;
  readonly target: string;
  readonly #compiler: Compiler;
  readonly #changes: DeviceChanges;
  readonly #buffers = new HostBuffers();
  readonly #requiresMachineCode: boolean;
  /** Keeps the checks that generated code has passed, for later processes. */
  readonly #rememberChecks: () => void;
  #isDisposed = false;
  #isFoldingOpen = true;

  constructor(
    compiler: Compiler,
    changes: DeviceChanges,
    { requiresMachineCode, rememberChecks }: { readonly requiresMachineCode: boolean; readonly rememberChecks: () => void },
  ) {
    this.#compiler = compiler;
    this.#changes = changes;
    this.#rememberChecks = rememberChecks;
    this.target = changes.target;
    this.library = changes.library;
    this.#requiresMachineCode = requiresMachineCode;
  }

  get fold(): Compiler["fold"] {
    if (this.#isFoldingOpen) this.#compiler.openFoldingCache("");
    return this.#compiler.fold;
  }

  async compile(graph: Graph, { budget }: { readonly budget: TraceBudget }): Promise<DeviceGraph> {
    const compiled = this.#compiler.attempt(() => this.#compiler.compile(this.#changes.rewrite(graph), { budget }));
    this.#isFoldingOpen = false;
    this.#compiler.closeFoldingCache();
    await this.#compiler.checkInterpreter();
    this.#rememberChecks();
    return new NativeProgram(compiled, this.#compiler, this.#buffers, this.#requiresMachineCode);
  }

  flags(): readonly string[] {
    return [];
  }

  allocate(type: BufferType): DeviceBuffer {
    this.#refuseDisposed();
    return this.#buffers.allocate(type);
  }

  free(buffer: DeviceBuffer): void {
    this.#buffers.free(buffer);
  }

  copyToDevice(tensor: Tensor, buffer: DeviceBuffer): void {
    this.#buffers.copyTo(tensor, buffer);
  }

  async copyFromDevice(buffer: DeviceBuffer): Promise<Tensor> {
    return this.#buffers.read(buffer);
  }

  async synchronize(): Promise<void> {
    this.#refuseDisposed(); // runs end before their promises do
  }

  maxMemory(): number {
    return Math.min(wasmMemoryBytes, freemem() + this.bytes);
  }

  maxSharedMemory(): number | undefined {
    return lastLevelCacheBytes();
  }

  supportsDataType(type: DataType): boolean {
    return type !== "string";
  }

  get bytes(): number {
    return this.#isDisposed ? 0 : this.#compiler.bytes + this.#buffers.bytes;
  }

  evidence(): readonly string[] {
    return [...this.#changes.evidence(), ...this.#compiler.describeCode()];
  }

  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#buffers.dispose();
    await this.#compiler.dispose();
  }

  #refuseDisposed(): void {
    if (this.#isDisposed) throw new InferyardError("DISPOSED", "the device was disposed");
  }
}

/** Bytes of the last level of cache of the first processor; undefined where the system does not tell. */
function lastLevelCacheBytes(): number | undefined {
  try {
    const text = readFileSync("/sys/devices/system/cpu/cpu0/cache/index3/size", "latin1");
    const kibibytes = /^(\d+)K$/m.exec(text)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

class NativeProgram implements DeviceGraph {
  readonly #graph: CompiledGraph;
  readonly #compiler: Compiler;
  readonly #buffers: HostBuffers;
  /** Whether the next run must count a kernel in machine code. */
  #mustProve: boolean;
  #isDisposed = false;

  constructor(graph: CompiledGraph, compiler: Compiler, buffers: HostBuffers, mustProve: boolean) {
    this.#graph = graph;
    this.#compiler = compiler;
    this.#buffers = buffers;
    this.#mustProve = mustProve;
  }

  get temporaryBytes(): number {
    return this.#graph.arenaBytes;
  }

  async run(inputs: ReadonlyMap<string, DeviceBuffer>, signal?: AbortSignal): Promise<ReadonlyMap<string, DeviceBuffer>> {
    if (this.#isDisposed) throw new InferyardError("DISPOSED", "the program was disposed");
    const given: TensorMap = Object.fromEntries([...inputs].map(([name, buffer]) => [name, this.#buffers.peek(buffer)]));
    const before = countMachineCalls(this.#compiler);
    const results = await this.#graph.run(given, undefined, { yieldPolicy: new YieldPolicy(signal) });
    await this.#compiler.checkInterpreter();
    if (this.#mustProve && countMachineCalls(this.#compiler) === before)
      throw new InferyardError("PLACEMENT_UNPROVEN", "none of the program's kernels has machine code", {
        remedy: "ask for native, which computes in WebAssembly what has no machine code",
      });
    this.#mustProve = false;
    return new Map(Object.entries(results).map(([name, tensor]) => [name, this.#buffers.wrap(tensor)]));
  }

  evidence(): readonly string[] {
    return [this.#compiler.describeRun({ ...this.#graph.steps, executables: 1 })];
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#graph.dispose();
  }
}

function countMachineCalls({ kernelCounts }: Compiler): number {
  return kernelCounts.reduce((sum, { id, calls }) => (withoutMachineCode(id) === id ? sum : sum + calls), 0);
}
