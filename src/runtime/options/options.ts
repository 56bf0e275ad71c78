/** The names of all options a caller may give, and the checks that TypeScript makes for its users and nobody makes for the others. */
import type { LoadLimits, LoadSettings } from "../../backend.ts";
import { InferyardError } from "../../errors.ts";
import { type HostName, hostNames } from "../../hosts/host.ts";
import { parseDuration } from "./duration.ts";
import { parseSize } from "./size.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import type { LimitSettings, ModelOptions, ModelSettings, RuntimeSettings, Strategy } from "./runtime-settings.ts";
import type { ConstraintOptions } from "../selection/constraints.ts";

export const constraintNames: readonly (keyof ConstraintOptions)[] = ["policy", "priority", "prefer", "target", "exclude"];

const modelSettingNames: readonly (keyof ModelSettings)[] = [...constraintNames, "strategy"];

export const loadSettingNames: readonly (keyof LoadSettings)[] = [
  "threads",
  "graphOptimization",
  "cpuNodes",
  "memoryPattern",
  "memoryArena",
];

export const limitSettingNames: readonly (keyof LimitSettings)[] = ["maxTraceTime", "maxTraceMemory", "maxRunMemory"];

export const modelOptionNames: readonly (keyof ModelOptions)[] = [...constraintNames, ...loadSettingNames, "variant", "signal"];

export const runtimeSettingNames: readonly (keyof RuntimeSettings)[] = [
  ...constraintNames,
  ...loadSettingNames,
  "models",
  "preload",
  "host",
  "replicas",
  "shareBatches",
  "textThreads",
  "maxMemory",
  "maxDeviceMemory",
  "maxLoadedModels",
  "memoryWait",
  "keepAlive",
  "failover",
  "maxProcessMemory",
  ...limitSettingNames,
  "maxCrashes",
  "crashWindow",
  "loadTimeout",
  "runTimeout",
  "offline",
  "onEvent",
  "onBatch",
];

/** Knobs of other runtimes that are not built, since measuring showed nothing to gain: why, and what to do instead. */
export const notBuilt: Readonly<Record<string, string>> = {
  sessionBuckets:
    "sessions for each size of input made nothing faster and took twice to six times the memory (docs/guide/tuning.md): leave it out",
  bucketGranularity: "it belongs to sessionBuckets, which is not built (docs/guide/tuning.md): leave it out",
  concurrencyHint: "copies are loaded for the work that is there: set replicas to the number wanted",
};

/** INPUT_INVALID for a name nobody reads; the nearest right one is suggested. */
export function refuseUnknown(given: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  if (Object.hasOwn(notBuilt, unknown)) {
    throw new InferyardError("INPUT_INVALID", `${where} has no option "${unknown}"`, { remedy: notBuilt[unknown] ?? "" });
  }
  const guess = nearestName(unknown, known);
  throw new InferyardError("INPUT_INVALID", `${where} has no option "${unknown}"`, {
    remedy: guess === undefined ? `it has ${known.join(", ")}` : `did you mean "${guess}"?`,
  });
}

/** INPUT_INVALID for a value that is given and is not one of those allowed. */
export function refuseUnlisted<Value>(name: string, value: Value | undefined, allowed: readonly Value[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new InferyardError("INPUT_INVALID", `${name} is ${JSON.stringify(value)}`, {
    remedy: `choose one of ${allowed.join(", ")}`,
  });
}

/** INPUT_INVALID for a number that is given and is not a whole one above 0. */
export function refuseNonPositive(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return;
  throw new InferyardError("INPUT_INVALID", `${name} is ${String(value)}, and must be a whole number above 0`, {
    remedy: `correct ${name}, or leave it out`,
  });
}

export function checkLoadSettings(settings: LoadSettings): void {
  const { graphOptimization, cpuNodes, memoryPattern, memoryArena } = settings;
  refuseNonPositive("threads", settings.threads);
  refuseUnlisted("graphOptimization", graphOptimization, ["disabled", "basic", "extended", "all"]);
  refuseUnlisted("cpuNodes", cpuNodes, ["refuse", "allow"]);
  refuseUnlisted("memoryPattern", memoryPattern, [true, false]);
  refuseUnlisted("memoryArena", memoryArena, [true, false]);
}

export function checkRuntimeSettings(settings: RuntimeSettings): void {
  refuseUnknown(settings, runtimeSettingNames, "a runtime");
  checkLoadSettings(settings);
  refuseUnlisted<HostName>("host", settings.host, hostNames);
  refuseUnlisted("failover", settings.failover, [true, false]);
  refuseUnlisted("shareBatches", settings.shareBatches, [true, false]);
  refuseNonPositive("textThreads.maxCharacters", settings.textThreads?.maxCharacters);
  refuseUnlisted("offline", settings.offline, [true, false]);
  if (settings.replicas !== "auto") refuseNonPositive("replicas", settings.replicas);
  refuseNonPositive("maxLoadedModels", settings.maxLoadedModels);
  refuseNonPositive("maxCrashes", settings.maxCrashes);
  for (const [reference, model] of Object.entries(settings.models ?? {})) {
    refuseUnknown(model, modelSettingNames, `the settings for ${reference}`);
    refuseUnlisted<Strategy>(`the strategy for ${reference}`, model.strategy, ["lazy", "eager", "pinned"]);
  }
}

/** Durations and sizes as numbers. CONFIG_INVALID for what is none, or for no time at all. */
export function parseLoadLimits({ maxTraceTime, maxTraceMemory, maxRunMemory }: LimitSettings): LoadLimits {
  const milliseconds = maxTraceTime === undefined ? undefined : parseDuration(maxTraceTime);
  if (milliseconds === 0) {
    throw new InferyardError("CONFIG_INVALID", "maxTraceTime is 0, and a model cannot be traced in no time", {
      remedy: "write 30s or more, or leave it out",
    });
  }
  return {
    ...(milliseconds === undefined ? {} : { maxTraceTime: milliseconds }),
    ...(maxTraceMemory === undefined ? {} : { maxTraceMemory: parseSize(maxTraceMemory) }),
    ...(maxRunMemory === undefined ? {} : { maxRunMemory: parseSize(maxRunMemory) }),
  };
}

/** The load settings of several levels, the most general first; the last that sets one wins. */
export function mergeLoadSettings(...levels: readonly LoadSettings[]): LoadSettings {
  const set = levels.flatMap((level) => loadSettingNames.map((name) => [name, level[name]] as const));
  return Object.fromEntries(set.filter(([, value]) => value !== undefined));
}
