/** The plugins of this machine that may serve a device, by what their files tell. None is loaded. */
import type { SearchedLocation } from "../../../contract/backend.ts";
import { type PluginFile, findPlugins } from "./find-plugins.ts";
import type { PluginReader } from "./plugin-reader.ts";
import type { PluginContents } from "./read-plugin.ts";

/** A file that is a plugin for this program. */
export interface PluginCandidate extends PluginFile {
  readonly contents: PluginContents;
}

/** A file that is not a plugin, or a plugin that failed to serve a device. */
export interface RefusedPlugin extends PluginFile {
  readonly reason: string;
}

/** Results of the search for plugins, in the order of the search. */
export interface PluginCandidates {
  readonly candidates: readonly PluginCandidate[];
  readonly refused: readonly RefusedPlugin[];
  readonly locations: readonly SearchedLocation[];
}

/** Finds plugins, and reads the properties of each. */
export async function findCandidates(configured: string | undefined, reader: PluginReader): Promise<PluginCandidates> {
  const { files, locations } = await findPlugins({ configured });
  const readings = await Promise.all(files.map(async (file) => ({ file, reading: await reader.read(file.path) })));
  return {
    candidates: readings.flatMap(({ file, reading }) => (reading.ok ? [{ ...file, contents: reading }] : [])),
    refused: readings.flatMap(({ file, reading }) => (reading.ok ? [] : [{ ...file, reason: reading.reason }])),
    locations,
  };
}

/** Candidates whose files show that they serve a type of device, in the order of the search. */
export function getCandidates(type: string, candidates: readonly PluginCandidate[]): readonly PluginCandidate[] {
  return candidates.filter(({ contents }) => contents.kind?.deviceType === type);
}

/** Number of refusals that a sentence names. */
const maxNamed = 5;

/** Refused plugins with their reasons, on one line. */
export function describeRefusals(refused: readonly RefusedPlugin[]): string {
  const more = refused.length > maxNamed ? [`and ${refused.length - maxNamed} more`] : [];
  return [...refused.slice(0, maxNamed).map(({ path, reason }) => `${path}: ${reason}`), ...more].join("; ");
}
