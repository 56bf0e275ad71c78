/** The accelerators of this machine as text. */
import type { AcceleratorDevice, AcceleratorInfo } from "../../libraries/accelerators/index.ts";
import { formatTable, printable } from "../output/table.ts";
import { formatBytes } from "../output/units.ts";

/** Columns that a text from the machine may take. */
const maxColumns = 200;

/** A row for each accelerator: its requirements, whether it is available and why, and the backends that use it. Below, the limits of each device. */
export function formatAccelerators(accelerators: readonly AcceleratorInfo[]): string {
  const rows = accelerators.map(({ name, displayName, needsGpu, requiredLibraries, state, reason }) => {
    const needs = [...(needsGpu ? ["GPU"] : []), ...requiredLibraries].join(", ");
    return [name, displayName, state, needs === "" ? "-" : needs, printable(reason, maxColumns)];
  });
  const uses = accelerators.map(({ use }) => use);
  const table = formatTable(rows, ["accelerator", "name", "state", "needs", "why, and what uses it"], uses);
  const devices = accelerators.flatMap(({ name, devices: all }) =>
    all.map((device) => [name, printable(device.name), limits(device)]),
  );
  return devices.length === 0 ? table : `${table}\ndevices\n${formatTable(devices)}`;
}

function limits({
  memory,
  computeCapability,
  multiprocessors,
  sharedMemory,
  dataTypes,
  limitsProblem,
}: AcceleratorDevice): string {
  return [
    ...(memory === undefined ? [] : [`${formatBytes(memory.totalBytes)} of memory`]),
    ...(computeCapability === undefined ? [] : [`compute capability ${computeCapability}`]),
    ...(multiprocessors === undefined ? [] : [`${multiprocessors} multiprocessors`]),
    ...(sharedMemory === undefined
      ? []
      : [
          `${sharedMemory.perBlockBytes / 1024} KiB of shared memory per block, ${sharedMemory.perBlockOptInBytes / 1024} KiB on request`,
        ]),
    ...(dataTypes === undefined ? [] : [dataTypes.join(", ")]),
    ...(limitsProblem === undefined ? [] : [`shared memory unknown: ${printable(limitsProblem, maxColumns)}`]),
  ].join("; ");
}
