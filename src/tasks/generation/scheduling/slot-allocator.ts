/**
 * Gives the slots of a model, one for each sequence that runs, to groups of sequences of several clients.
 *
 * - A client with fewer slots is first; of equals the one with the lower virtual token counter (see `token-counters.ts`).
 * - It takes slots from a client for which at least as many remain as it has then itself. So clients share the slots evenly, and nothing moves once they do.
 * - Where there are more clients than slots, one without slots takes those of a group whose turn is over, from the client that was served most.
 * - A client without texts does not wait for the end of a turn: reserved slots, which others use meanwhile, are its own for the first turn of a text.
 * - A group whose reader does not read loses its slots first.
 *
 * A group that loses its slots is parked. Parked groups of a client precede groups that have not begun, and take turns with running ones.
 */
import {
  type SchedulerClient,
  type ClientGroups,
  type GroupSize,
  SequenceGroup,
  clientGroups,
  clientKey,
} from "./sequence-group.ts";
import { TokenCounters } from "./token-counters.ts";

/** Limits of the slots. */
export interface SlotAllocatorLimits {
  /** Sequences that run at once. */
  readonly maxSequences: number;
  /** Tokens of each sequence of a group in one turn. */
  readonly turnTokens: number;
  /** Slots that a client without texts gets at once. */
  readonly reservedSequences: number;
}

/** A group whose reader has read nothing for this many milliseconds loses its slots if another one wants them. */
export const unreadGraceMs = 200;

/** Turns that a first turn is longer for the tokens of a prompt, at most. */
const maxPromptTurns = 8;

/** The slots of one model. */
export class SlotAllocator {
  readonly #limits: SlotAllocatorLimits;
  readonly #counters = new TokenCounters();
  readonly #clients = new Map<string, ClientGroups>();
  readonly #running = new Set<SequenceGroup>();
  /** In the order in which they lost their slots. */
  readonly #parked = new Set<SequenceGroup>();
  /** Slots of the groups that run. */
  #used = 0;
  #preemptions = 0;

  constructor(limits: SlotAllocatorLimits) {
    this.#limits = limits;
  }

  /** How often a group lost its slots to another one. */
  get preemptions(): number {
    return this.#preemptions;
  }

  /** Sequences that run. */
  get running(): number {
    return this.#used;
  }

  /** Sequences that have not begun. */
  get waiting(): number {
    return [...this.#clients.values()].reduce((sum, { waiting }) => sum + getSequences(waiting), 0);
  }

  /** Sequences that have begun and have no slots. */
  get parked(): number {
    return getSequences(this.#parked);
  }

  /** Groups that have begun and have no slots, the last that lost them first. */
  get parkedGroups(): readonly SequenceGroup[] {
    return [...this.#parked].reverse();
  }

  /** Whether a group waits for slots, and another one will lose its own once its reader has not read for a while. */
  get waitsForReaders(): boolean {
    return this.#candidates().length > 0 && [...this.#running].some(({ unreadMs }) => unreadMs !== undefined);
  }

  /** The virtual token counter of a group's client. */
  getCounter({ owner }: SequenceGroup): number {
    return this.#counters.of(owner.key);
  }

  /** Adds a group, which waits. `begin` is called when it gets its slots. */
  add(client: SchedulerClient, size: GroupSize, begin: () => void): SequenceGroup {
    const key = clientKey(client);
    let owner = this.#clients.get(key);
    if (owner === undefined) {
      this.#counters.lift(key, this.#active);
      owner = clientGroups(client);
      this.#clients.set(key, owner);
    }
    const group = new SequenceGroup(owner, size, begin);
    owner.waiting.add(group);
    return group;
  }

  /** Removes a group. */
  remove(group: SequenceGroup): void {
    const { owner } = group;
    if (group.state === "running") this.#stop(group);
    this.#parked.delete(group);
    owner.waiting.delete(group);
    owner.begun.delete(group);
    if (owner.waiting.size + owner.begun.size > 0) return;
    this.#clients.delete(owner.key);
    this.#counters.prune([...this.#clients.keys()]);
  }

  /** Records that a group requests a call of the model. The counter of a client without waiting texts is lifted, unless nobody reads its texts. */
  want(group: SequenceGroup): void {
    const { owner } = group;
    const isIdle = group.state === "parked" && owner.slots === 0 && owner.waiting.size === 0;
    if (isIdle && [...owner.begun].every(({ jobs }) => jobs === 0))
      this.#counters.lift(
        owner.key,
        this.#active.filter((key) => key !== owner.key),
      );
    group.jobs += 1;
  }

  /** Counts tokens that a call of the model computed for a sequence of a group. `isAgain`: they were computed before. */
  charge(group: SequenceGroup, tokens: number, isAgain: boolean): void {
    group.used += tokens / group.count;
    if (!isAgain) this.#counters.charge(group.owner.key, tokens, group.owner.weight);
  }

  /** Gives slots to the groups that are to have them now. */
  allocate(): void {
    while (this.#startOne());
  }

  /** Clients that want tokens. */
  get #active(): readonly string[] {
    const isActive = ({ waiting, begun }: ClientGroups): boolean =>
      waiting.size > 0 || [...begun].some(({ state, jobs }) => state === "running" || jobs > 0);
    return [...this.#clients.values()].filter((client) => isActive(client)).map(({ key }) => key);
  }

  #startOne(): boolean {
    let free = this.#limits.maxSequences - this.#used;
    for (const next of this.#candidates()) {
      const victims = this.#victims(next, free, false);
      const reserved = victims === undefined && this.#isPrivileged(next) ? this.#victims(next, free, true) : undefined;
      const found = victims ?? reserved;
      if (found !== undefined) {
        for (const victim of found) this.#park(victim);
        this.#start(next, reserved !== undefined);
        return true;
      }
      free = 0; // what is free is left to the group before
    }
    return false;
  }

  /** The next group of each client that wants slots, the first that is to get them first. */
  #candidates(): readonly SequenceGroup[] {
    const next: SequenceGroup[] = [];
    for (const { waiting, begun } of this.#clients.values()) {
      const parked = [...begun].find(({ state, jobs }) => state === "parked" && jobs > 0);
      const group = parked ?? waiting.values().next().value;
      if (group !== undefined) next.push(group);
    }
    const share = ({ owner }: SequenceGroup): number => owner.slots / owner.weight;
    return next.sort((a, b) => share(a) - share(b) || this.getCounter(a) - this.getCounter(b));
  }

  /** The groups that must lose their slots so that one gets its own; undefined if it is not to get them now. `free`: slots that it may use. */
  #victims(next: SequenceGroup, free: number, usesReserved: boolean): readonly SequenceGroup[] | undefined {
    const victims: SequenceGroup[] = [];
    const lost = new Map<ClientGroups, number>();
    const getShare = ({ owner }: SequenceGroup): number => (owner.slots - (lost.get(owner) ?? 0)) / owner.weight;
    const isBefore = (group: SequenceGroup, other: SequenceGroup): boolean =>
      (Number(isUnread(other)) - Number(isUnread(group)) ||
        getShare(other) - getShare(group) ||
        this.getCounter(other) - this.getCounter(group) ||
        other.used - group.used) < 0;
    for (let missing = next.count - free; missing > 0;) {
      let victim: SequenceGroup | undefined;
      for (const group of this.#running) {
        if (victims.includes(group) || !this.#mayPark(group, next, getShare(group), usesReserved)) continue;
        if (victim === undefined || isBefore(group, victim)) victim = group;
      }
      if (victim === undefined) return undefined;
      victims.push(victim);
      lost.set(victim.owner, (lost.get(victim.owner) ?? 0) + victim.count);
      missing -= victim.count;
    }
    return victims;
  }

  /** Whether a group may lose its slots to another one. `share`: slots of its client, divided by its weight. */
  #mayPark(group: SequenceGroup, next: SequenceGroup, share: number, usesReserved: boolean): boolean {
    const { owner } = next;
    if (isUnread(group)) return true;
    if (group.owner === owner) return next.state === "parked" && group.isTurnOver;
    if (share - group.count / group.owner.weight >= (owner.slots + next.count) / owner.weight) return true;
    if (owner.slots > 0) return false;
    const lead = this.getCounter(group) - this.getCounter(next);
    if (group.isTurnOver && lead >= 0) return true;
    return usesReserved && (this.#hasReserved(next.count) || (group.isReserved && lead > 0));
  }

  /** Whether a group is the first text of a client that has no other one, and fits into the reserved slots. */
  #isPrivileged({ owner, state, count }: SequenceGroup): boolean {
    const isFirst = state === "waiting" && owner.slots === 0 && [...owner.begun].every(({ jobs }) => jobs === 0);
    return isFirst && count <= this.#limits.reservedSequences;
  }

  /** Whether so many reserved slots are not in use by the clients that they are reserved for. */
  #hasReserved(count: number): boolean {
    let used = 0;
    for (const group of this.#running) if (group.isReserved && !group.isTurnOver) used += group.count;
    return used + count <= this.#limits.reservedSequences;
  }

  #start(group: SequenceGroup, isReserved: boolean): void {
    const { owner } = group;
    const isFirst = group.state === "waiting";
    const again = Math.max(0, ...[...group.sequences].map(({ missingTokens }) => missingTokens));
    const { turnTokens } = this.#limits;
    // A first turn gets through a usual prompt, and a later one through more than is computed again, so that less than half of the time is spent on that.
    group.turn = turnTokens + (isFirst ? Math.min(group.promptTokens, maxPromptTurns * turnTokens) : again);
    group.used = 0;
    group.isReserved = isReserved;
    group.state = "running";
    owner.slots += group.count;
    owner.waiting.delete(group);
    owner.begun.add(group);
    this.#parked.delete(group);
    this.#running.add(group);
    this.#used += group.count;
    if (isFirst) group.begin();
  }

  #park(group: SequenceGroup): void {
    this.#stop(group);
    this.#preemptions += 1;
    group.state = "parked";
    this.#parked.add(group);
    // After those that were parked before.
    group.owner.begun.delete(group);
    group.owner.begun.add(group);
  }

  #stop(group: SequenceGroup): void {
    group.owner.slots -= group.count;
    this.#running.delete(group);
    this.#used -= group.count;
  }
}

function isUnread({ unreadMs }: SequenceGroup): boolean {
  return unreadMs !== undefined && unreadMs >= unreadGraceMs;
}

function getSequences(groups: Iterable<SequenceGroup>): number {
  let sum = 0;
  for (const { count } of groups) sum += count;
  return sum;
}
