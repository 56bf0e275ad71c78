/** Reads what nvidia-smi prints. Source: `nvidia-smi --help-query-gpu` and the NVIDIA MIG user guide. */

/** One row of `nvidia-smi --query-gpu`. Values the driver does not know ("[N/A]") are left out. */
export interface GpuRow {
  readonly uuid?: string | undefined;
  readonly name: string;
  readonly totalBytes?: number | undefined;
  readonly freeBytes?: number | undefined;
  readonly computeCapability?: string | undefined;
  readonly driverVersion?: string | undefined;
  /** The GPU is split into instances, and none of its own memory can be used whole. */
  readonly partitioned: boolean;
}

/** A MIG instance: a part of a GPU that is a CUDA device of its own. */
export interface GpuInstance {
  readonly uuid: string;
  /** For example "1g.10gb". */
  readonly profile: string;
  /** UUID of the GPU it is a part of. */
  readonly gpuUuid: string;
}

/** What to ask for, the newest fields first in the list of lists: a driver refuses the whole query over one field it lacks. */
export const gpuQueries: readonly (readonly string[])[] = [
  ["uuid", "name", "memory.total", "memory.free", "driver_version", "compute_cap", "mig.mode.current"],
  ["uuid", "name", "memory.total", "memory.free", "driver_version"],
];

/** Rows of `--format=csv,noheader,nounits` for these fields, in the order of the PCI bus. Other lines are no rows. */
export function parseGpuRows(text: string, fields: readonly string[]): readonly GpuRow[] {
  return text.split("\n").flatMap((line) => {
    const cells = line.split(",").map((cell) => cell.trim());
    if (cells.length !== fields.length) return [];
    const cell = (field: string): string | undefined => known(cells[fields.indexOf(field)]);
    const name = cell("name");
    if (name === undefined) return [];
    return {
      uuid: cell("uuid"),
      name,
      totalBytes: mebibytes(cell("memory.total")),
      freeBytes: mebibytes(cell("memory.free")),
      computeCapability: cell("compute_cap"),
      driverVersion: cell("driver_version"),
      partitioned: cell("mig.mode.current") === "Enabled",
    };
  });
}

/** The newest CUDA version the driver supports. Drivers from 600 on head the column "CUDA UMD Version". */
export function parseCudaVersion(text: string): string | undefined {
  return /CUDA(?: UMD)? Version\s*:\s*(\d+\.\d+)/.exec(text)?.[1];
}

/** The instances in the output of `nvidia-smi -L`, where they stand indented below their GPU. */
export function parseInstances(text: string): readonly GpuInstance[] {
  let gpuUuid = "";
  return text.split("\n").flatMap((line) => {
    gpuUuid = /^GPU \d+:.*\(UUID: (GPU-[^)]+)\)/.exec(line)?.[1] ?? gpuUuid;
    const [, profile, uuid] = /^\s+MIG (\S+)\s+Device\s+\d+: \(UUID: (MIG-[^)]+)\)/.exec(line) ?? [];
    return profile === undefined || uuid === undefined ? [] : { uuid, profile, gpuUuid };
  });
}

function known(cell: string | undefined): string | undefined {
  return cell === undefined || cell === "" || /^\[?(?:N\/A|Not Supported|Unknown Error)\]?$/i.test(cell) ? undefined : cell;
}

function mebibytes(cell: string | undefined): number | undefined {
  return cell !== undefined && /^\d+$/.test(cell) ? Number(cell) * 1024 * 1024 : undefined;
}
