/** Evidence from the engine: onnxruntime's own profile says which provider computed each node of the first run. */
import { readdirSync, rmSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import type { LoadSettings } from "../../backend.ts";
import { InferyardError } from "../../errors.ts";
import type { Session } from "../onnxruntime/library.ts";
import type { Provider } from "./providers.ts";

/** The threads of one process share its number. */
const prefix = `inferyard-profile-${process.pid}-`;

/** A folder for one session's profile; undefined where none can be made, and then there is no evidence. */
export async function makeProfileFolder(): Promise<string | undefined> {
  return mkdtemp(join(tmpdir(), prefix)).catch(() => undefined);
}

/** A program that ends between a load and its first run leaves no folder behind: the main thread sees to it, a worker gets no time to. */
export function removeProfilesAtExit(): void {
  if (isMainThread && !process.listeners("exit").includes(removeProfiles)) process.on("exit", removeProfiles);
}

function removeProfiles(): void {
  try {
    const left = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix));
    for (const name of left) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  } catch {
    // The program is ending: what cannot be removed now is left to the system, and must not change the exit code.
  }
}

export function profilingOptions(folder: string | undefined): Record<string, unknown> {
  return folder === undefined ? {} : { enableProfiling: true, profileFilePrefix: join(folder, "run") };
}

/**
 * Ends profiling, reads the profile and removes it. Throws VERIFICATION_FAILED when the provider asked for did not compute, or another one
 * did beside it without leave.
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
