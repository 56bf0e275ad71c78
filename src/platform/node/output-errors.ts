/** Errors of files that a user named to be written. */
import { InferyardError, getMessage } from "../../contract/errors.ts";

/** Runs `work`, which writes `path`, and rethrows errors of the file system as OUTPUT_FAILED. */
export async function withOutputErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof InferyardError) throw cause;
    throw new InferyardError("OUTPUT_FAILED", `${path} cannot be written: ${getMessage(cause)}`, {
      cause,
      remedy: "check that its folder exists, is writable and has space left",
    });
  }
}
