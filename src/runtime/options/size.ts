/** Parsing of memory sizes such as "2GB". */
import { InferyardError } from "../../contract/errors.ts";

const units: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/**
 * Parses a memory size into bytes: "500MB", "2 GB", "1.5GiB", or a number of bytes. Throws CONFIG_INVALID for other text and
 * for 0.
 */
export function parseSize(written: string | number): number {
  const groups = /^(?<amount>\d+(?:\.\d+)?)\s*(?<unit>[kmgt]?i?b)?$/i.exec(String(written).trim())?.groups;
  const bytes = Math.floor(Number(groups?.["amount"]) * (units[(groups?.["unit"] ?? "b").toLowerCase()] ?? Number.NaN));
  if (!Number.isSafeInteger(bytes) || bytes <= 0) {
    throw new InferyardError("CONFIG_INVALID", `"${written}" is not an amount of memory`, {
      remedy: "write 500MB, 2GB, 1.5GiB, or a number of bytes",
    });
  }
  return bytes;
}
