/** The schema of durations. */
import * as z from "zod";

/** A duration such as "30s", or a number of milliseconds. */
export const duration: z.ZodType<string | number> = z.union([
  z.string().regex(/^(\d+(\.\d+)?(ms|s|m|h)|0)$/, 'must be a duration such as "30s", "5m" or "1h", or 0'),
  z.number().nonnegative(),
]);
