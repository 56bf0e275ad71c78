/** All settings. Each has one name in inferyard.yaml, in the environment (INFERYARD_ and capitals) and as a flag. */
import type { XlaSettings } from "../backends/xla/index.ts";
import type { ServerSection } from "./server-section.ts";
import type { LoadSettings } from "../contract/backend.ts";
import { loadLimitNames, loadLimits, loadSettingNames } from "../runtime/options/load-options.ts";
import type { LimitSettings, RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import { sequenceDefaults } from "../runtime/options/sequence-settings.ts";
import { type ConstraintOptions, defaultPriority } from "../runtime/targets/constraints.ts";

/**
 * All settings: the runtime's, and defaults of flags. Commands end after their work, so preloading is a setting of the section `server`; sharing batches and
 * threads for texts and constraints are options of programs with several callers.
 */
export interface Settings extends Omit<
  RuntimeSettings,
  "onEvent" | "onBatch" | "preload" | "models" | "shareBatches" | "textThreads" | "constraintThreads"
> {
  readonly models?: Readonly<Record<string, ConstraintOptions & LoadSettings>>;
  readonly model?: string;
  readonly variant?: string;
  readonly library?: string;
  readonly xla?: XlaSettings;
  readonly batchTokens?: number;
  readonly server?: ServerSection;
}

/** Name of a setting. */
export type SettingName = keyof Settings;

/** Names of all settings, in the order of the documentation. */
export const settingNames: readonly SettingName[] = [
  "model",
  "variant",
  "policy",
  "priority",
  "prefer",
  "target",
  "exclude",
  "gpu",
  "models",
  "host",
  "library",
  "xla",
  ...loadSettingNames,
  "replicas",
  "batchTokens",
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
  "server",
];

/** Defaults that depend neither on the machine nor on the model. */
export const settingDefaults: Settings = {
  model: "builtin",
  policy: "priority",
  priority: defaultPriority,
  replicas: "auto",
  batchTokens: 512,
  memoryWait: "30s",
  keepAlive: "5m",
  failover: false,
  whileCompiling: "wait",
  ...sequenceDefaults,
  unlistedMembers: false,
  maxCrashes: 5,
  crashWindow: "1m",
  ...loadLimitDefaults(),
  loadTimeout: "10m",
  offline: false,
};

function loadLimitDefaults(): LimitSettings {
  return Object.fromEntries(
    loadLimitNames.flatMap((name) => (loadLimits[name].default === undefined ? [] : [[name, loadLimits[name].default]])),
  );
}

/** The flag of a setting: keepAlive is --keep-alive. Not every setting has one. */
export function flagName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}`;
}

/** The environment variable of a setting: keepAlive is INFERYARD_KEEP_ALIVE. */
export function environmentName(name: string): string {
  return `INFERYARD_${name.replaceAll(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase()}`;
}

/** Settings that are sections: maps in the file, whose settings have a variable each, and are merged one by one. */
export type SectionName = "xla" | "server";

/** Names of all sections. */
export const sectionNames: readonly SectionName[] = ["xla", "server"];

/** The environment variable of a setting of a section: maxQueue of `server` is INFERYARD_SERVER_MAX_QUEUE, buckets.batch of `xla` INFERYARD_XLA_BUCKETS_BATCH. */
export function sectionVariable(section: SectionName, name: string): string {
  return environmentName(`${section}_${name.replaceAll(".", "_")}`);
}
