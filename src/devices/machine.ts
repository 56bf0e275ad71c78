/** Reads all facts about the machine in parallel, each within its time limit, and caches them for the process. */
import type { Accelerator, DeviceType, Fact, MachineFacts } from "../contract/backend.ts";
import type { ProbeResult, Probe } from "./accelerators/probe-result.ts";
import type { MachineSources } from "./sources.ts";
import { abortable } from "../concurrency/abortable.ts";
import { throwIfAborted } from "../contract/errors.ts";
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

/** Options for reading facts about the machine. */
export interface MachineOptions {
  /** Source of the facts. Default: this machine. */
  readonly sources?: MachineSources;
  /** Maximum time of each reader in milliseconds. Facts that take longer are reported as unknown. Default: 2000. */
  readonly timeoutMs?: number;
  /** If aborted, programs that were started are killed and reading throws ABORTED. */
  readonly signal?: AbortSignal;
}

/** A reader of machine facts that caches everything except available memory. */
export interface MachineReader {
  /** The facts, read at the first call. `again`: reads them once more, for example after devices or limits have changed. */
  read(options?: { readonly again?: boolean }): Promise<MachineFacts>;
  /** Bytes of memory that are available, read at every call. */
  availableMemory(): Promise<Fact<number>>;
}

/** All kinds of accelerators that are looked for. WebGPU is left to its engine, since no file of the system reveals it. */
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

/**
 * Milliseconds that a reader gets after its time is up. A killed program ends at once; only a reader that hangs in a file takes
 * longer.
 */
const graceMs = 100;

/** Reads the facts about this machine now. Prints nothing, and throws nothing but ABORTED. */
export function readMachine(options: MachineOptions = {}): Promise<MachineFacts> {
  return unlessAborted(options.signal, () => readEverything(options));
}

/** Bytes of memory that this process may still use, read at every call. */
export function readAvailableMemory(options: MachineOptions = {}): Promise<Fact<number>> {
  const sources = withReadCache(options.sources ?? nodeSources());
  return unlessAborted(
    options.signal,
    async () => (await withinTime(options, sources, readMemory, () => memoryFigures(sources))).available,
  );
}

/** A machine reader that always returns the same facts. */
export function fixedMachine(facts: MachineFacts): MachineReader {
  return { read: async () => facts, availableMemory: async () => facts.memory.available };
}

/** Creates a caching reader for the lifetime of a process. A failed read is not cached. */
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

/** Runs one reader with a time limit. When the time is up its programs are killed, and `late` gives the result. */
async function withinTime<Answer>(
  options: MachineOptions,
  sources: MachineSources,
  read: (limitedSources: MachineSources) => Promise<Answer>,
  late: (reason: string) => Answer,
): Promise<Answer> {
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  const reason = `no answer within ${timeoutMs} ms`;
  const timeUp = new AbortController();
  // AbortSignal.any adds no listener to the caller's signal, of which Node.js would warn at the eleventh.
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

/** Rejects with ABORTED as soon as the caller aborts. */
async function unlessAborted<Answer>(signal: AbortSignal | undefined, work: () => Promise<Answer>): Promise<Answer> {
  throwIfAborted(signal);
  return abortable(work(), signal);
}
