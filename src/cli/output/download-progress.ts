/** Progress of a download on one line: fraction, speed and remaining time. */
import type { PullProgress } from "../../models/hub/progress.ts";
import { displayWidth, printable } from "./table.ts";
import { formatBytes } from "./units.ts";

const barWidth = 12;
const defaultColumns = 80;

/** Text of the download progress, at most `columns` columns wide. 80 if the terminal's width is unknown (undefined, or 0 as on a serial line). */
export function describeProgress(progress: PullProgress, columns: number | undefined): string {
  const line = getParts(progress).join("  ");
  const width = columns === undefined || columns <= 0 ? defaultColumns : columns;
  return displayWidth(line) < width ? line : printable(line, Math.max(10, width - 1));
}

function getParts({ reference, stage, note, bytes, totalBytes, bytesPerSecond, secondsLeft }: PullProgress): string[] {
  if (stage === "listing") return [reference, "asking what there is"];
  if (note !== undefined) return [reference, note];
  const rate = bytesPerSecond === 0 ? [] : [`${formatBytes(bytesPerSecond)}/s`];
  if (totalBytes === undefined) return [reference, formatBytes(bytes), ...rate];
  const part = totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
  const full = Math.round(part * barWidth);
  const left = secondsLeft === undefined ? [] : [`${formatSeconds(secondsLeft)} left`];
  const bar = `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${Math.floor(part * 100)} %`;
  return [shortName(reference), bar, `${formatBytes(bytes)} of ${formatBytes(totalBytes)}`, ...rate, ...left];
}

/** The part of a reference that distinguishes it from others. */
function shortName(reference: string): string {
  return reference.split("#")[0]?.split("/").at(-1) ?? reference;
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
