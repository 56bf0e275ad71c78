/** Limits on what one binary may make its readers do, above what real libraries need. They bound memory and time on hostile files. */
import { InferyardError } from "../../contract/errors.ts";

/** libtensorflow_cc.so, the largest library known to us by symbols, has about 446,000. */
const maxSymbols = 1_000_000;
/** Versions, libraries, sections, load commands and members of archives together. */
const maxEntries = 200_000;
/** Names decoded. Mangled C++ names of real libraries have about 100 bytes. */
const maxNameBytes = 48 * 1024 * 1024;
/** Headers and tables, string tables included. */
const maxTableBytes = 128 * 1024 * 1024;

/** Counts bytes and entries that the readers of one file consume. Each method throws LIMIT_EXCEEDED above its limit. */
export class ReadLimits {
  readonly #displayName: string;
  #symbols = 0;
  #entries = 0;
  #nameBytes = 0;
  #tableBytes = 0;

  /** `displayName`: the file as the user wrote it, for messages. */
  constructor(displayName: string) {
    this.#displayName = displayName;
  }

  countSymbols(symbols: number): void {
    this.#symbols += symbols;
    if (this.#symbols > maxSymbols) throw this.#exceeded(`more than ${maxSymbols} symbols`);
  }

  countEntries(entries = 1): void {
    this.#entries += entries;
    if (this.#entries > maxEntries) throw this.#exceeded(`more than ${maxEntries} entries in its tables`);
  }

  countNameBytes(bytes: number): void {
    this.#nameBytes += bytes;
    if (this.#nameBytes > maxNameBytes) throw this.#exceeded(`more than ${maxNameBytes} bytes of names`);
  }

  countTableBytes(bytes: number): void {
    this.#tableBytes += bytes;
    if (this.#tableBytes > maxTableBytes) throw this.#exceeded(`more than ${maxTableBytes} bytes of tables`);
  }

  #exceeded(what: string): InferyardError {
    return new InferyardError("LIMIT_EXCEEDED", `${this.#displayName} has ${what}, more than is read`, {
      remedy: "check that this is the library: the largest one known to Inferyard has half as much",
    });
  }
}
