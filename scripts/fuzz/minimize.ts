/**
 * Chooses the smallest inputs that together reach every edge that the inputs found on this machine reach and the seeds do not, and
 * writes them to the corpus of the repository: `node --import coverage/register.mjs minimize.ts TARGET`.
 */
import { foundFolder, inputsIn, keep, keptFolder } from "./corpus.ts";
import { Edges } from "./coverage/edges.ts";
import { outcomeOf } from "./oracle.ts";
import { targets } from "./targets.ts";

/** Bytes of all inputs of one target together. */
const budget = 20_000;
/** Bytes of one input. */
const maxInput = 2500;

const [name = ""] = process.argv.slice(2);
const target = await targets[name]!();
const open = await target.open();
const edges = new Edges();

async function reachedBy(input: Uint8Array): Promise<number[] | undefined> {
  edges.reset();
  const outcome = await outcomeOf(target, open, input);
  return typeof outcome === "string" ? edges.reached() : undefined;
}

const seen = new Set<number>();
// Twice: what only the first run reaches (caches, lazy loading) is no property of an input.
for (const input of [...(await target.seeds()), ...inputsIn(keptFolder(name)), ...(await target.seeds())])
  for (const edge of (await reachedBy(input)) ?? []) seen.add(edge);
let [bytes, count] = [0, 0];
for (const input of inputsIn(foundFolder(name)).sort((a, b) => a.length - b.length)) {
  if (input.length > maxInput || bytes + input.length > budget) break;
  const fresh = ((await reachedBy(input)) ?? []).filter((edge) => !seen.has(edge));
  if (fresh.length === 0) continue;
  for (const edge of fresh) seen.add(edge);
  keep(keptFolder(name), input);
  bytes += input.length;
  count += 1;
}
await open.close?.();
console.log(`${name}: ${count} inputs of ${bytes} bytes added`);
process.exit(0);
