/** Evidence from the engine: onnxruntime's own profile says which provider computed each node of the first run. */
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferyardError } from "../../errors.ts";
import type { Session } from "../onnxruntime/library.ts";
import type { Provider } from "./providers.ts";

/** A folder for one session's profile; undefined where none can be made, and then there is no evidence. */
export async function makeProfileFolder(): Promise<string | undefined> {
  return mkdtemp(join(tmpdir(), "inferyard-profile-")).catch(() => undefined);
}

export function profilingOptions(folder: string | undefined): Record<string, unknown> {
  return folder === undefined ? {} : { enableProfiling: true, profileFilePrefix: join(folder, "run") };
}

/** Ends profiling, reads the profile and removes it. Throws VERIFICATION_FAILED when other providers than the one asked for computed. */
export async function readEvidence(session: Session, folder: string | undefined, provider: Provider): Promise<readonly string[]> {
  if (folder === undefined) return [];
  session.endProfiling();
  const counts = await countNodes(folder);
  await rm(folder, { recursive: true, force: true });
  const elsewhere = [...counts.keys()].filter((name) => name !== provider.profileName);
  if (elsewhere.length > 0) {
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
