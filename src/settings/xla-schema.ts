/** The settings of the section `xla`, and their schema; loaded like `schema.ts`. */
import * as z from "zod";
import { defaultBuckets } from "../backends/xla/buckets.ts";
import type { XlaSettings } from "../backends/xla/index.ts";
import { bucketProblem, defaultProgramCacheBytes } from "../backends/xla/xla-settings.ts";
import type { DescribedOption } from "../runtime/options/option.ts";
import { optionSchemas } from "./option-schema.ts";

/** Each setting by its name within the section, in the order of the documentation. */
export const xlaOptions: Readonly<Record<string, DescribedOption>> = {
  plugin: {
    type: { kind: "path" },
    description:
      "Path of a PJRT plugin, with which the targets `xla` run models; a relative path is relative to the current folder. Not set: the plugins that [are found](../guide/xla.md).",
  },
  memoryFraction: {
    type: { kind: "number" },
    description:
      "Part of a GPU's memory that `xla` reserves when a model is loaded, above 0 and at most 1. Not set: nothing is reserved, memory is taken as it is needed.",
  },
  programCacheBytes: {
    type: { kind: "integer", min: 0, unit: "bytes" },
    default: defaultProgramCacheBytes,
    description:
      "Maximum bytes of the programs that `xla` has compiled and keeps on disk; above it the least recently used are removed. 0: none is read or kept. [Compiled programs](../guide/xla-compiling.md) says what they save.",
  },
  "buckets.batch": {
    type: { kind: "integers" },
    default: defaultBuckets.batch,
    description:
      "Sizes that the number of texts of a run is padded to on `xla`, in ascending order; beyond the last one it doubles. [Buckets](../guide/xla.md#buckets) says what they cost.",
  },
  "buckets.sequence": {
    type: { kind: "integers" },
    default: defaultBuckets.sequence,
    description:
      "Sizes that the number of tokens of a run is padded to on `xla`, in ascending order; beyond the last one it doubles.",
  },
};

const sizes = z.array(z.int().positive()).superRefine((given, context) => {
  const problem = bucketProblem(given);
  if (problem !== undefined) context.addIssue(problem);
});

const {
  "buckets.batch": batch,
  "buckets.sequence": sequence,
  ...schemas
} = optionSchemas(xlaOptions, {
  memoryFraction: z.number().gt(0, "must be above 0").max(1, "must be at most 1"),
  "buckets.batch": sizes,
  "buckets.sequence": sizes,
});

/** Schema of the section. */
export const xlaSchema: z.ZodType<XlaSettings> = z
  .strictObject({ ...schemas, buckets: z.strictObject({ batch, sequence }).partial() })
  .partial() as z.ZodType<XlaSettings>;
