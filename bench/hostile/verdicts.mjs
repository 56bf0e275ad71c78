// What must hold beside an attack, and after it: the well-behaved clients are served, and memory comes back.
import { setTimeout as pause } from "node:timers/promises";
import { quantile } from "../measuring/statistics.mjs";

/** The 99th percentile of each client's times, at most this many times the quiet one. */
const allowedRatio = 10;
/** Memory at most this many times the quiet one, within this time after an attack. */
const allowedMemoryRatio = 1.3;
const settleMs = 10_000;

/** The clients whose times are judged: two that embed, with the time of the whole answer, and two that stream, with the time to the first token. */
export const timedClients = ["builtin", "minilm", "chat", "constrained"];

export function p99(records, client) {
  const times = records.filter((record) => record.client === client).map(({ milliseconds }) => milliseconds);
  return times.length === 0 ? Number.NaN : quantile(times, 0.99);
}

// The memory of a server while it only has its well-behaved clients: the largest seen, in MB.
export async function quietMemory(server, milliseconds) {
  const largest = { all: 0, own: 0 };
  for (const until = performance.now() + milliseconds; performance.now() < until; await pause(250)) {
    largest.all = Math.max(largest.all, server.memory());
    largest.own = Math.max(largest.own, server.ownMemory());
  }
  return largest;
}

// Waits until memory is back, and no longer than it may take. Returns what it is then, and the seconds it took; undefined: it did not come back.
export async function settle(server, quiet) {
  const began = performance.now();
  const isBack = () =>
    !(server.memory() > allowedMemoryRatio * quiet.all) && !(server.ownMemory() > allowedMemoryRatio * quiet.own);
  while (server.isAlive() && !isBack() && performance.now() - began < settleMs) await pause(100);
  const seconds = isBack() ? (performance.now() - began) / 1000 : undefined;
  return { all: server.memory(), own: server.ownMemory(), seconds };
}

// Sentences that say what did not hold of the clients.
export function findUnserved(observed, quiet) {
  const failures = observed.filter(({ outcome }) => outcome !== "right");
  const kinds = new Map(failures.map((record) => [`${record.client} ${record.outcome}`, record]));
  const refused = [...kinds.values()].map(({ client, outcome, milliseconds, body }) => {
    const count = failures.filter((record) => record.client === client && record.outcome === outcome).length;
    return `the well-behaved client of ${client} got ${outcome} ${count} times, once after ${Math.round(milliseconds)} ms ${body}`;
  });
  const late = timedClients.flatMap((client) => {
    const ratio = p99(observed, client) / p99(quiet, client);
    return ratio < allowedRatio ? [] : [`p99 of ${client} is ${ratio.toFixed(1)} times the quiet one`];
  });
  return [...refused, ...late];
}

// A sentence that says what did not come back; none where all did.
export function findKeptMemory(after, quiet) {
  if (after.seconds !== undefined) return [];
  const text = ["all", "own"].map((which) => `${Math.round(after[which])} MB (${which}; quiet ${Math.round(quiet[which])})`);
  return [`memory is ${text.join(", ")} after ${settleMs / 1000} s`];
}

export const columns = [
  "attack",
  ...timedClients.flatMap((client) => [`${client} p99 ms`, "ratio"]),
  "not right",
  "peak MB",
  "after MB",
  "server MB",
  "back s",
  "answers",
];

export function rowOf({ name, said, observed, quiet, peak, after }) {
  const times = timedClients.flatMap((client) => {
    const [now, before] = [p99(observed, client), p99(quiet, client)];
    return [now.toFixed(0), (now / before).toFixed(1)];
  });
  const wrong = observed.filter(({ outcome }) => outcome !== "right").length;
  const memory = [peak, after.all, after.own].map((megabytes) => Math.round(megabytes));
  return [name, ...times, wrong, ...memory, after.seconds?.toFixed(1) ?? "no", said];
}
