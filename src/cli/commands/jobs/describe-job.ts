/** Jobs as text for people. */
import type { Job } from "../../../jobs/store/job.ts";
import { plural } from "../../output/units.ts";

/** The state of a job: a line, and below it what to do next. `isRunning`: whether a process runs it; default: as the state says. */
export function describeState({ id, state, definition }: Job, isRunning = true): string {
  const { status, rows, done, failed, progress, milliseconds, error } = state;
  const shown = status === "running" && !isRunning ? "interrupted" : status;
  const rate = milliseconds > 0 ? `, ${Math.round((rows * 1000) / milliseconds)} rows per second` : "";
  const counts = `${plural(done, "result")}${failed > 0 ? `, ${failed} set aside` : ""}`;
  const lines = [`${id}: ${shown}, ${Math.floor(progress * 100)} %, ${counts}${rate}`];
  if (error !== undefined && status === "failed") lines.push(`  ${error.code}: ${error.message.split("\n")[0] ?? ""}`);
  if (failed > 0) lines.push(`  set aside: ${definition.failed}`);
  if (status === "done") lines.push(`  results: ${definition.output.path}`);
  if (shown === "interrupted" || status === "paused" || status === "failed") lines.push(`  inferyard jobs resume ${id}`);
  return lines.join("\n");
}
