/**
 * The replicas of one model on worker threads of this process, as their host knows them: which are alive, and which can export
 * state that others share. The shared memory itself never reaches the host's thread, since memory that a thread once referenced
 * is freed only by its next garbage collection.
 */
import type { ReplicaSlot } from "../contract/replicas.ts";
import type { PeerPort } from "./protocol.ts";

/** Asks a replica to export its state. Resolves with a port that has the state queued, or undefined if there is none yet. */
export type ExportState = () => Promise<PeerPort | undefined>;

/** A replica whose thread was started. */
export interface StartedReplica {
  /**
   * Resolves when the replica is loaded, with a function that asks it for the state of another replica; undefined if it cannot
   * share.
   */
  readonly loaded: Promise<{ readonly exportState: ExportState | undefined }>;
}

/** Maximum number of replicas that share memory. */
const maxReplicas = 256;

/** Assigns slots to replicas and passes exported state from one to the next. */
export class ReplicaGroup {
  #liveReplicas: Int32Array<SharedArrayBuffer> | undefined;
  #lastNumber = 0;
  readonly #exporters = new Set<ExportState>();
  /** Settles when the first replica has loaded or failed. */
  #first: Promise<void> | undefined;
  #isShared = true;

  /**
   * A slot for a replica whose thread is about to start; undefined if none is free. The caller must call `leave` when the
   * thread has ended.
   */
  enter(): ReplicaMembership | undefined {
    this.#liveReplicas ??= new Int32Array(new SharedArrayBuffer(maxReplicas * Int32Array.BYTES_PER_ELEMENT));
    const liveReplicas = this.#liveReplicas;
    const index = liveReplicas.indexOf(0);
    if (index === -1) return undefined;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    Atomics.store(liveReplicas, index, number);
    return {
      slot: { liveReplicas: liveReplicas.buffer, index },
      leave: () => void Atomics.compareExchange(liveReplicas, index, number, 0), // the slot may have been reassigned
    };
  }

  /**
   * Starts a replica with the state that another one exports, or with undefined if there is no other. While the first replica
   * loads, others wait, since they would pack the same weights again.
   */
  async start<Replica extends StartedReplica>(start: (sharedState: PeerPort | undefined) => Replica): Promise<Replica> {
    while (this.#isShared) {
      const [exportState] = this.#exporters;
      if (exportState !== undefined) {
        const exported = await exportState().then(
          (sharedState) => ({ sharedState }),
          () => undefined, // it has died
        );
        if (exported !== undefined) return this.#watched(start(exported.sharedState));
        this.#exporters.delete(exportState);
      } else if (this.#first === undefined) {
        const replica = this.#watched(start(undefined));
        this.#first = replica.loaded.then(
          () => (this.#first = undefined),
          () => (this.#first = undefined),
        );
        return replica;
      } else await this.#first;
    }
    return this.#watched(start(undefined));
  }

  #watched<Replica extends StartedReplica>(replica: Replica): Replica {
    replica.loaded.then(
      ({ exportState }) => {
        if (exportState !== undefined) this.#exporters.add(exportState);
        else if (this.#exporters.size === 0) this.#isShared = false; // the engine cannot share, or not with these files
      },
      () => {}, // whoever starts the replica waits for its queue, and learns of the failure there
    );
    return replica;
  }
}

/** A slot that a replica holds until `leave` is called. */
export interface ReplicaMembership {
  readonly slot: Pick<ReplicaSlot, "liveReplicas" | "index">;
  leave(): void;
}
