/** What of a machine decides how fast a model runs on it: the part of its facts that a measurement is kept under. */
import type { MachineFacts } from "../backend.ts";

export interface MeasuredMachine {
  readonly processor: string;
  /** Logical processors, and how many of them may be used at once. */
  readonly cores: number;
  readonly quota: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly architecture: string;
  /** The version of Node.js: its compiler runs `wasm` and `native`. */
  readonly node: string;
  readonly accelerators: readonly MeasuredAccelerator[];
}

export interface MeasuredAccelerator {
  /** "cuda:0": type and index. */
  readonly device: string;
  readonly name: string;
  readonly driver?: string;
}

export function measuredMachine(facts: MachineFacts, node: string = process.versions.node): MeasuredMachine {
  const { cpu, memory, platform, architecture, accelerators } = facts;
  return {
    processor: cpu.model.value,
    cores: cpu.cores.value,
    quota: cpu.quota.value,
    memoryBytes: memory.total.value,
    platform,
    architecture,
    node,
    accelerators: accelerators.map(({ device, name, driverVersion }) => ({
      device: `${device.type}:${device.index}`,
      name,
      ...(driverVersion === undefined ? {} : { driver: driverVersion }),
    })),
  };
}

interface Aspect {
  text(machine: MeasuredMachine): string;
  /** Default: the texts are equal. */
  same?(there: MeasuredMachine, here: MeasuredMachine): boolean;
  /** Whether it counts for targets on the CPU; default: it does. */
  readonly onCpu?: false;
}

/** Kernels keep a little memory for themselves, and not always the same. */
const memoryTolerance = 0.02;

const aspects: readonly Aspect[] = [
  { text: ({ processor }) => processor },
  { text: ({ cores, quota }) => (quota === cores ? `${cores} cores` : `${cores} cores with a quota of ${quota}`) },
  {
    text: ({ memoryBytes }) => `${(memoryBytes / 1e9).toFixed(1)} GB`,
    same: (there, here) => Math.abs(there.memoryBytes - here.memoryBytes) <= here.memoryBytes * memoryTolerance,
  },
  { text: ({ platform, architecture }) => `${platform}/${architecture}` },
  { text: ({ node }) => `Node.js ${node.split(".")[0]}` },
  { text: ({ accelerators }) => describe(accelerators), onCpu: false },
];

/**
 * The first difference for which a measurement taken there says nothing about here, as "<there>, and this is <here>"; undefined where there
 * is none. Accelerators count for targets that may use one, not for the CPU.
 */
export function machineDifference(there: MeasuredMachine, here: MeasuredMachine, onCpu: boolean): string | undefined {
  const different = aspects.find(({ text, same, onCpu: counts = true }) => {
    if (onCpu && !counts) return false;
    return !(same?.(there, here) ?? text(there) === text(here));
  });
  return different && `${different.text(there)}, and this is ${different.text(here)}`;
}

function describe(accelerators: readonly MeasuredAccelerator[]): string {
  if (accelerators.length === 0) return "no accelerator";
  const names = accelerators.map(({ name, driver }) => (driver === undefined ? name : `${name} with driver ${driver}`));
  return names.toSorted().join(", ");
}
