/**
 * The copies of one model on threads of this process, as the calling thread knows them: which of them live, and which may be asked for what they
 * share. What they share itself never comes here: memory that this thread once had in hand would be free only when it next collects its garbage.
 */
import type { ReplicaSlot } from "../backend.ts";

/** A copy whose thread was started. */
export interface StartedReplica {
  /** Fulfilled when it is loaded: with a way to ask for what it shares, as `CopyPlace.from` of another copy or what stands for that on the way to its thread. */
  readonly loaded: Promise<{ readonly give: (() => Promise<unknown>) | undefined }>;
}

/** Copies beyond this many share nothing. */
const maxReplicas = 256;

export class ReplicaGroup {
  #liveReplicas: Int32Array<SharedArrayBuffer> | undefined;
  #lastNumber = 0;
  readonly #exporters = new Set<() => Promise<unknown>>();
  /** Settles when the copy that is loaded first is there, or has failed. */
  #first: Promise<void> | undefined;
  #isShared = true;

  /** A place for a copy whose thread is about to start; undefined where there is none left. To be left when the thread has ended. */
  enter(): ReplicaMembership | undefined {
    this.#liveReplicas ??= new Int32Array(new SharedArrayBuffer(maxReplicas * Int32Array.BYTES_PER_ELEMENT));
    const members = this.#liveReplicas;
    const index = members.indexOf(0);
    if (index === -1) return undefined;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    Atomics.store(members, index, number);
    return {
      slot: { members: members.buffer, index },
      leave: () => void Atomics.compareExchange(members, index, number, 0), // the place may be another's by now
    };
  }

  /**
   * Starts a copy with what another one gives, or with nothing where there is no other. While the first one loads, others wait: they would pack
   * the same weights beside it.
   */
  async start<Copy extends StartedReplica>(start: (from: unknown) => Copy): Promise<Copy> {
    while (this.#isShared) {
      const [give] = this.#exporters;
      if (give !== undefined) {
        const gift = await give().then(
          (from) => ({ from }),
          () => undefined, // it has died meanwhile
        );
        if (gift !== undefined) return this.#watched(start(gift.from));
        this.#exporters.delete(give);
      } else if (this.#first === undefined) {
        const copy = this.#watched(start(undefined));
        this.#first = copy.loaded.then(
          () => (this.#first = undefined),
          () => (this.#first = undefined),
        );
        return copy;
      } else await this.#first;
    }
    return start(undefined);
  }

  #watched<Copy extends StartedReplica>(copy: Copy): Copy {
    copy.loaded.then(
      ({ give }) => {
        if (give !== undefined) this.#exporters.add(give);
        else if (this.#exporters.size === 0) this.#isShared = false; // the engine cannot, or not with these files
      },
      () => {},
    );
    return copy;
  }
}

export interface ReplicaMembership {
  readonly slot: Pick<ReplicaSlot, "members" | "index">;
  leave(): void;
}
