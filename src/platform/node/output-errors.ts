/** Errors of files that a user named to be written. */
import { outputFailed } from "../../contract/errors.ts";

/** Runs `work`, which writes `path`, and rethrows errors of the file system as OUTPUT_FAILED. */
export async function withOutputErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw outputFailed(path, cause, "check that its folder exists, is writable and has space left");
  }
}
