/** Type and description of each setting of the section `xla`; loaded like `schema.ts`. */
import * as z from "zod";
import type { XlaSettings } from "../backends/xla/index.ts";
import { bucketProblem } from "../backends/xla/xla-settings.ts";

const sizes = z.array(z.int().positive()).superRefine((given, context) => {
  const problem = bucketProblem(given);
  if (problem !== undefined) context.addIssue(problem);
});

const bucketFields = {
  batch: sizes.describe(
    "Sizes that the number of texts of a run is padded to on `xla`, in ascending order; beyond the last one it doubles. [Buckets](../guide/xla.md#buckets) says what they cost.",
  ),
  sequence: sizes.describe(
    "Sizes that the number of tokens of a run is padded to on `xla`, in ascending order; beyond the last one it doubles.",
  ),
};

const fields = {
  plugin: z
    .string()
    .min(1)
    .describe(
      "Path of a PJRT plugin, with which the targets `xla` run models; a relative path is relative to the current folder. Not set: the plugins that [are found](../guide/xla.md).",
    ),
  memoryFraction: z
    .number()
    .gt(0, "must be above 0")
    .max(1, "must be at most 1")
    .describe(
      "Part of a GPU's memory that `xla` reserves when a model is loaded, above 0 and at most 1. Not set: nothing is reserved, memory is taken as it is needed.",
    ),
  programCacheBytes: z
    .int("must be a whole number")
    .min(0, "must be at least 0")
    .describe(
      "Maximum bytes of the programs that `xla` has compiled and keeps on disk; above it the least recently used are removed. 0: none is read or kept. [Compiled programs](../guide/xla-compiling.md) says what they save.",
    ),
};

/** Schema of each setting by its name within the section, in the order of the documentation. */
export const xlaFields: Readonly<Record<string, z.ZodType>> = {
  ...fields,
  "buckets.batch": bucketFields.batch,
  "buckets.sequence": bucketFields.sequence,
};

/** Schema of the section. */
export const xlaSchema: z.ZodType<XlaSettings> = z
  .strictObject({ ...fields, buckets: z.strictObject(bucketFields).partial() })
  .partial() as z.ZodType<XlaSettings>;
