/** API keys: stored as SHA-256 digests, presented in a header, compared in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";
import { InferyardError } from "../../../contract/errors.ts";
import { toSha256 } from "../../../storage/sha256.ts";
import type { ApiKey } from "../../server-settings.ts";

/** The configured keys. */
export class KeyRing {
  readonly #keys: readonly { readonly key: ApiKey; readonly digest: Buffer }[];

  /** Throws CONFIG_INVALID for a malformed digest, for the digest of an empty key, and for a name or a digest that two keys share. */
  constructor(keys: readonly ApiKey[]) {
    this.#keys = keys.map((key) => ({ key, digest: computeDigest(key) }));
    const names = keys.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) {
      throw new InferyardError("CONFIG_INVALID", `two keys are called ${JSON.stringify(twice)}`, {
        remedy: "give every key a name of its own: logs, metrics and rate limits tell them apart by it",
      });
    }
    const digests = keys.map(({ sha256 }) => sha256.toLowerCase());
    const again = digests.findIndex((digest, index) => digests.indexOf(digest) !== index);
    if (again !== -1) {
      throw new InferyardError(
        "CONFIG_INVALID",
        `the keys ${JSON.stringify(names[digests.indexOf(digests[again] ?? "")])} and ${JSON.stringify(names[again])} have the same sha256`,
        { remedy: "make a key of its own for each: whose key a request presents could not be told" },
      );
    }
  }

  /** Whether no keys are configured. */
  get empty(): boolean {
    return this.#keys.length === 0;
  }

  /**
   * The key whose secret was presented; undefined if there is none. Every digest is compared, so that the time reveals nothing about the keys.
   */
  find(presented: string): ApiKey | undefined {
    if (presented.trim() === "") return undefined;
    const digest = createHash("sha256").update(presented).digest();
    let found: ApiKey | undefined;
    for (const { key, digest: other } of this.#keys) if (timingSafeEqual(digest, other)) found = key;
    return found;
  }
}

/** The secret that a request presents: in `Authorization: Bearer`, `x-api-key` or `api-key`. */
export function presentedKey(header: (name: string) => string | undefined): string | undefined {
  const bearer = /^bearer\s+(?<key>\S+)\s*$/i.exec(header("authorization") ?? "")?.groups?.["key"];
  return bearer ?? header("x-api-key") ?? header("api-key");
}

/** Digests of an empty key, with and without a line ending, which commands print when the variable with the key is not set. */
const emptyKeys: ReadonlySet<string> = new Set(["", "\n", "\r\n"].map(toSha256));

function computeDigest({ name, sha256 }: ApiKey): Buffer {
  if (emptyKeys.has(sha256.toLowerCase())) {
    throw new InferyardError("CONFIG_INVALID", `the sha256 of the key ${JSON.stringify(name)} is that of an empty key`, {
      remedy:
        "the variable with the key was not set when the digest was made; docs/guide/serving.md has a command that refuses that",
    });
  }
  if (/^[0-9a-f]{64}$/i.test(sha256)) return Buffer.from(sha256, "hex");
  throw new InferyardError("CONFIG_INVALID", `the key ${JSON.stringify(name)} has no sha256 of 64 hexadecimal digits`, {
    remedy: "printf %s 'the-key' | sha256sum",
  });
}
