/** Parsing of durations such as "30s". */
import { InferyardError } from "../../contract/errors.ts";

/** Maximum delay of a Node.js timer in milliseconds, about 24.8 days. A longer delay fires after 1 ms. */
const maxMs = 2 ** 31 - 1;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Parses a duration into milliseconds: "500ms", "30s", "5m", "1h", "0", or a number of milliseconds. Values are capped at 2^31
 * - 1. Throws CONFIG_INVALID for other text.
 */
export function parseDuration(written: string | number): number {
  if (typeof written === "number" && Number.isFinite(written) && written >= 0) return Math.min(written, maxMs);
  const groups = /^(?<amount>\d+(?:\.\d+)?)(?<unit>ms|s|m|h)$/.exec(String(written).trim())?.groups;
  const milliseconds = Number(groups?.["amount"]) * (units[groups?.["unit"] ?? ""] ?? Number.NaN);
  if (String(written).trim() === "0") return 0;
  if (Number.isNaN(milliseconds)) {
    throw new InferyardError("CONFIG_INVALID", `"${written}" is not a duration`, { remedy: "write 500ms, 30s, 5m, 1h, or 0" });
  }
  return Math.min(milliseconds, maxMs);
}
