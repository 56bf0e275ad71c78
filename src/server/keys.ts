/** API keys: kept as digests, presented in a header, compared in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";
import { InferyardError } from "../errors.ts";
import type { ApiKey } from "./server-settings.ts";

export class KeyRing {
  readonly #keys: readonly { readonly key: ApiKey; readonly digest: Buffer }[];

  /** CONFIG_INVALID for a digest that is none, and for a name that two keys have. */
  constructor(keys: readonly ApiKey[]) {
    this.#keys = keys.map((key) => ({ key, digest: digestOf(key) }));
    const names = keys.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) {
      throw new InferyardError("CONFIG_INVALID", `two keys are called ${JSON.stringify(twice)}`, {
        remedy: "give every key a name of its own: logs, metrics and rate limits tell them apart by it",
      });
    }
  }

  get empty(): boolean {
    return this.#keys.length === 0;
  }

  /** Whose key this is. Every key is compared, so that the time says nothing of which one was near. */
  find(presented: string): ApiKey | undefined {
    const digest = createHash("sha256").update(presented).digest();
    let found: ApiKey | undefined;
    for (const { key, digest: other } of this.#keys) if (timingSafeEqual(digest, other)) found = key;
    return found;
  }
}

/** The key a request presents: `Authorization: Bearer`, `x-api-key`, or `api-key`. */
export function presentedKey(header: (name: string) => string | undefined): string | undefined {
  const bearer = /^bearer\s+(?<key>\S+)\s*$/i.exec(header("authorization") ?? "")?.groups?.["key"];
  return bearer ?? header("x-api-key") ?? header("api-key");
}

function digestOf({ name, sha256 }: ApiKey): Buffer {
  if (/^[0-9a-f]{64}$/i.test(sha256)) return Buffer.from(sha256, "hex");
  throw new InferyardError("CONFIG_INVALID", `the key ${JSON.stringify(name)} has no sha256 of 64 hexadecimal digits`, {
    remedy: "printf %s 'the-key' | sha256sum",
  });
}
