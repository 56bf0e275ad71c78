/**
 * Measurements on disk: `measurements/<sha256 of the weights>.json` in the data folder. Files are replaced atomically, and a
 * lock keeps concurrent writers from losing results. A damaged file only means that the model must be measured again; it never
 * makes a load fail.
 */
import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { InferyardError, getMessage } from "../contract/errors.ts";
import { dataFolder } from "../storage/data-folder.ts";
import { withLock } from "../storage/lock.ts";
import { sweepAbandoned } from "../storage/staging.ts";
import { writeFileAtomically } from "../storage/atomic-write.ts";
import { type Measurement, isSameSubject } from "./measurement.ts";

/** The contents of the folder of measurements: all measurements, and the files that could not be read. */
export interface StoredMeasurements {
  readonly measurements: readonly Measurement[];
  readonly problems: readonly MeasurementsProblem[];
}

/** A file of measurements that could not be read. */
export interface MeasurementsProblem {
  /** Digest of the weights that the file is about, from its name. "": the whole folder could not be read. */
  readonly digest: string;
  /** Reason, as a sentence without a full stop. */
  readonly reason: string;
}

/** Absolute path of the folder of measurements, in the data folder. */
export function measurementsFolder(): string {
  return join(dataFolder(), "measurements");
}

const fileName = /^(?<digest>[0-9a-f]{64})\.json$/;

/** Reads all stored measurements. Empty before the first `bench --record`. Never throws for damaged files. */
export async function readMeasurements(folder: string = measurementsFolder()): Promise<StoredMeasurements> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { measurements: [], problems: [] };
    return { measurements: [], problems: [{ digest: "", reason: `${folder} cannot be read: ${getMessage(error)}` }] };
  }
  const digests = names.flatMap((name) => fileName.exec(name)?.groups?.["digest"] ?? []);
  const files = await Promise.all(digests.map((digest) => readOne(folder, digest)));
  return { measurements: files.flatMap((file) => file.measurements), problems: files.flatMap((file) => file.problems) };
}

async function readOne(folder: string, digest: string): Promise<StoredMeasurements> {
  const path = join(folder, `${digest}.json`);
  try {
    const { measurementsFile } = await import("./schema.ts");
    const { measurements } = measurementsFile.parse(JSON.parse(await readFile(path, "utf8")));
    return { measurements: measurements.filter(({ model }) => model.digest === `sha256:${digest}`), problems: [] };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { measurements: [], problems: [] };
    return {
      measurements: [],
      problems: [{ digest: `sha256:${digest}`, reason: `${path} is damaged, or of another version of inferyard` }],
    };
  }
}

/**
 * Stores measurements. One with the same subject as a stored one replaces it; a damaged file is replaced. Returns the paths
 * written. Throws OUTPUT_FAILED.
 */
export async function recordMeasurements(
  measurements: readonly Measurement[],
  folder: string = measurementsFolder(),
): Promise<string[]> {
  const digests = [...new Set(measurements.map(({ model }) => model.digest))];
  try {
    await mkdir(folder, { recursive: true });
    const paths: string[] = [];
    for (const digest of digests) {
      const ours = measurements.filter(({ model }) => model.digest === digest);
      paths.push(await merge(folder, digest.replace(/^sha256:/, ""), ours));
    }
    return paths;
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw new InferyardError("OUTPUT_FAILED", `measurements cannot be kept in ${folder}: ${getMessage(error)}`, {
      remedy: "make the folder writable, or set INFERYARD_HOME to one that is",
      cause: error,
    });
  }
}

async function merge(folder: string, digest: string, ours: readonly Measurement[]): Promise<string> {
  const path = join(folder, `${digest}.json`);
  await withLock(`${path}.lock`, async () => {
    await sweepAbandoned(folder); // removes temporary files of writers that were killed
    const { measurements: kept } = await readOne(folder, digest);
    const others = kept.filter((old) => !ours.some((measurement) => isSameSubject(old, measurement)));
    await writeFileAtomically(path, `${JSON.stringify({ version: 1, measurements: [...others, ...ours] }, null, 1)}\n`);
  });
  return path;
}
