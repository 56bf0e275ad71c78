/** Gathers what the policy "fastest" needs: the measurements that are kept, and the digests of the weights that they may be about. */
import type { LoadSettings, MachineFacts } from "../../backend.ts";
import { threadsFor } from "../../devices/threads.ts";
import { fileStatus } from "../../platform/node/files.ts";
import { measuredMachine } from "../../measurements/machine.ts";
import { speedSettings } from "../../measurements/measurement.ts";
import type { StoredMeasurements } from "../../measurements/store.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import type { MeasurementFacts } from "./measured-speed.ts";

export interface MeasurementQuery {
  readonly manifest: Manifest;
  readonly settings: LoadSettings;
  readonly machine: MachineFacts;
  /** Hexadecimal sha256 of a variant's main file. */
  readonly digestOf: (variant: Variant) => Promise<string>;
  readonly kept: StoredMeasurements;
}

export async function gatherMeasurementFacts(question: MeasurementQuery): Promise<MeasurementFacts> {
  const { manifest, settings, machine, kept, digestOf } = question;
  // Reading 90 MB takes a fifth of a second: only files are read that have the size of something measured, or that damaged records may be about.
  const sizes = new Set(kept.measurements.map(({ model }) => model.bytes));
  const candidates = manifest.variants.filter(({ bytes }) => sizes.has(bytes) || kept.problems.length > 0);
  const digests = await Promise.all(
    candidates.map(async (variant) => {
      const digest = (await recordedDigest(variant, kept)) ?? `sha256:${await digestOf(variant)}`;
      return [variant.path, digest] as const;
    }),
  );
  return {
    machine: measuredMachine(machine),
    threads: threadsFor(machine.cpu, settings.threads),
    settings: speedSettings(settings),
    measurements: kept.measurements,
    digests: new Map(digests),
    problems: new Map(kept.problems.map(({ digest, reason }) => [digest, reason])),
  };
}

/** The digest that was recorded of this very file, while it has the size and the time of change it had then. */
async function recordedDigest({ path, bytes }: Variant, { measurements }: StoredMeasurements): Promise<string | undefined> {
  const about = measurements.filter(({ model }) => model.path === path && model.bytes === bytes);
  if (about.length === 0) return undefined;
  const { mtimeMs } = await fileStatus(path);
  return about.find(({ model }) => model.modifiedMs === mtimeMs)?.model.digest;
}
