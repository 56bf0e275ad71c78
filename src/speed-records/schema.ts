/** The zod schema of a file of measurements. Imported only if there is such a file, since zod is slow to load. */
import { z } from "zod";
import type { Measurement } from "./measurement.ts";

const amount = z.number().nonnegative();
const count = z.int().positive();

const machine = z.strictObject({
  processor: z.string(),
  cores: count,
  quota: z.number().positive(),
  memoryBytes: amount,
  platform: z.string(),
  architecture: z.string(),
  node: z.string(),
  accelerators: z.array(z.strictObject({ device: z.string(), name: z.string(), driver: z.string().exactOptional() })),
});

const figures = z.strictObject({
  rounds: count,
  unit: z.enum(["texts", "pairs", "generations", "runs"]),
  loadMs: amount,
  latencyMs: amount,
  latencyRangeMs: z.tuple([amount, amount]),
  perSecond: amount,
  tokensPerSecond: amount.exactOptional(),
  promptTokensPerSecond: amount.exactOptional(),
  decodeTokensPerSecond: amount.exactOptional(),
  memoryBytes: z.number(), // negative if the process freed memory meanwhile
});

const measurement: z.ZodType<Measurement> = z.strictObject({
  at: z.iso.datetime(),
  machine,
  model: z.strictObject({ digest: z.string(), variant: z.string(), path: z.string(), bytes: amount, modifiedMs: z.number() }),
  target: z.string(),
  library: z.strictObject({ name: z.string(), version: z.string() }),
  threads: count,
  // Unknown settings of later versions are accepted: they differ from those of this version, which the comparison must see.
  settings: z.record(z.string(), z.unknown()),
  figures,
});

/** The zod schema of a stored file of measurements. Unknown fields are errors. */
export const measurementsFile: z.ZodType<MeasurementsFile> = z.strictObject({
  version: z.literal(1),
  measurements: z.array(measurement),
});

/** The content of a stored file: all measurements of the weights with one digest. */
export interface MeasurementsFile {
  readonly version: 1;
  readonly measurements: readonly Measurement[];
}
