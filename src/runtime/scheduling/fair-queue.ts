/**
 * Weighted fair queueing: self-clocked fair queueing, Golestani 1994. Every client has a flow for each priority. A turn of a flow costs
 * 1 / weight of virtual time, and the flow whose turn would end first goes first: while flows wait, each gets turns in proportion to its
 * weight, and none waits for ever.
 */
import type { Priority, SchedulingKey } from "./scheduling-key.ts";

/** Turns of a flow of high priority for one of normal priority, where both wait. */
export const priorityWeights: Readonly<Record<Priority, number>> = { high: 4, normal: 1 };

type Flow = Pick<SchedulingKey, "client" | "priority">;

interface Waiting<Item> {
  /** In the order they came. */
  readonly items: Item[];
  readonly weight: number;
  /** Virtual time at which the turn of its next item ends. */
  finish: number;
}

/** "take": its turn may be now. "skip": it waits on, and others go before it. "drop": it is over and leaves the queue. */
export type Eligibility = "take" | "skip" | "drop";

export class FairQueue<Item> {
  /** Those with items, in the order of their last turn. */
  readonly #flows = new Map<string, Waiting<Item>>();
  /** The end of the last turn. */
  #virtualTime = 0;

  /** Puts an item behind the others of its flow. */
  add({ client, priority }: Flow, item: Item): void {
    const key = keyOf(client, priority);
    const flow = this.#flows.get(key);
    if (flow !== undefined) {
      flow.items.push(item);
      return;
    }
    const weight = priorityWeights[priority];
    this.#flows.set(key, { items: [item], weight, finish: this.#virtualTime + 1 / weight });
  }

  /** Takes an item out, without a turn. */
  remove({ client, priority }: Flow, item: Item): void {
    const key = keyOf(client, priority);
    const flow = this.#flows.get(key);
    const at = flow?.items.indexOf(item) ?? -1;
    if (flow === undefined || at === -1) return;
    flow.items.splice(at, 1);
    if (flow.items.length === 0) this.#flows.delete(key);
  }

  /** Counts one turn more of a flow: its item was served together with that of another one. */
  charge({ client, priority }: Flow): void {
    const flow = this.#flows.get(keyOf(client, priority));
    if (flow !== undefined) flow.finish += 1 / flow.weight;
  }

  /** Takes the next item whose turn it is: the oldest of its flow that may go. Undefined where none may. */
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
    this.#virtualTime = Math.max(this.#virtualTime, flow.finish); // one whose items were skipped has an end in the past
    flow.finish = this.#virtualTime + 1 / flow.weight;
    this.#flows.delete(key); // behind those whose turn ends at the same time
    if (flow.items.length > 0) this.#flows.set(key, flow);
    return item;
  }
}

function keyOf(client: string, priority: Priority): string {
  return `${priority} ${client}`;
}

function precedes(flow: Waiting<unknown>, other: Waiting<unknown>): boolean {
  return flow.finish < other.finish || (flow.finish === other.finish && flow.weight > other.weight);
}

/** Position of the first item that may go. Items that are over are removed on the way. */
function findEligible<Item>(items: Item[], verdictOf: (item: Item) => Eligibility): number | undefined {
  for (let at = 0; at < items.length;) {
    const item = items[at] as Item;
    const verdict = verdictOf(item);
    if (verdict === "take") return at;
    if (verdict === "skip") at += 1;
    else items.splice(at, 1);
  }
  return undefined;
}
