/** Evidence from the engine: onnxruntime's profile says which execution provider computed each node of the first run. */
import { readdirSync, rmSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import type { LoadSettings } from "../../contract/backend.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { InferenceSession } from "../onnxruntime/library.ts";
import { type Provider, getProvider } from "./providers.ts";

/** Prefix of profile folders. All threads of a process share it. */
const prefix = `inferyard-profile-${process.pid}-`;

const cpuProfileName = getProvider({ type: "cpu", index: 0 })?.profileName;

/** Folder of one session's profile, or the reason why there is none. */
export type ProfileFolder = { readonly path: string } | { readonly failure: string };

/** Creates a folder for one session's profile. */
export async function makeProfileFolder(): Promise<ProfileFolder> {
  try {
    return { path: await mkdtemp(join(tmpdir(), prefix)) };
  } catch (error) {
    return { failure: `no folder for onnxruntime's profile can be created: ${getMessage(error)}` };
  }
}

/** Removes the folder and what is in it. */
export async function removeProfileFolder(folder: ProfileFolder): Promise<void> {
  if ("path" in folder) await rm(folder.path, { recursive: true, force: true });
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

/** Session options that write a profile into the folder; none if there is no folder. */
export function profilingOptions(folder: ProfileFolder): Record<string, unknown> {
  return "path" in folder ? { enableProfiling: true, profileFilePrefix: join(folder.path, "run") } : {};
}

/**
 * Ends profiling, reads the profile and removes it. Returns a sentence with the number of nodes per provider. Throws VERIFICATION_FAILED if the requested
 * provider computed nothing, or another one computed nodes; `cpuNodes: "allow"` permits nodes of the CPU in addition to an accelerator's. Throws
 * PLACEMENT_UNPROVEN if there is no profile, or it cannot be read or names no provider.
 */
export async function readEvidence(
  session: Pick<InferenceSession, "endProfiling">,
  folder: ProfileFolder,
  provider: Provider,
  cpuNodes: LoadSettings["cpuNodes"],
): Promise<readonly string[]> {
  const counts = await countNodes(session, folder, provider.profileName === cpuProfileName);
  if (counts.size === 0) return ["onnxruntime's profile of the first run: no nodes, since all outputs are constants"];
  const permitted = new Set<string | undefined>([provider.profileName, ...(cpuNodes === "allow" ? [cpuProfileName] : [])]);
  if (!counts.has(provider.profileName) || [...counts.keys()].some((name) => !permitted.has(name))) {
    throw new InferyardError(
      "VERIFICATION_FAILED",
      `onnxruntime computed on ${spell(counts)}, and ${provider.profileName} was asked for`,
    );
  }
  return [`onnxruntime's profile of the first run: ${spell(counts)}`];
}

interface ProfileEvent {
  readonly name?: string;
  readonly cat?: string;
  readonly args?: { readonly provider?: string };
}

/**
 * The number of nodes by provider, at least one; with `mayBeEmpty` none at all of a graph of which onnxruntime has made constants. Throws
 * PLACEMENT_UNPROVEN.
 */
async function countNodes(
  session: Pick<InferenceSession, "endProfiling">,
  folder: ProfileFolder,
  mayBeEmpty: boolean,
): Promise<Map<string, number>> {
  if ("failure" in folder) throw unproven(folder.failure);
  const counts = new Map<string, number>();
  let hasRun = false;
  try {
    session.endProfiling();
    for (const name of await readdir(folder.path)) {
      const events = JSON.parse(await readFile(join(folder.path, name), "utf8")) as readonly ProfileEvent[];
      for (const { cat, args, name: event } of events) {
        if (event === "model_run") hasRun = true;
        if (cat === "Node" && args?.provider !== undefined) counts.set(args.provider, (counts.get(args.provider) ?? 0) + 1);
      }
    }
  } catch (error) {
    throw unproven(`onnxruntime's profile of the first run cannot be read: ${getMessage(error)}`, error);
  } finally {
    await removeProfileFolder(folder);
  }
  if (counts.size === 0 && !(mayBeEmpty && hasRun))
    throw unproven("onnxruntime's profile of the first run names no execution provider");
  return counts;
}

function unproven(reason: string, cause?: unknown): InferyardError {
  return new InferyardError("PLACEMENT_UNPROVEN", reason, {
    remedy: "set TMPDIR to a folder that can be written and has free space",
    cause,
  });
}

function spell(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([provider, nodes]) => `${nodes} ${nodes === 1 ? "node" : "nodes"} on ${provider}`).join(", ");
}
