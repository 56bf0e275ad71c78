/**
 * Measurements on disk: `measurements/<sha256 of the weights>.json` in the data folder. A file appears whole or not at all, and two writers
 * do not lose each other's results. A damaged file is a reason to measure again, never an error of what is asked of the model.
 */
import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { InferyardError, messageOf } from "../errors.ts";
import { dataFolder } from "../models/data-folder.ts";
import { withLock } from "../models/store/lock.ts";
import { sweepAbandoned } from "../models/store/staging.ts";
import { writeFileAtomically } from "../models/store/atomic-write.ts";
import { type Measurement, isSameSubject } from "./measurement.ts";

/** What the folder holds: measurements, and for each file that could not be read why. */
export interface StoredMeasurements {
  readonly measurements: readonly Measurement[];
  readonly problems: readonly MeasurementsProblem[];
}

export interface MeasurementsProblem {
  /** Of the weights that the file is about, as its name says. */
  readonly digest: string;
  /** A sentence without a full stop. */
  readonly reason: string;
}

export function measurementsFolder(): string {
  return join(dataFolder(), "measurements");
}

const fileName = /^(?<digest>[0-9a-f]{64})\.json$/;

/** All that is kept. Nothing is there before the first `bench --record`. */
export async function readMeasurements(folder: string = measurementsFolder()): Promise<StoredMeasurements> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { measurements: [], problems: [] };
    return { measurements: [], problems: [{ digest: "", reason: `${folder} cannot be read: ${messageOf(error)}` }] };
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
 * Keeps measurements; the same thing measured again takes the place of what was measured before. A damaged file is replaced. Gives the
 * paths that were written. OUTPUT_FAILED where that is not possible.
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
    throw new InferyardError("OUTPUT_FAILED", `measurements cannot be kept in ${folder}: ${messageOf(error)}`, {
      remedy: "make the folder writable, or set INFERYARD_HOME to one that is",
      cause: error,
    });
  }
}

async function merge(folder: string, digest: string, ours: readonly Measurement[]): Promise<string> {
  const path = join(folder, `${digest}.json`);
  await withLock(`${path}.lock`, async () => {
    await sweepAbandoned(folder); // of writers that were killed
    const { measurements: kept } = await readOne(folder, digest);
    const others = kept.filter((old) => !ours.some((measurement) => isSameSubject(old, measurement)));
    await writeFileAtomically(path, `${JSON.stringify({ version: 1, measurements: [...others, ...ours] }, null, 1)}\n`);
  });
  return path;
}
