/** The fields of one request that were taken without effect, as the response header `x-inferyard-ignored`, the log and the metrics name them. */
import { requestLimits } from "../request-limits.ts";

/** Name of the response header. */
export const ignoredHeader = "x-inferyard-ignored";

/** The ignored fields of one request. Their names come from the client, so their number and length are bounded. */
export class IgnoredFields {
  readonly #pointers: string[] = [];
  #characters = 0;
  #unnamed = 0;

  /** Adds a field by its path. It is counted only, once the names are as long together as they may be. */
  add(path: readonly PropertyKey[]): void {
    const pointer = this.#unnamed === 0 ? getPointer(path) : "";
    this.#characters += pointer.length + 1;
    if (this.#unnamed === 0 && this.#characters <= requestLimits.ignoredCharacters) this.#pointers.push(pointer);
    else this.#unnamed += 1;
  }

  /** Adds fields that are counted only. */
  addUnnamed(count: number): void {
    this.#unnamed += count;
  }

  /** Number of fields. */
  get count(): number {
    return this.#pointers.length + this.#unnamed;
  }

  /**
   * The first fields as JSON pointers (RFC 6901) with the escapes of a URI fragment, so that they contain no comma and only characters permitted in a header. A
   * last element `+N` represents N further fields.
   */
  get names(): readonly string[] {
    return this.#unnamed === 0 ? this.#pointers : [...this.#pointers, `+${this.#unnamed}`];
  }
}

/** "/messages/0/name"; one that is too long is cut and ends with "...". */
function getPointer(path: readonly PropertyKey[]): string {
  const limit = requestLimits.ignoredPointerCharacters;
  let pointer = "";
  for (const step of path) {
    const name = String(step)
      .slice(0, limit + 1) // one character more than the limit shows that the name is too long
      .replaceAll("~", "~0")
      .replaceAll("/", "~1");
    pointer += `/${name.replaceAll(/[^!-~]|[%,"\\]/gu, percentEncode)}`;
    if (pointer.length > limit) return `${pointer.slice(0, limit)}...`;
  }
  return pointer;
}

function percentEncode(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
