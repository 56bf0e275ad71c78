/** Names of tests that passed on this machine, remembered between processes in one JSON file per key. */
import { randomUUID } from "node:crypto";
import { type Stats, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isTrusted, makeOwnFolder, removeIfThere } from "./own-files.ts";
import { toSha256 } from "./sha256.ts";

/** Everything that a result depends on. Results under one key are not valid under another one. */
export type TestKey = Readonly<Record<string, string>>;

/** The content of a file. `digest` is the SHA-256 of the JSON text of the other members, in this order. */
interface Content {
  readonly version: 1;
  readonly key: TestKey;
  readonly since: string;
  readonly isComplete: boolean;
  readonly passed: readonly string[];
}

/** Maximum number of records in the folder. A write removes the oldest ones above it. */
const maxFiles = 16;
const maxFileBytes = 1 << 20;

/**
 * Tests that passed under one key. Failures are never recorded. A file is ignored if it is damaged, belongs to another user, could have been written by one, or
 * has another key. If the folder cannot be written, nothing is recorded: no method throws.
 */
export class PassedTests {
  readonly #folder: string;
  readonly #key: TestKey;
  #content: Content | undefined;
  /** Whether the next write replaces the file without reading it. */
  #isForgotten: boolean;

  /** Reads the file of `key` in `folder`, an absolute path. `forget`: starts anew, and the next `add` replaces the file. */
  constructor(folder: string, key: TestKey, { forget = false }: { readonly forget?: boolean } = {}) {
    this.#folder = folder;
    this.#key = key;
    this.#isForgotten = forget;
    this.#content = forget ? undefined : this.#read();
  }

  /** Names of the tests that passed. */
  get names(): readonly string[] {
    return this.#content?.passed ?? [];
  }

  /** Whether every test of the suite passed, and not only the tests in `names`. */
  get isComplete(): boolean {
    return this.#content?.isComplete ?? false;
  }

  /** Time at which the oldest of the tests passed, ISO 8601 in UTC. Undefined if none is remembered. */
  get since(): string | undefined {
    return this.#content?.since;
  }

  /**
   * Adds tests that passed, and writes the file if that changes it. `isComplete`: see the member. Of two processes that write at once, one may lose its additions, which
   * are tested again.
   */
  add(names: readonly string[], { isComplete = false }: { readonly isComplete?: boolean } = {}): void {
    const before = this.#isForgotten ? undefined : (this.#read() ?? this.#content);
    const passed = [...new Set([...(before?.passed ?? []), ...names])].toSorted();
    const isAll = isComplete || (before?.isComplete ?? false);
    if (before !== undefined && passed.length === before.passed.length && isAll === before.isComplete) return;
    const since = before?.since ?? new Date().toISOString();
    this.#content = { version: 1, key: this.#key, since, isComplete: isAll, passed };
    this.#isForgotten = false;
    this.#write(this.#content);
  }

  get #path(): string {
    return join(this.#folder, `${toSha256(JSON.stringify(this.#key)).slice(0, 32)}.json`);
  }

  #read(): Content | undefined {
    try {
      if (!isTrusted(lstatSync(this.#folder)) || !isTrustedFile(lstatSync(this.#path))) return undefined;
      const { digest, ...content } = JSON.parse(readFileSync(this.#path, "utf8")) as Content & { readonly digest?: unknown };
      const isIntact = digest === toSha256(JSON.stringify(content)) && content.version === 1;
      return isIntact && JSON.stringify(content.key) === JSON.stringify(this.#key) ? content : undefined;
    } catch {
      return undefined; // there is none, or it is no JSON object
    }
  }

  #write(content: Content): void {
    const temporary = `${this.#path}.${process.pid}.${randomUUID()}.tmp`;
    try {
      mkdirSync(dirname(this.#folder), { recursive: true });
      makeOwnFolder(this.#folder);
      if (!isTrusted(lstatSync(this.#folder))) return;
      // Not flushed: after a loss of power the digest tells a damaged file.
      writeFileSync(temporary, `${JSON.stringify({ ...content, digest: toSha256(JSON.stringify(content)) })}\n`, {
        flag: "wx",
        mode: 0o600,
      });
      renameSync(temporary, this.#path);
      this.#removeOldest();
    } catch {
      removeIfThere(temporary);
    }
  }

  #removeOldest(): void {
    const files = readdirSync(this.#folder).map((name) => join(this.#folder, name));
    if (files.length <= maxFiles) return;
    const byAge = files
      .map((path) => ({ path, writtenMs: lstatSync(path).mtimeMs }))
      .toSorted((a, b) => b.writtenMs - a.writtenMs);
    for (const { path } of byAge.slice(maxFiles)) removeIfThere(path);
  }
}

function isTrustedFile(status: Stats): boolean {
  return status.isFile() && status.size <= maxFileBytes && isTrusted(status);
}
