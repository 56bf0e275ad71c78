/** Limits on what one binary may make its readers do, above what real libraries need. They bound memory and time on hostile files. */
import { InferyardError } from "../../contract/errors.ts";

type Counted = "symbols" | "entries" | "nameBytes" | "tableBytes";

/** The most of each, and its name in messages. */
const limits: Readonly<Record<Counted, readonly [number, string]>> = {
  /** libtensorflow_cc.so, the largest library known to us by symbols, has about 446,000. */
  symbols: [1_000_000, "symbols"],
  /** Versions, libraries, sections, load commands and members of archives together. */
  entries: [200_000, "entries in its tables"],
  /** Names decoded. Mangled C++ names of real libraries have about 100 bytes. */
  nameBytes: [48 * 1024 * 1024, "bytes of names"],
  /** Headers and tables, string tables included. */
  tableBytes: [128 * 1024 * 1024, "bytes of tables"],
};

/** Counts bytes and entries that the readers of one file consume. */
export class ReadLimits {
  readonly #displayName: string;
  readonly #counts: Record<Counted, number> = { symbols: 0, entries: 0, nameBytes: 0, tableBytes: 0 };

  /** `displayName`: the file as the user wrote it, for messages. */
  constructor(displayName: string) {
    this.#displayName = displayName;
  }

  /** Adds to a count. Throws LIMIT_EXCEEDED above its limit. */
  count(name: Counted, by: number = 1): void {
    this.#counts[name] += by;
    const [most, what] = limits[name];
    if (this.#counts[name] <= most) return;
    throw new InferyardError("LIMIT_EXCEEDED", `${this.#displayName} has more than ${most} ${what}, more than is read`, {
      remedy: "check that this is the library: the largest one known to Inferyard has half as much",
    });
  }
}
