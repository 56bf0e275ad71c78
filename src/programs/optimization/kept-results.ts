/** Results of searches, kept on disk by digest. */
import { lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cpus } from "node:os";
import { dataFolder } from "../../storage/data-folder.ts";
import { isTrusted, makeOwnFolder } from "../../storage/own-files.ts";
import { toSha256 } from "../../storage/sha256.ts";
import { writeFileAtomically } from "../../storage/atomic-write.ts";
import { version } from "../../version.ts";
import type { ChosenSettings, RewriteStep } from "./candidate.ts";
import type { BackendPeaks } from "./roofline.ts";

/** The result of a search: the steps are applied and proved again when it is used. */
export interface KeptResult {
  readonly steps: readonly RewriteStep[];
  readonly settings: ChosenSettings;
  /** Median milliseconds of a run before and after. */
  readonly originalMs: number;
  readonly milliseconds: number;
  readonly peaks: BackendPeaks;
  /** Time of the search, ISO 8601 in UTC. */
  readonly at: string;
  /** Milliseconds that the search had. A longer budget searches again. */
  readonly budgetMs: number;
}

/** What a result depends on. */
export interface ResultKey {
  /** The operators, types and small constants: see `describeGraph`. */
  readonly graph: string;
  readonly sizes: readonly (readonly [string, number])[];
  readonly backend: string;
  readonly mode: string;
  /** Name and version of the library that computes. */
  readonly library: string;
}

const maxFileBytes = 1 << 20;

/** The folder of the results. */
export function resultsFolder(): string {
  return join(dataFolder(), "optimized");
}

/** The name of the processor, and how many there are. */
function processorName(): string {
  const all = cpus();
  return `${all[0]?.model ?? process.arch} x ${all.length}`;
}

/** Reads and writes the result of one search. A file that is damaged, or that another user could have written, is ignored. */
export class KeptResultFile {
  readonly #path: string;
  readonly #folder: string;
  readonly #key: string;

  constructor(key: ResultKey, folder: string = resultsFolder()) {
    this.#folder = folder;
    this.#key = toSha256(JSON.stringify({ ...key, processor: processorName(), version, node: process.versions.node }));
    this.#path = join(folder, `${this.#key.slice(0, 32)}.json`);
  }

  read(): KeptResult | undefined {
    try {
      const status = lstatSync(this.#path);
      if (!isTrusted(lstatSync(this.#folder)) || !isTrusted(status) || !status.isFile() || status.size > maxFileBytes)
        return undefined;
      const { key, digest, result } = JSON.parse(readFileSync(this.#path, "utf8")) as Record<string, unknown>;
      return key === this.#key && digest === toSha256(JSON.stringify(result)) ? (result as KeptResult) : undefined;
    } catch {
      return undefined; // there is none, or it is damaged
    }
  }

  /** Why the result could not be kept; undefined if it was. */
  async write(result: KeptResult): Promise<string | undefined> {
    try {
      mkdirSync(join(this.#folder, ".."), { recursive: true });
      makeOwnFolder(this.#folder);
      if (!isTrusted(lstatSync(this.#folder))) return `others can write the folder ${this.#folder}`;
      await writeFileAtomically(
        this.#path,
        `${JSON.stringify({ key: this.#key, digest: toSha256(JSON.stringify(result)), result })}\n`,
      );
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
