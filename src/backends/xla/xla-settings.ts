/** Settings of the backend `xla`, and their checks. */
import { InferyardError } from "../../contract/errors.ts";
import { type BucketSizes, defaultBuckets } from "./buckets.ts";

/** Settings of the backend. */
export interface XlaSettings {
  /** Path of a PJRT plugin; a relative one is resolved against the working directory. Default: the plugins that are found. */
  readonly plugin?: string;
  /** Part of a GPU's memory that is reserved when a model is loaded, above 0 and at most 1. Default: nothing is reserved, memory is taken as it is needed. */
  readonly memoryFraction?: number;
  /**
   * Sizes that inputs are padded to, since XLA compiles a program for each shape. Few sizes compile seldom and compute more padding. Default: 1 row and 16
   * tokens, and their doubles.
   */
  readonly buckets?: Partial<BucketSizes>;
  /** Maximum bytes of compiled programs on disk; above it the least recently used are removed. 0: none is read or kept. Default: 4 GiB. */
  readonly programCacheBytes?: number;
}

/** Default of `XlaSettings.programCacheBytes`. */
export const defaultProgramCacheBytes: number = 4 * 1024 ** 3;

/** Why a list of bucket sizes is invalid, as a clause; undefined if it is valid. */
export function bucketProblem(sizes: unknown): string | undefined {
  const isList = Array.isArray(sizes) && sizes.length > 0 && sizes.every((size) => Number.isSafeInteger(size) && size > 0);
  if (!isList) return "must be a list of whole numbers above 0";
  const isAscending = sizes.every((size, index) => index === 0 || size > sizes[index - 1]);
  return isAscending ? undefined : "must be in ascending order";
}

/** Throws INPUT_INVALID for a value that a setting cannot have, and for unknown settings. */
export function checkXlaSettings({ plugin, memoryFraction, buckets, programCacheBytes, ...others }: XlaSettings): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw invalid(unknown, "is no setting of xla: it has plugin, memoryFraction, buckets and programCacheBytes");
  if (plugin !== undefined && (typeof plugin !== "string" || plugin === ""))
    throw invalid("plugin", `is ${JSON.stringify(plugin)}, and must be a path`);
  if (memoryFraction !== undefined && !(typeof memoryFraction === "number" && memoryFraction > 0 && memoryFraction <= 1))
    throw invalid("memoryFraction", `is ${String(memoryFraction)}, and must be above 0 and at most 1`);
  if (programCacheBytes !== undefined && !(Number.isSafeInteger(programCacheBytes) && programCacheBytes >= 0))
    throw invalid("programCacheBytes", `is ${String(programCacheBytes)}, and must be a whole number from 0`);
  for (const [axis, sizes] of Object.entries(buckets ?? {})) {
    if (sizes === undefined) continue;
    const isAxis = Object.hasOwn(defaultBuckets, axis);
    const problem = isAxis ? bucketProblem(sizes) : "is no axis: the axes are batch and sequence";
    if (problem !== undefined) throw invalid(`buckets.${axis}`, isAxis ? `is ${JSON.stringify(sizes)}, and ${problem}` : problem);
  }
}

function invalid(name: string, problem: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `xla.${name} ${problem}`, { remedy: `correct xla.${name}, or leave it out` });
}
