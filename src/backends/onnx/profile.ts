/** Evidence from the engine: onnxruntime's profile says which execution provider computed each node of the first run. */
import { readdirSync, rmSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import type { LoadSettings } from "../../backend.ts";
import { InferyardError } from "../../errors.ts";
import type { Session } from "../onnxruntime/library.ts";
import type { Provider } from "./providers.ts";

/** Prefix of profile folders. All threads of a process share it. */
const prefix = `inferyard-profile-${process.pid}-`;

/** Creates a folder for one session's profile. Undefined if none can be created; there is then no evidence. */
export async function makeProfileFolder(): Promise<string | undefined> {
  return mkdtemp(join(tmpdir(), prefix)).catch(() => undefined);
}

/**
 * Removes profile folders when the process exits between a load and its first run. Done by the main thread, since workers get
 * no time at exit.
 */
export function removeProfilesAtExit(): void {
  if (isMainThread && !process.listeners("exit").includes(removeProfiles)) process.on("exit", removeProfiles);
}

function removeProfiles(): void {
  try {
    const left = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix));
    for (const name of left) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  } catch {
    // The process is exiting; a failure must not change its exit code.
  }
}

/** Session options that write a profile into the folder; none if it is undefined. */
export function profilingOptions(folder: string | undefined): Record<string, unknown> {
  return folder === undefined ? {} : { enableProfiling: true, profileFilePrefix: join(folder, "run") };
}

/**
 * Ends profiling, reads the profile and removes it. Returns a sentence with the number of nodes per provider. Throws
 * VERIFICATION_FAILED if the requested provider computed nothing, or another one computed nodes without permission
 * (`cpuNodes`).
 */
export async function readEvidence(
  session: Session,
  folder: string | undefined,
  provider: Provider,
  cpuNodes: LoadSettings["cpuNodes"],
): Promise<readonly string[]> {
  if (folder === undefined) return [];
  session.endProfiling();
  const counts = await countNodes(folder);
  await rm(folder, { recursive: true, force: true });
  const elsewhere = [...counts.keys()].filter((name) => name !== provider.profileName);
  const allowed = cpuNodes === "allow" ? counts.has(provider.profileName) : elsewhere.length === 0;
  if (counts.size > 0 && !allowed) {
    throw new InferyardError(
      "VERIFICATION_FAILED",
      `onnxruntime computed on ${spell(counts)}, and ${provider.profileName} was asked for`,
    );
  }
  return counts.size === 0 ? [] : [`onnxruntime's profile of the first run: ${spell(counts)}`];
}

interface ProfileEvent {
  readonly cat?: string;
  readonly args?: { readonly provider?: string };
}

async function countNodes(folder: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const events = JSON.parse(await readFile(join(folder, name), "utf8")) as readonly ProfileEvent[];
    for (const { cat, args } of events) {
      if (cat === "Node" && args?.provider !== undefined) counts.set(args.provider, (counts.get(args.provider) ?? 0) + 1);
    }
  }
  return counts;
}

function spell(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([provider, nodes]) => `${nodes} ${nodes === 1 ? "node" : "nodes"} on ${provider}`).join(", ");
}
