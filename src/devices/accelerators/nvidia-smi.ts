/** Parsers for the output of nvidia-smi. Source: `nvidia-smi --help-query-gpu` and the NVIDIA MIG user guide. */

/** One row of `nvidia-smi --query-gpu`. Values that the driver does not know ("[N/A]") are undefined. */
export interface GpuRow {
  readonly uuid?: string | undefined;
  readonly name: string;
  readonly totalBytes?: number | undefined;
  readonly freeBytes?: number | undefined;
  readonly computeCapability?: string | undefined;
  readonly driverVersion?: string | undefined;
  /** true: the GPU is in MIG mode, and cannot be used as a whole. */
  readonly partitioned: boolean;
}

/** A MIG instance: a partition of a GPU that is a CUDA device of its own. */
export interface GpuInstance {
  readonly uuid: string;
  /** For example "1g.10gb". */
  readonly profile: string;
  /** UUID of its GPU. */
  readonly gpuUuid: string;
}

/**
 * Fields to query, in lists that are tried in order. A driver refuses the whole query if it lacks one field, so older fields
 * are a fallback.
 */
export const gpuQueries: readonly (readonly string[])[] = [
  ["uuid", "name", "memory.total", "memory.free", "driver_version", "compute_cap", "mig.mode.current"],
  ["uuid", "name", "memory.total", "memory.free", "driver_version"],
];

/** Parses the output of `--format=csv,noheader,nounits` for these fields, in the order of the PCI bus. Other lines are ignored. */
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

/**
 * The newest CUDA version that the driver supports, from the banner of nvidia-smi. Drivers from 600 on call it "CUDA UMD
 * Version".
 */
export function parseCudaVersion(text: string): string | undefined {
  return /CUDA(?: UMD)? Version\s*:\s*(\d+\.\d+)/.exec(text)?.[1];
}

/** Parses the MIG instances in the output of `nvidia-smi -L`, where they are indented below their GPU. */
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
