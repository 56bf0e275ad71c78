/** The sequences of one prompt, which run and are parked together: the texts of `n`, or the beams of a search. */
import { priorityWeights } from "../../../runtime/scheduling/fair-queue.ts";
import type { SchedulingKey } from "../../../runtime/scheduling/scheduling-key.ts";
import type { CachedSequence } from "./cached-sequence.ts";

/** Whose sequences they are. */
export type SchedulerClient = Pick<SchedulingKey, "client" | "priority">;

/** The groups of one client and priority. */
export interface ClientGroups {
  readonly key: string;
  readonly weight: number;
  /** Groups that have not begun, in order of arrival. */
  readonly waiting: Set<SequenceGroup>;
  /** Groups that run or are parked, in the order in which they began or were parked. */
  readonly begun: Set<SequenceGroup>;
  /** Sequences that run. */
  slots: number;
}

/** The groups of a client, without any yet. */
export function clientGroups({ client, priority }: SchedulerClient): ClientGroups {
  return {
    key: clientKey({ client, priority }),
    weight: priorityWeights[priority],
    waiting: new Set(),
    begun: new Set(),
    slots: 0,
  };
}

/** Identifies a client with a priority. */
export function clientKey({ client, priority }: SchedulerClient): string {
  return `${priority} ${client}`;
}

/** "waiting": it has not begun. "running": its sequences have slots, and the model's next calls may compute their tokens. "parked": it has begun, and waits for slots. */
export type GroupState = "waiting" | "running" | "parked";

/** Size of a group. */
export type GroupSize = Pick<SequenceGroup, "count" | "promptTokens">;

/** A group of sequences. */
export class SequenceGroup {
  readonly owner: ClientGroups;
  /** Number of sequences that run at once. */
  readonly count: number;
  /** Tokens of their prompt. */
  readonly promptTokens: number;
  /** Called when it begins. */
  readonly begin: () => void;
  state: GroupState = "waiting";
  /** Sequences with tokens, for as long as the group owns them. */
  readonly sequences: Set<CachedSequence> = new Set();
  /** Calls of `append` that wait for the model. */
  jobs = 0;
  /** Tokens for each sequence since it got its slots. */
  used = 0;
  /** Tokens for each sequence of its present turn. */
  turn = 0;
  /** Whether it runs in a reserved slot: the first turn of a client without other texts. */
  isReserved = false;
  /** Events that the reader has not taken, and since when, as `performance.now()` gives it. */
  #unread = 0;
  #unreadSince = 0;

  constructor(owner: ClientGroups, { count, promptTokens }: GroupSize, begin: () => void) {
    this.owner = owner;
    this.count = count;
    this.promptTokens = promptTokens;
    this.begin = begin;
  }

  /** Whether its turn is over. */
  get isTurnOver(): boolean {
    return this.used >= this.turn;
  }

  /** Waits until an event was read. */
  async read(taken: Promise<void>): Promise<void> {
    if (this.#unread === 0) this.#unreadSince = performance.now();
    this.#unread += 1;
    try {
      await taken;
    } finally {
      this.#unread -= 1;
      this.#unreadSince = performance.now();
    }
  }

  /** Milliseconds for which it has waited for its reader alone; undefined if it does not. */
  get unreadMs(): number | undefined {
    return this.#unread === 0 || this.jobs > 0 ? undefined : performance.now() - this.#unreadSince;
  }
}
