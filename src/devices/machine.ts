/** Puts the readers together: everything at once, each within its time limit, and once per process unless asked again. */
import type { Accelerator, DeviceType, Fact, MachineFacts } from "../backend.ts";
import type { ProbeResult, Probe } from "./accelerators/probe-result.ts";
import type { MachineSources } from "./sources.ts";
import { abortError, throwIfAborted } from "../errors.ts";
import { probeNpu, probeTpu } from "./accelerators/tpu-npu.ts";
import { probeCoreMl, probeMetal } from "./accelerators/apple.ts";
import { cpuFigures, readCpu } from "./cpu/cpu.ts";
import { probeCuda } from "./accelerators/cuda.ts";
import { absent } from "./accelerators/probe-result.ts";
import { memoryFigures, readMemory } from "./memory.ts";
import { probeOpenVino } from "./accelerators/openvino.ts";
import { probeRocm } from "./accelerators/rocm.ts";
import { nodeSources, withReadCache, withAbortSignal } from "./sources.ts";
import { probeVulkan } from "./accelerators/vulkan.ts";
import { probeDirectMl } from "./accelerators/windows.ts";

export interface MachineOptions {
  /** Where facts come from. Default: this machine. */
  readonly sources?: MachineSources;
  /** How long each reader may take, in milliseconds; what is not known by then is reported so. Default: 2000. */
  readonly timeoutMs?: number;
  /** Aborted: programs that were started are killed and the reading throws ABORTED. */
  readonly signal?: AbortSignal;
}

/** A reader of machine facts that remembers its answer, but for the memory. */
export interface MachineReader {
  /** The facts, read at the first call. `again` reads them anew, for a machine whose devices or limits have changed. */
  read(options?: { readonly again?: boolean }): Promise<MachineFacts>;
  /** Bytes that may still be taken, read anew at every call. */
  availableMemory(): Promise<Fact<number>>;
}

/** Every kind of accelerator that is looked for. WebGPU is left to the engine that brings it: no file of the system tells. */
const probes: readonly (readonly [DeviceType, Probe])[] = [
  ["cuda", probeCuda],
  ["rocm", probeRocm],
  ["metal", probeMetal],
  ["coreml", probeCoreMl],
  ["directml", probeDirectMl],
  ["vulkan", probeVulkan],
  ["openvino", probeOpenVino],
  ["npu", probeNpu],
  ["tpu", probeTpu],
];

const defaultTimeoutMs = 2000;

/** A killed program answers at once; only a reader that hangs in a file takes longer than this after its time is up. */
const graceMs = 100;

/** Reads the facts of this machine now. Prints nothing, and throws nothing but ABORTED. */
export function readMachine(options: MachineOptions = {}): Promise<MachineFacts> {
  return unlessAborted(options.signal, () => readEverything(options));
}

/** Bytes this process may still take, read anew at every call: unlike the other facts, this one changes all the time. */
export function readAvailableMemory(options: MachineOptions = {}): Promise<Fact<number>> {
  const sources = withReadCache(options.sources ?? nodeSources());
  return unlessAborted(
    options.signal,
    async () => (await withinTime(options, sources, readMemory, () => memoryFigures(sources))).available,
  );
}

/** A reader for the whole life of a process. A reading that fails is not remembered. */
export function createMachineReader(options: MachineOptions = {}): MachineReader {
  let reading: Promise<MachineFacts> | undefined;
  return {
    read({ again = false } = {}) {
      if (reading === undefined || again) {
        const started = readMachine(options).catch((error: unknown) => {
          if (reading === started) reading = undefined;
          throw error;
        });
        reading = started;
      }
      return reading;
    },
    availableMemory: () => readAvailableMemory(options),
  };
}

async function readEverything(options: MachineOptions): Promise<MachineFacts> {
  const sources = withReadCache(options.sources ?? nodeSources());
  const [cpu, memory, findings] = await Promise.all([
    withinTime(options, sources, readCpu, (reason) => cpuFigures(sources, reason)),
    withinTime(options, sources, readMemory, () => memoryFigures(sources)),
    Promise.all(
      probes.map(async ([type, probe]): Promise<readonly [DeviceType, ProbeResult]> => {
        const late = (reason: string): ProbeResult => absent(`looking for ${type} devices gave ${reason}`);
        return [type, await withinTime(options, sources, probe, late)];
      }),
    ),
  ]);
  const reasons: Partial<Record<DeviceType, string>> = {};
  const accelerators: Accelerator[] = [];
  for (const [type, finding] of findings) {
    if ("absent" in finding) reasons[type] = finding.absent;
    else accelerators.push(...finding.devices);
  }
  return { platform: sources.platform, architecture: sources.architecture, cpu, memory, accelerators, absent: reasons };
}

/** Gives one reader its time: its programs are killed when that is up, and what it could not find out is said in `late`. */
async function withinTime<Answer>(
  options: MachineOptions,
  sources: MachineSources,
  read: (limitedSources: MachineSources) => Promise<Answer>,
  late: (reason: string) => Answer,
): Promise<Answer> {
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  const reason = `no answer within ${timeoutMs} ms`;
  const timeUp = new AbortController();
  // Joined signals add no listener to the caller's: Node.js prints a warning about the eleventh.
  const stop = AbortSignal.any(signal === undefined ? [timeUp.signal] : [timeUp.signal, signal]);
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => {
      timeUp.abort(new Error(reason));
      timer = setTimeout(() => resolve(late(reason)), graceMs);
    }, timeoutMs);
  });
  try {
    return await Promise.race([read(withAbortSignal(sources, stop)), overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/** Gives up on the work as soon as the caller does. */
async function unlessAborted<Answer>(signal: AbortSignal | undefined, work: () => Promise<Answer>): Promise<Answer> {
  throwIfAborted(signal);
  if (signal === undefined) return work();
  const listening = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(abortError(signal)), { once: true, signal: listening.signal });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    listening.abort();
  }
}
