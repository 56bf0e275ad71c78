/** The names of all options, and the checks that the type system makes for callers who use TypeScript. */
import type { LoadLimits } from "../../contract/backend.ts";
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { parseDuration } from "./duration.ts";
import { parseSize } from "./size.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import { foreignName } from "./foreign-names.ts";
import { loadSettingNames, loadSettings } from "./load-options.ts";
import { type OptionTable, boolean, checkOption, checkOptions, choice, positiveInteger, unchecked } from "./option.ts";
import { constraintNames, runtimeOptions } from "./runtime-options.ts";
import type { LimitSettings, ModelOptions, ProgramSettings, RuntimeSettings } from "./runtime-settings.ts";

/** Settings that only programs have. */
const programOptions: OptionTable<ProgramSettings> = {
  models: { type: unchecked },
  preload: { type: unchecked },
  shareBatches: { type: boolean },
  textThreads: { type: unchecked },
  constraintThreads: { type: unchecked },
  onEvent: { type: unchecked },
  onBatch: { type: unchecked },
};

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
  ...Object.keys({ ...programOptions, ...runtimeOptions }),
] as (keyof RuntimeSettings)[];

/**
 * Throws INPUT_INVALID for a property whose name is not in `known`. The remedy suggests the most similar name. `where` is the
 * subject of the message, for example "a runtime".
 */
export function refuseUnknown(given: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const guess = nearestName(unknown, known);
  const nearest = guess === undefined ? `it has ${known.join(", ")}` : `did you mean "${guess}"?`;
  throw invalidInput(`${where} has no option "${unknown}"`, foreignName(unknown) ?? nearest);
}

/** Throws INPUT_INVALID for a load setting with a value that it cannot have. Ids of kernels are checked by the backend that has them. */
export function checkLoadSettings(settings: UserLoadSettings): void {
  checkOptions(loadSettings, settings);
}

/** Throws INPUT_INVALID for unknown runtime settings and for values that a setting cannot have. */
export function checkRuntimeSettings(settings: RuntimeSettings): void {
  refuseUnknown(settings, runtimeSettingNames, "a runtime");
  checkLoadSettings(settings);
  checkOptions({ ...programOptions, ...runtimeOptions }, settings);
  checkOption("textThreads.maxCharacters", settings.textThreads?.maxCharacters, positiveInteger);
  checkOption("constraintThreads.cacheBytes", settings.constraintThreads?.cacheBytes, positiveInteger);
  for (const [reference, model] of Object.entries(settings.models ?? {})) {
    refuseUnknown(model, [...constraintNames, ...loadSettingNames, "strategy"], `the settings for ${reference}`);
    checkLoadSettings(model);
    checkOption(`the strategy for ${reference}`, model.strategy, choice(["lazy", "eager", "pinned"]));
  }
}

/**
 * Parses the limits of one model file and one run into milliseconds and bytes. Throws CONFIG_INVALID for a malformed duration
 * or size, and for a limit of 0.
 */
export function parseLoadLimits({ maxRunMemory, maxTraceTime, maxTraceMemory }: LimitSettings): LoadLimits {
  return omitUndefined({
    maxRunMemory: maxRunMemory === undefined ? undefined : parseSize(maxRunMemory),
    maxTraceTime: maxTraceTime === undefined ? undefined : parseLimit(maxTraceTime),
    maxTraceMemory: maxTraceMemory === undefined ? undefined : parseSize(maxTraceMemory),
  });
}

function parseLimit(maxTraceTime: number | string): number {
  const milliseconds = parseDuration(maxTraceTime);
  if (milliseconds > 0) return milliseconds;
  throw new InferyardError("CONFIG_INVALID", `maxTraceTime is ${maxTraceTime}, and must be above 0`, {
    remedy: "write 30s or more, or leave it out",
  });
}

/** Merges load settings of several levels, the most general first. The last level that sets a value wins. */
export function mergeLoadSettings(...levels: readonly UserLoadSettings[]): UserLoadSettings {
  const given = levels.flatMap((level) => loadSettingNames.map((name) => [name, level[name]] as const));
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
