/** Formats numbers for people. */

/** A duration in milliseconds with its unit. */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}

/** A size in bytes with its decimal unit. */
export function formatBytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** A count with its noun: "1 text", "2 texts". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A float32 as the number with the fewest digits that reads back as the same float32. */
export function shortFloat(value: number): number {
  for (let digits = 6; digits <= 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** A value for JSON with every float32 in it shortened by `shortFloat`. */
export function withShortFloats(value: unknown): unknown {
  if (typeof value === "number") return shortFloat(value);
  if (Array.isArray(value)) return value.map(withShortFloats);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withShortFloats(part)]));
}
