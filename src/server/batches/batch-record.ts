/** Records of batches, one file each. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { InferyardError } from "../../contract/errors.ts";
import { writeFileAtomically } from "../../storage/atomic-write.ts";
import { listNames, withDiskErrors } from "../../storage/disk.ts";
import type { Identity } from "../http/access/identity.ts";

/** Status of a batch, in OpenAI's words. */
export type BatchStatus =
  | "validating"
  | "failed"
  | "in_progress"
  | "finalizing"
  | "completed"
  | "expired"
  | "cancelling"
  | "cancelled";

/** What is wrong with a line of the input. */
export interface BatchError {
  readonly code: string;
  readonly message: string;
  /** Number of the line, from 1; null for the file as a whole. */
  readonly line: number | null;
  readonly param: string | null;
}

/** Numbers of requests. */
export interface BatchCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

/** A batch. Times are in seconds since 1970. */
export interface BatchRecord {
  readonly id: string;
  readonly endpoint: string;
  readonly inputFile: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly status: BatchStatus;
  readonly counts: BatchCounts;
  /** Ids that the files of results and errors get. */
  readonly outputId: string;
  readonly errorId: string;
  /** Whether there are those files. */
  readonly hasOutput: boolean;
  readonly hasErrors: boolean;
  readonly errors: readonly BatchError[];
  readonly created: number;
  readonly expires: number;
  /** When the status was reached, by its name. */
  readonly times: Readonly<Partial<Record<BatchStatus, number>>>;
  /** The client that made it, with its rights, as which its requests run. */
  readonly identity: Identity;
}

/** Records of all clients from which on old ones of a client are removed, and how many that have ended it keeps. */
const [maxRecords, keptRecords] = [2000, 1000];

const idPattern = /^batch_[0-9a-f]{24}$/;

/** The records of a server. */
export class BatchRecords {
  readonly #folder: string;

  /** `folder`: created with the first batch. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A new id. */
  newId(): string {
    return `batch_${randomBytes(12).toString("hex")}`;
  }

  async save(batch: BatchRecord): Promise<void> {
    await withDiskErrors(this.#folder, () => mkdir(this.#folder, { recursive: true, mode: 0o700 }));
    await writeFileAtomically(join(this.#folder, `${batch.id}.json`), JSON.stringify(batch));
  }

  /** The batch. Throws NOT_FOUND if there is none with this id that belongs to the client. */
  async get(id: string, client?: string): Promise<BatchRecord> {
    const batch = idPattern.test(id) ? await this.#read(id) : undefined;
    if (batch !== undefined && (client === undefined || ownerOf(batch.identity) === client)) return batch;
    throw new InferyardError("NOT_FOUND", `there is no batch ${JSON.stringify(id.slice(0, 80))} here`, {
      remedy: "GET /v1/batches lists those there are",
    });
  }

  /** Removes the oldest batches of a client that have ended, if there are very many. */
  async prune(client: string): Promise<void> {
    if ((await this.#ids()).length <= maxRecords) return;
    const own = (await this.list()).filter((batch) => ownerOf(batch.identity) === client && !isUnfinished(batch));
    for (const { id } of own.slice(keptRecords)) await rm(join(this.#folder, `${id}.json`), { force: true });
  }

  async #ids(): Promise<readonly string[]> {
    return (await listNames(this.#folder)).map((name) => name.replace(/\.json$/, "")).filter((id) => idPattern.test(id));
  }

  /** All batches, the newest first. */
  async list(): Promise<readonly BatchRecord[]> {
    const batches = await Promise.all((await this.#ids()).map((id) => this.#read(id)));
    return batches
      .filter((batch) => batch !== undefined)
      .sort((one, other) => other.created - one.created || (one.id < other.id ? 1 : -1));
  }

  async #read(id: string): Promise<BatchRecord | undefined> {
    try {
      return JSON.parse(await readFile(join(this.#folder, `${id}.json`), "utf8")) as BatchRecord;
    } catch {
      return undefined; // not there
    }
  }
}

/** Whose files and batches a client sees: what was made with its own key. Without keys all clients share them. */
export function ownerOf({ client }: Pick<Identity, "client">): string {
  return client.startsWith("key:") ? client : "";
}

/** Whether a batch goes on when the server starts again. */
export function isUnfinished({ status }: BatchRecord): boolean {
  return status === "validating" || status === "in_progress" || status === "finalizing" || status === "cancelling";
}
