/** The processes that compute one program together, as one of them sees them: collective operations, and the end of all when one has ended. */
import { required } from "../../contract/checked.ts";
import { InferyardError, type SerializedError, wrapError } from "../../contract/errors.ts";
import { deferred, type Deferred } from "../../concurrency/deferred.ts";
import type { ExchangeFile } from "./exchange-file.ts";

/** What a rank brings to an exchange: a value, or the error that it has met. */
export type Contribution =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: SerializedError };

/** Messages between rank 0 and another rank. `tag`: what is exchanged; equal on all ranks. */
export type GroupMessage =
  | { readonly kind: "give"; readonly tag: string; readonly contribution: Contribution }
  | { readonly kind: "take"; readonly contributions: readonly Contribution[] }
  /** The sender ends; all pending and later exchanges fail with this error. */
  | { readonly kind: "end"; readonly error: SerializedError }
  /** The sender has disposed of the program: what it has given still counts, and exchanges that need more of it fail with this error. */
  | { readonly kind: "leave"; readonly error: SerializedError };

/** Sends messages to one other rank. A message to a rank that has ended is lost. */
export type SendToRank = (message: GroupMessage) => void;

/** One rank's view of its group. Rank 0 has a link to each other rank, the others have one to rank 0. */
export class RankGroup {
  readonly rank: number;
  readonly size: number;
  readonly #file: ExchangeFile;
  readonly #links: ReadonlyMap<number, SendToRank>;
  /** On rank 0: what other ranks have given and rank 0 has not taken, in order. */
  readonly #given = new Map<number, { readonly tag: string; readonly contribution: Contribution }[]>();
  /** On other ranks: answers of rank 0 that came before they were asked for. */
  #pending: Deferred<void> | undefined;
  readonly #taken: (readonly Contribution[])[] = [];
  readonly #left = new Map<number, InferyardError>();
  #failure: InferyardError | undefined;
  #area = 0;

  constructor(rank: number, size: number, file: ExchangeFile, links: ReadonlyMap<number, SendToRank>) {
    this.rank = rank;
    this.size = size;
    this.#file = file;
    this.#links = links;
  }

  /** Why the group has ended; undefined while all ranks are there. */
  get failure(): InferyardError | undefined {
    return this.#failure;
  }

  /** Takes a message of another rank. */
  receive(from: number, message: GroupMessage): void {
    if (message.kind === "end") {
      this.fail(InferyardError.fromJSON(message.error));
      return;
    }
    if (message.kind === "leave") this.#left.set(from, InferyardError.fromJSON(message.error));
    else if (message.kind === "give") this.#given.set(from, [...(this.#given.get(from) ?? []), message]);
    else this.#taken.push(message.contributions);
    this.#pending?.resolve();
  }

  /** Whether a rank has disposed of the program, so that its end is none of the group. */
  hasLeft(rank: number): boolean {
    return this.#left.has(rank);
  }

  /** Ends the group: pending and later exchanges fail with this error, on all ranks. Only the first call counts. */
  fail(error: InferyardError): void {
    this.#end("end", error);
  }

  /**
   * Waits until all ranks have called it, and returns what each has brought, by rank. If one brought an error, it is thrown on all ranks, which stay a group. `tag` says what is exchanged. Throws
   * HOST_DIED if a rank has ended, and CONTRACT_VIOLATION, which ends the group, if the ranks do not do the same.
   */
  async exchange(tag: string, contribution: Contribution): Promise<readonly unknown[]> {
    const all = this.rank === 0 ? await this.#gather(tag, contribution) : await this.#give(tag, contribution);
    return all.map((each) => {
      if (each.ok) return each.value;
      throw InferyardError.fromJSON(each.error);
    });
  }

  /** The bytes of each rank, by rank, which may be of different lengths. `work`: computes this rank's bytes; if it throws on one rank, all throw its error. */
  async allGather(tag: string, work: () => Promise<Uint8Array>): Promise<readonly Uint8Array[]> {
    const { chunkBytes } = this.#file;
    let mine = new Uint8Array();
    const contribution = await contribute(async () => {
      mine = (await work()) as Uint8Array<ArrayBuffer>;
      this.#writeChunk(mine, 0);
      return mine.length;
    });
    const lengths = (await this.exchange(tag, contribution)) as readonly number[];
    const all = lengths.map((length) => new Uint8Array(length));
    const chunks = Math.max(1, ...lengths.map((length) => Math.ceil(length / chunkBytes)));
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      if (chunk > 0) {
        const start = chunk * chunkBytes;
        // oxlint-disable-next-line no-await-in-loop -- each chunk waits for the one before it
        await this.exchange(`${tag} ${chunk}`, await contribute(async () => this.#writeChunk(mine, start)));
      }
      for (const [rank, bytes] of all.entries()) {
        const part = bytes.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes);
        if (rank === this.rank) part.set(mine.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes));
        else this.#file.read(this.#area, rank, part);
      }
      this.#area = 1 - this.#area;
    }
    return all;
  }

  /** Leaves the group, between two exchanges. */
  close(): void {
    this.#end("leave", new InferyardError("DISPOSED", `rank ${this.rank} has disposed of the program`));
  }

  #end(kind: "end" | "leave", error: InferyardError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const send of this.#links.values()) send({ kind, error: error.toJSON() });
    this.#file.close();
    this.#pending?.resolve();
  }

  #writeChunk(bytes: Uint8Array, start: number): void {
    this.#refuseFailed();
    this.#file.write(this.#area, this.rank, bytes.subarray(start, start + this.#file.chunkBytes));
  }

  async #give(tag: string, contribution: Contribution): Promise<readonly Contribution[]> {
    this.#refuseFailed();
    required(this.#links.get(0), "the link to rank 0")({ kind: "give", tag, contribution });
    await this.#until(() => this.#taken.length > 0);
    return required(this.#taken.shift(), "an answer of rank 0");
  }

  async #gather(tag: string, contribution: Contribution): Promise<readonly Contribution[]> {
    this.#refuseFailed();
    const others = [...this.#links.keys()];
    await this.#until(() => others.every((rank) => (this.#given.get(rank)?.length ?? 0) > 0));
    const all = [contribution];
    for (const rank of others) {
      const given = required(this.#given.get(rank)?.shift(), `what rank ${rank} gave`);
      if (given.tag !== tag) {
        const message = `rank ${rank} of ${this.size} is at "${given.tag}", and rank 0 at "${tag}"`;
        this.fail(
          new InferyardError("CONTRACT_VIOLATION", message, {
            remedy: "call the same methods with the same inputs on all ranks",
          }),
        );
        break;
      }
      all[rank] = given.contribution;
    }
    this.#refuseFailed();
    for (const send of this.#links.values()) send({ kind: "take", contributions: all });
    return all;
  }

  async #until(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      const [left] = this.#left.values();
      if (left !== undefined) this.fail(left);
      this.#refuseFailed();
      this.#pending = deferred();
      // oxlint-disable-next-line no-await-in-loop -- one message after the other
      await this.#pending.promise;
      this.#pending = undefined;
      this.#refuseFailed();
    }
  }

  #refuseFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** What a rank brings after `work`. */
export async function contribute(work: () => Promise<unknown>): Promise<Contribution> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: wrapError(error, "RUN_FAILED").toJSON() };
  }
}
