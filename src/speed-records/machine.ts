/** The facts about a machine that determine how fast a model runs on it. Measurements are compared by them. */
import type { MachineFacts } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";

/** Facts about the machine that a measurement was taken on. */
export interface MeasuredMachine {
  readonly processor: string;
  /** Number of logical processors, and how many of them may be used at once. */
  readonly cores: number;
  readonly quota: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly architecture: string;
  /** Version of Node.js, whose compiler runs the backends `wasm` and `native`. */
  readonly node: string;
  readonly accelerators: readonly MeasuredAccelerator[];
}

/** An accelerator of the machine that a measurement was taken on. */
export interface MeasuredAccelerator {
  /** Type and index, for example "cuda:0". */
  readonly device: string;
  readonly name: string;
  readonly driver?: string;
}

/** Selects the facts about a machine on which a measurement depends. `node` is the version of Node.js. */
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
      ...omitUndefined({ driver: driverVersion }),
    })),
  };
}

interface Aspect {
  text(machine: MeasuredMachine): string;
  /** Whether two machines agree in this aspect. Default: their texts are equal. */
  same?(there: MeasuredMachine, here: MeasuredMachine): boolean;
  /** false: it does not matter for targets on the CPU. Default: it does. */
  readonly onCpu?: false;
}

/** Relative tolerance: kernels reserve a little memory, and not always the same amount. */
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
 * The first difference that makes a measurement taken `there` invalid `here`, as "<there>, and this is <here>". Undefined if
 * there is none. Accelerators are compared only if `onCpu` is false.
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
