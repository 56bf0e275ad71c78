/**
 * Weighted fair queueing, in the self-clocked variant of Golestani (1994). Each client has one flow for each priority. Serving
 * an item costs its flow 1 / weight of virtual time, and the flow with the earliest finish time is served next. Backlogged
 * flows are served in proportion to their weights, and none starves.
 */
import type { Priority, SchedulingKey } from "./scheduling-key.ts";

/** Weight of each priority: a backlogged flow of high priority is served four times as often as one of normal priority. */
export const priorityWeights: Readonly<Record<Priority, number>> = { high: 4, normal: 1 };

type Flow = Pick<SchedulingKey, "client" | "priority">;

interface Waiting<Item> {
  /** In order of arrival. */
  readonly items: Item[];
  readonly weight: number;
  /** Virtual finish time of its next item. */
  finish: number;
  /** Sequence number of the last time this flow was served; 0 if not served since it became non-empty. */
  served: number;
}

/**
 * Whether an item may be served. "take": now. "skip": later; items after it may be served first. "skip flow": later, and so are all items after it in its flow.
 * "drop": never; the item is removed.
 */
export type Eligibility = "take" | "skip" | "skip flow" | "drop";

/** A queue of items of several clients that is served fairly. */
export class FairQueue<Item> {
  /** Flows with items, in the order in which they were last served. */
  readonly #flows = new Map<string, Waiting<Item>>();
  /** Finish time of the item that was served last. */
  #virtualTime = 0;
  #services = 0;

  /** Appends an item to its flow. */
  add({ client, priority }: Flow, item: Item): void {
    const key = getKey(client, priority);
    const flow = this.#flows.get(key);
    if (flow !== undefined) {
      flow.items.push(item);
      return;
    }
    const weight = priorityWeights[priority];
    this.#flows.set(key, { items: [item], weight, finish: this.#virtualTime + 1 / weight, served: 0 });
  }

  /** Removes an item without charging its flow. */
  remove({ client, priority }: Flow, item: Item): void {
    const key = getKey(client, priority);
    const flow = this.#flows.get(key);
    const at = flow?.items.indexOf(item) ?? -1;
    if (flow === undefined || at === -1) return;
    flow.items.splice(at, 1);
    if (flow.items.length === 0) this.#flows.delete(key);
  }

  /** Whether no other client has queued items. */
  hasOnly(client: string): boolean {
    const own = Object.keys(priorityWeights).filter((priority) => this.#flows.has(getKey(client, priority as Priority)));
    return this.#flows.size === own.length;
  }

  /** Charges a flow for an item that was served together with one of another flow. */
  charge({ client, priority }: Flow): void {
    const flow = this.#flows.get(getKey(client, priority));
    if (flow !== undefined) flow.finish += 1 / flow.weight;
  }

  /**
   * Removes and returns the next item: the oldest eligible item of the flow with the earliest finish time. Undefined if no item
   * is eligible.
   */
  take(verdictOf: (item: Item) => Eligibility): Item | undefined {
    let best: { readonly key: string; readonly flow: Waiting<Item>; readonly at: number } | undefined;
    for (const [key, flow] of this.#flows) {
      if (best !== undefined && !precedes(flow, best.flow)) continue;
      const at = findEligible(flow.items, verdictOf);
      if (flow.items.length === 0) this.#flows.delete(key);
      else if (at !== undefined) best = { key, flow, at };
    }
    if (best === undefined) return undefined;
    const { key, flow, at } = best;
    const [item] = flow.items.splice(at, 1);
    this.#virtualTime = Math.max(this.#virtualTime, flow.finish); // a flow whose items were skipped has a finish time in the past
    flow.finish = this.#virtualTime + 1 / flow.weight;
    flow.served = this.#services += 1;
    this.#flows.delete(key); // after the flows with the same finish time
    if (flow.items.length > 0) this.#flows.set(key, flow);
    return item;
  }
}

function getKey(client: string, priority: Priority): string {
  return `${priority} ${client}`;
}

function precedes(flow: Waiting<unknown>, other: Waiting<unknown>): boolean {
  if (flow.finish !== other.finish) return flow.finish < other.finish;
  // At equal finish times and weights, a newly arrived flow precedes a flow that was already served.
  return flow.weight === other.weight ? flow.served < other.served : flow.weight > other.weight;
}

/** Index of the first item with the verdict "take". Items with the verdict "drop" before it are removed. */
function findEligible<Item>(items: Item[], verdictOf: (item: Item) => Eligibility): number | undefined {
  for (let at = 0; at < items.length;) {
    const item = items[at] as Item;
    const verdict = verdictOf(item);
    if (verdict === "take") return at;
    if (verdict === "skip flow") return undefined;
    if (verdict === "skip") at += 1;
    else items.splice(at, 1);
  }
  return undefined;
}
