/** A backend of programs that fails as a test specifies, around one that computes. */
import type { Tensor } from "../contract/tensor.ts";
import type { DeviceGraph, ProgramBackend, ProgramDevice } from "../programs/index.ts";

/** The steps in which a backend of programs can fail. "wrong": the first element of each output of floats is off by one; the others throw. */
export type ScriptedStep = "probe" | "absent" | "open" | "allocate" | "copy" | "compile" | "run" | "wrong";

/** The behaviour of a scripted backend of programs. */
export interface ScriptedProgramsOptions {
  /** The backend that computes. */
  readonly around: ProgramBackend;
  /** Names the backend. Default: the name of `around`. */
  readonly name?: string;
  /** The step that fails. Default: none. */
  readonly failing?: ScriptedStep | undefined;
  /** What a failing step throws. Default: an Error with the text "scripted". */
  readonly error?: unknown;
}

/** Creates a backend of programs that computes as another one does, but for the step that fails. */
export function scriptedPrograms({
  around,
  name = around.name,
  failing,
  error = new Error("scripted"),
}: ScriptedProgramsOptions): ProgramBackend {
  const fail = (step: ScriptedStep): void => {
    if (failing === step) throw error;
  };
  return {
    name,
    qualifiers: around.qualifiers,
    async probe(qualifier) {
      fail("probe");
      return failing === "absent" ? { isAvailable: false, reason: "scripted absence" } : await around.probe(qualifier);
    },
    async open(settings) {
      fail("open");
      return scriptedDevice(await around.open(settings), fail, failing === "wrong");
    },
  };
}

function scriptedDevice(device: ProgramDevice, fail: (step: ScriptedStep) => void, isWrong: boolean): ProgramDevice {
  return {
    target: device.target,
    library: device.library,
    get fold() {
      return device.fold;
    },
    async compile(graph, settings) {
      fail("compile");
      return scriptedGraph(await device.compile(graph, settings), fail);
    },
    flags: () => device.flags(),
    allocate(type) {
      fail("allocate");
      return device.allocate(type);
    },
    free: (buffer) => device.free(buffer),
    copyToDevice(tensor, buffer) {
      fail("copy");
      device.copyToDevice(tensor, buffer);
    },
    copyFromDevice: async (buffer) => changed(await device.copyFromDevice(buffer), isWrong),
    synchronize: async () => await device.synchronize(),
    maxMemory: () => device.maxMemory(),
    maxSharedMemory: () => device.maxSharedMemory(),
    supportsDataType: (type) => device.supportsDataType(type),
    get bytes() {
      return device.bytes;
    },
    evidence: () => device.evidence(),
    dispose: async () => await device.dispose(),
  };
}

function scriptedGraph(graph: DeviceGraph, fail: (step: ScriptedStep) => void): DeviceGraph {
  return {
    get temporaryBytes() {
      return graph.temporaryBytes;
    },
    async run(inputs, signal) {
      fail("run");
      return await graph.run(inputs, signal);
    },
    evidence: () => graph.evidence(),
    dispose: () => graph.dispose(),
  };
}

function changed(tensor: Tensor, isWrong: boolean): Tensor {
  const { data } = tensor;
  if (isWrong && data instanceof Float32Array && data.length > 0) data[0] = (data[0] ?? 0) + 1;
  return tensor;
}
