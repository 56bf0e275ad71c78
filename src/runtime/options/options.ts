/** The names of all options, and the checks that the type system makes for callers who use TypeScript. */
import type { LoadLimits, LoadSettings } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import { type HostName, hostNames } from "../../hosts/host-name.ts";
import { parseDuration } from "./duration.ts";
import { parseSize } from "./size.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import { checkAdapters } from "./adapters.ts";
import { foreignName } from "./foreign-names.ts";
import { listedValues, loadLimitNames, loadLimits, loadSettingNames, loadSettings } from "./load-options.ts";
import {
  type LimitSettings,
  type ModelOptions,
  type ModelSettings,
  type RuntimeSettings,
  type Strategy,
  whileCompilingModes,
} from "./runtime-settings.ts";
import type { ConstraintOptions } from "../targets/constraints.ts";

/** Names of the placement constraints. */
export const constraintNames: readonly (keyof ConstraintOptions)[] = ["policy", "priority", "prefer", "target", "exclude", "gpu"];

const modelSettingNames: readonly (keyof ModelSettings)[] = [...constraintNames, ...loadSettingNames, "strategy"];

/** Names of the options of one load. */
export const modelOptionNames: readonly (keyof ModelOptions)[] = [
  ...constraintNames,
  ...loadSettingNames,
  "variant",
  "kind",
  "signal",
];

/** Names of the settings of a runtime. */
export const runtimeSettingNames: readonly (keyof RuntimeSettings)[] = [
  ...constraintNames,
  ...loadSettingNames,
  "models",
  "preload",
  "host",
  "replicas",
  "shareBatches",
  "textThreads",
  "constraintThreads",
  "maxMemory",
  "maxDeviceMemory",
  "maxLoadedModels",
  "memoryWait",
  "keepAlive",
  "failover",
  "whileCompiling",
  "maxProcessMemory",
  "turnTokens",
  "reservedSequences",
  "maxParkedMemory",
  "unlistedMembers",
  ...loadLimitNames,
  "maxCrashes",
  "crashWindow",
  "loadTimeout",
  "runTimeout",
  "offline",
  "onEvent",
  "onBatch",
];

/**
 * Throws INPUT_INVALID for a property whose name is not in `known`. The remedy suggests the most similar name. `where` is the
 * subject of the message, for example "a runtime".
 */
export function refuseUnknown(given: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const guess = nearestName(unknown, known);
  const nearest = guess === undefined ? `it has ${known.join(", ")}` : `did you mean "${guess}"?`;
  throw new InferyardError("INPUT_INVALID", `${where} has no option "${unknown}"`, { remedy: foreignName(unknown) ?? nearest });
}

/** Throws INPUT_INVALID if `value` is set and is not in `allowed`. */
export function refuseUnlisted<Value>(name: string, value: Value | undefined, allowed: readonly Value[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new InferyardError("INPUT_INVALID", `${name} is ${JSON.stringify(value)}`, {
    remedy: `choose one of ${allowed.join(", ")}`,
  });
}

/** Throws INPUT_INVALID if `value` is set and is not a positive integer. */
export function refuseNonPositive(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return;
  throw new InferyardError("INPUT_INVALID", `${name} is ${String(value)}, and must be a whole number above 0`, {
    remedy: `correct ${name}, or leave it out`,
  });
}

/** Throws INPUT_INVALID if `value` is set and is not an integer from 0. */
function refuseNegative(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return;
  throw new InferyardError("INPUT_INVALID", `${name} is ${String(value)}, and must be a whole number from 0`, {
    remedy: `correct ${name}, or leave it out`,
  });
}

/** Throws INPUT_INVALID if `value` is set and is not a list of texts with at least one. */
function refuseNonTexts(name: string, value: unknown): void {
  if (value === undefined) return;
  if (Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === "string" && text !== "")) return;
  throw new InferyardError("INPUT_INVALID", `${name} is ${JSON.stringify(value)}, and must be a list of texts`, {
    remedy: `correct ${name}, or leave it out`,
  });
}

/** Throws INPUT_INVALID for a load setting with a value that it cannot have. Ids of kernels are checked by the backend that has them. */
export function checkLoadSettings(settings: LoadSettings): void {
  for (const name of loadSettingNames) {
    const value = settings[name];
    const listed = listedValues(loadSettings[name]);
    const { type } = loadSettings[name];
    if (type === "adapters") checkAdapters(value);
    else if (type === "texts") refuseNonTexts(name, value);
    else if (listed !== undefined) refuseUnlisted<unknown>(name, value, listed);
    else refuseNonPositive(name, value as number | undefined);
  }
}

/** Throws INPUT_INVALID for unknown runtime settings and for values that a setting cannot have. */
export function checkRuntimeSettings(settings: RuntimeSettings): void {
  refuseUnknown(settings, runtimeSettingNames, "a runtime");
  checkLoadSettings(settings);
  refuseUnlisted<HostName>("host", settings.host, hostNames);
  refuseUnlisted("failover", settings.failover, [true, false]);
  refuseUnlisted("whileCompiling", settings.whileCompiling, whileCompilingModes);
  refuseUnlisted("unlistedMembers", settings.unlistedMembers, [true, false]);
  refuseUnlisted("shareBatches", settings.shareBatches, [true, false]);
  refuseNonPositive("textThreads.maxCharacters", settings.textThreads?.maxCharacters);
  refuseNonPositive("constraintThreads.cacheBytes", settings.constraintThreads?.cacheBytes);
  refuseUnlisted("offline", settings.offline, [true, false]);
  if (settings.replicas !== "auto") refuseNonPositive("replicas", settings.replicas);
  refuseNonPositive("maxLoadedModels", settings.maxLoadedModels);
  refuseNonPositive("maxCrashes", settings.maxCrashes);
  refuseNonPositive("turnTokens", settings.turnTokens);
  refuseNegative("reservedSequences", settings.reservedSequences);
  for (const [reference, model] of Object.entries(settings.models ?? {})) {
    refuseUnknown(model, modelSettingNames, `the settings for ${reference}`);
    checkLoadSettings(model);
    refuseUnlisted<Strategy>(`the strategy for ${reference}`, model.strategy, ["lazy", "eager", "pinned"]);
  }
}

/**
 * Parses the limits of one model file and one run into milliseconds and bytes. Throws CONFIG_INVALID for a malformed duration
 * or size, and for a limit of 0.
 */
export function parseLoadLimits(settings: LimitSettings): LoadLimits {
  const given = loadLimitNames.flatMap((name) => {
    const written = settings[name];
    return written === undefined ? [] : [[name, parseLimit(name, written)] as const];
  });
  return Object.fromEntries(given);
}

function parseLimit(name: keyof LoadLimits, written: number | string): number {
  if (loadLimits[name].type === "size") return parseSize(written);
  const milliseconds = parseDuration(written);
  if (milliseconds > 0) return milliseconds;
  throw new InferyardError("CONFIG_INVALID", `${name} is ${written}, and must be above 0`, {
    remedy: `write ${loadLimits[name].default ?? "30s"} or more, or leave it out`,
  });
}

/** Merges load settings of several levels, the most general first. The last level that sets a value wins. */
export function mergeLoadSettings(...levels: readonly LoadSettings[]): LoadSettings {
  const given = levels.flatMap((level) => loadSettingNames.map((name) => [name, level[name]] as const));
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
