/**
 * Filters of random sampling, in the order of transformers 4.57: temperature, top-k, top-p, min-p, typical. Each sets the logits of the tokens that it
 * removes to minus infinity, and keeps at least one token.
 */
import { exponential } from "./exponential.ts";
import type { SamplingSettings } from "./sampling-settings.ts";

type FilterSettings = Pick<SamplingSettings, "temperature" | "topK" | "topP" | "minP" | "typicalP">;

/** Applies the filters of the settings in place. */
export function filterLogits(logits: Float32Array, { temperature, topK, topP, minP, typicalP }: FilterSettings): void {
  if (temperature !== 1) for (let id = 0; id < logits.length; id += 1) logits[id] = at(logits, id) / temperature;
  if (topK > 0 && topK < logits.length) keepTopK(logits, topK);
  if (topP < 1) keepTopP(logits, topP);
  if (minP > 0) keepMinP(logits, minP);
  if (typicalP < 1) keepTypical(logits, typicalP);
}

/** Highest logit. -Infinity if all are removed. */
export function highestLogit(logits: Float32Array): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > highest) highest = logit;
  return highest;
}

/** Sum of the probabilities before they are scaled: e to the power of each logit less the highest. */
export function exponentialSum(logits: Float32Array, highest: number): number {
  let sum = 0;
  for (const logit of logits) sum += exponential(logit - highest);
  return sum;
}

function at(logits: Float32Array, id: number): number {
  return logits[id] ?? Number.NEGATIVE_INFINITY;
}

/** Removes the tokens below the k-th highest logit. Equal ones remain, so that there may be more than k. */
function keepTopK(logits: Float32Array, k: number): void {
  const heap = new Float32Array(k).fill(Number.NEGATIVE_INFINITY); // the k highest so far, the lowest of them first
  for (const logit of logits) if (logit > at(heap, 0)) replaceLowest(heap, logit);
  removeBelow(logits, at(heap, 0));
}

function replaceLowest(heap: Float32Array, value: number): void {
  let parent = 0;
  for (;;) {
    let child = 2 * parent + 1;
    if (child + 1 < heap.length && at(heap, child + 1) < at(heap, child)) child += 1;
    if (child >= heap.length || at(heap, child) >= value) break;
    heap[parent] = at(heap, child);
    parent = child;
  }
  heap[parent] = value;
}

function removeBelow(logits: Float32Array, threshold: number): void {
  for (let id = 0; id < logits.length; id += 1) if (at(logits, id) < threshold) logits[id] = Number.NEGATIVE_INFINITY;
}

/** Removes the least probable tokens that have a probability of at most 1 - p together. Of equal ones the lower ids are removed first. */
function keepTopP(logits: Float32Array, p: number): void {
  const highest = highestLogit(logits);
  const probabilities = Float64Array.from(logits, (logit) => exponential(logit - highest));
  const removable = (1 - p) * probabilities.reduce((sum, each) => sum + each, 0);
  // Tokens this improbable are removed whatever their order is, which leaves few to sort.
  const surely = (removable / logits.length) * 0.999;
  let removed = 0;
  const candidates: number[] = [];
  for (const [id, probability] of probabilities.entries()) {
    if (probability > surely) candidates.push(id);
    else removed += probability;
  }
  const getProbability = (id: number): number => probabilities[id] ?? 0;
  candidates.sort((left, right) => getProbability(left) - getProbability(right) || left - right);
  const kept = candidates.findIndex((id) => (removed += getProbability(id)) > removable);
  keepOnly(logits, kept === -1 ? candidates.slice(-1) : candidates.slice(kept));
}

function keepMinP(logits: Float32Array, minP: number): void {
  const highest = highestLogit(logits);
  for (let id = 0; id < logits.length; id += 1) {
    const logit = at(logits, id);
    if (logit !== highest && exponential(logit - highest) < minP) logits[id] = Number.NEGATIVE_INFINITY;
  }
}

/** Keeps the tokens whose information is nearest to the entropy, until their probability reaches `mass`. */
function keepTypical(logits: Float32Array, mass: number): void {
  const highest = highestLogit(logits);
  const sum = exponentialSum(logits, highest);
  const information = Float64Array.from(logits, (logit) => Math.log(sum) - (logit - highest));
  const probabilities = Float64Array.from(logits, (logit) => exponential(logit - highest) / sum);
  const entropy = probabilities.reduce((total, each, id) => (each === 0 ? total : total + each * (information[id] ?? 0)), 0);
  const distances = information.map((each) => Math.abs(each - entropy));
  const computeDistance = (id: number): number => distances[id] ?? Number.POSITIVE_INFINITY;
  const order = [...probabilities.keys()].filter((id) => (probabilities[id] ?? 0) > 0);
  order.sort((left, right) => computeDistance(left) - computeDistance(right) || left - right);
  let reached = 0;
  const last = order.findIndex((id) => (reached += probabilities[id] ?? 0) >= mass);
  const farthest = computeDistance(order.at(last) ?? 0); // -1, if rounding kept the sum below the mass: the last one
  keepOnly(
    logits,
    order.filter((id) => computeDistance(id) <= farthest),
  );
}

function keepOnly(logits: Float32Array, ids: readonly number[]): void {
  const kept = ids.map((id) => at(logits, id));
  logits.fill(Number.NEGATIVE_INFINITY);
  for (const [index, id] of ids.entries()) logits[id] = kept[index] ?? Number.NEGATIVE_INFINITY;
}
