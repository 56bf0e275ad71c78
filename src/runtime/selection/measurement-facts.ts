/** Gathers the facts of the policy "fastest": stored measurements, and the digests of the weights that they may refer to. */
import type { MachineFacts } from "../../contract/backend.ts";
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { threadsFor } from "../../devices/threads.ts";
import { fileStatus } from "../../platform/node/files.ts";
import { measuredMachine } from "../../speed-records/machine.ts";
import { speedSettings } from "../../speed-records/measurement.ts";
import type { StoredMeasurements } from "../../speed-records/store.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import type { MeasurementFacts } from "./measured-speed.ts";

/** The model, settings and machine that stored measurements are compared with. */
export interface MeasurementQuery {
  readonly manifest: Manifest;
  readonly settings: UserLoadSettings;
  readonly machine: MachineFacts;
  /** Hexadecimal sha256 of a variant's main file. */
  readonly computeDigest: (variant: Variant) => Promise<string>;
  readonly kept: StoredMeasurements;
}

/**
 * Reads the facts that `measuredSpeed` needs. Weights are hashed only if a stored measurement may refer to them and recorded no digest of this version of the
 * file.
 */
export async function gatherMeasurementFacts(query: MeasurementQuery): Promise<MeasurementFacts> {
  const { manifest, settings, machine, kept, computeDigest } = query;
  // Hashing 90 MB takes 0.2 s. Only files whose size equals the size of a measured file, or that a damaged record may refer to, are hashed.
  const sizes = new Set(kept.measurements.map(({ model }) => model.bytes));
  const candidates = manifest.variants.filter(({ bytes }) => sizes.has(bytes) || kept.problems.length > 0);
  const digests = await Promise.all(
    candidates.map(async (variant) => {
      const digest = (await recordedDigest(variant, kept)) ?? `sha256:${await computeDigest(variant)}`;
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

/** The recorded digest of this file. Valid while its size and modification time are as recorded. */
async function recordedDigest({ path, bytes }: Variant, { measurements }: StoredMeasurements): Promise<string | undefined> {
  const sameFile = measurements.filter(({ model }) => model.path === path && model.bytes === bytes);
  if (sameFile.length === 0) return undefined;
  const { mtimeMs } = await fileStatus(path);
  return sameFile.find(({ model }) => model.modifiedMs === mtimeMs)?.model.digest;
}
