/** Results of calls that are kept for equal calls, and the keys that say which calls are equal. */
import { createHash } from "node:crypto";
import type { Runtime } from "../../api/runtime.ts";
import { LruMap } from "../../concurrency/lru-map.ts";
import type { Decision } from "../../runtime/decision/decision.ts";
import type { ServedModelName } from "./model-names.ts";
import { deepCopy, estimateMemoryBytes } from "./plain-data.ts";

/**
 * Identifies a call of a model, as plain data: the name of the operation, then everything that determines the result. Calls with equal keys share their result.
 * Lists of numbers may be typed arrays.
 */
export type CallKey = readonly [work: string, ...parts: unknown[]];

/** Memory of a key and an entry of the cache besides the result, in bytes. */
const entryBytes = 200;

/** A result that a model computed, with where it ran. */
export interface ComputedResult<Result> {
  readonly result: Result;
  readonly target: string;
  readonly decision: Decision;
}

/**
 * The results of one server. They belong to the decision that placed the model: one that was reloaded or moved has a new decision, so that its old results
 * are never returned.
 */
export class CallCache {
  readonly #runtime: Runtime;
  readonly #results: LruMap<ComputedResult<unknown>>;
  /** Whether results are kept at all. */
  readonly isOn: boolean;

  /** `limitBytes`: memory of all results; 0: none are kept. */
  constructor(runtime: Runtime, limitBytes: number) {
    this.#runtime = runtime;
    this.#results = new LruMap(limitBytes);
    this.isOn = limitBytes > 0;
  }

  /** Memory of the results in bytes. */
  get bytes(): number {
    return this.#results.size;
  }

  /** A copy of the result that the model in memory has given to an equal call; undefined if there is none. */
  async find<Result>({ reference, constraints }: ServedModelName, key: CallKey): Promise<ComputedResult<Result> | undefined> {
    const found = await this.#runtime.useLoaded(reference, constraints, async ({ decision }) =>
      this.#results.get(resultKey(decision, key)),
    );
    // Calls with equal keys have results of the same type.
    return found && { ...found, result: deepCopy(found.result, found.decision) as Result };
  }

  /** Keeps a copy of the result. */
  put({ result, target, decision }: ComputedResult<unknown>, key: CallKey): void {
    if (!this.isOn) return;
    const copy = deepCopy(result, decision);
    const bytes = entryBytes + estimateMemoryBytes(copy, decision);
    this.#results.set(resultKey(decision, key), { result: copy, target, decision }, bytes);
  }
}

function resultKey({ id }: Decision, key: CallKey): string {
  return `${id} ${hashParts(key)}`;
}

/** Characters up to which parts are their own key: a hash takes longer than a comparison. */
const maxWrittenKey = 2048;

/** Key of the parts while calls with equal parts run: equal parts in the same order have equal keys. */
export function flightKey(parts: readonly unknown[]): string {
  const written = JSON.stringify(parts, withoutViews);
  return written.length <= maxWrittenKey ? written : computeDigest(written);
}

/** SHA-256 of the parts as base64. Equal parts in the same order have equal hashes; texts cannot be recovered from it. */
export function hashParts(parts: readonly unknown[]): string {
  return computeDigest(JSON.stringify(parts, withoutViews));
}

/** JSON has no 64-bit integers and would write typed arrays as objects: integers become text, and typed arrays the hash of their bytes. */
function withoutViews(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (ArrayBuffer.isView(value)) return computeDigest(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return value;
}

function computeDigest(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("base64");
}
