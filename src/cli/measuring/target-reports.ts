/** Output of the reports by target that the commands `verify`, `bench` and `tune` share. */
import type { ErrorCode } from "../../contract/errors.ts";
import { FailedResult } from "../output/failed-result.ts";
import { type ModelReport, type TargetReport, unmetTargets } from "../../measuring/index.ts";

/** Rows of a table for the targets that were skipped, with the reason. */
export function skippedRows(targets: readonly TargetReport<unknown>[]): string[][] {
  return targets.flatMap(({ target, verdict, reason = "" }) => (verdict === "skipped" ? [[target, "skipped", reason]] : []));
}

/** Throws an error if a requested target did not pass. `named`: targets named by flags or settings. */
export function throwUnmet(
  report: ModelReport<unknown>,
  named: string | readonly string[] | undefined,
  code: ErrorCode,
  what: string,
): void {
  const unmet = unmetTargets(report, typeof named === "string" ? [named] : named);
  const [first] = unmet;
  if (first === undefined && report.targets.some(({ verdict }) => verdict === "pass")) return;
  const failed = unmet.filter(({ verdict }) => verdict === "fail");
  if (failed.length > 0) {
    throw new FailedResult(code, `${report.model} ${what} on ${failed.map(({ target }) => target).join(", ")}`, {
      remedy: "exclude the target: --exclude, or `exclude` in inferyard.yaml",
    });
  }
  const reasons = unmet.map(({ target, reason = "" }) => `  ${target}  ${reason}`);
  const where = named === undefined ? "any target of this machine" : "the targets that were asked for";
  throw new FailedResult("NO_BACKEND", [`${report.model} cannot run on ${where}`, ...reasons].join("\n"));
}
