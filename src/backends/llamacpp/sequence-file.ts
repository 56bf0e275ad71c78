/** Moves the cache of a sequence between places, through files: node-llama-cpp offers no other way. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SequenceState } from "../gguf/saved-sequence.ts";
import type { Slot } from "./sequence-slots.ts";

/** The state of the sequence in a place. */
export async function readState({ sequence, group }: Slot): Promise<SequenceState> {
  return await withFile(async (path) => {
    await sequence.saveStateToFile(path);
    return { bytes: await readFile(path), group };
  });
}

/** Replaces the state of the sequence in a place. Does nothing if the place cannot take it. */
export async function writeState({ sequence, group }: Slot, state: SequenceState): Promise<void> {
  if (group !== state.group) return;
  await withFile(async (path) => {
    await writeFile(path, state.bytes);
    // The bytes are those of `readState`: of this process, or with a digest that was checked.
    await sequence.loadStateFromFile(path, { acceptRisk: true });
  });
}

/** Copies the state from one place to another one of the same model. Does nothing if that cannot take it. */
export async function copyState(from: Slot, to: Slot): Promise<void> {
  if (from.group !== to.group) return;
  await withFile(async (path) => {
    await from.sequence.saveStateToFile(path);
    await to.sequence.loadStateFromFile(path, { acceptRisk: true });
  });
}

async function withFile<Result>(use: (path: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "inferyard-sequence-"));
  try {
    return await use(join(folder, "state"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
