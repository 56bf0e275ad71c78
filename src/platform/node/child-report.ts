/** The child's side of `report-child.ts`. */
import { wrapError } from "../../contract/errors.ts";
import type { ChildReport } from "./report-child.ts";

/**
 * Does the work of a child process, whose request is its argument, prints the report as the last line of stdout and ends the process: native libraries may
 * have left threads.
 */
export async function answerParent<Value>(work: (request: unknown) => Value | Promise<Value>): Promise<void> {
  let report: ChildReport<Value>;
  try {
    report = { ok: true, value: await work(JSON.parse(process.argv[2] ?? "")) };
  } catch (error) {
    report = { ok: false, error: wrapError(error, "RUN_FAILED").toJSON() };
  }
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit());
}
