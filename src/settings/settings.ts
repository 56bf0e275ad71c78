/** Every setting: its name in inferyard.yaml, in the environment (INFERYARD_ and capitals) and as a flag is the same. */
import type { ServerSection } from "./server-section.ts";
import type { RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import { type ConstraintOptions, defaultPriority } from "../runtime/selection/constraints.ts";

/**
 * Settings of a runtime, and what the command line takes when a flag is left out. Commands load what they are asked for and end: loading
 * ahead is for programs that stay, and is said in the section `server`; sharing batches is for those that have several callers.
 */
export interface Settings extends Omit<
  RuntimeSettings,
  "onEvent" | "onBatch" | "preload" | "models" | "shareBatches" | "textThreads"
> {
  readonly models?: Readonly<Record<string, ConstraintOptions>>;
  readonly model?: string;
  readonly variant?: string;
  readonly batchTokens?: number;
  readonly server?: ServerSection;
}

export type SettingName = keyof Settings;

/** In the order of the documentation. */
export const settingNames: readonly SettingName[] = [
  "model",
  "variant",
  "policy",
  "priority",
  "prefer",
  "target",
  "exclude",
  "models",
  "host",
  "threads",
  "graphOptimization",
  "cpuNodes",
  "memoryPattern",
  "memoryArena",
  "replicas",
  "batchTokens",
  "maxMemory",
  "maxDeviceMemory",
  "maxLoadedModels",
  "memoryWait",
  "keepAlive",
  "failover",
  "maxProcessMemory",
  "maxRunMemory",
  "maxTraceTime",
  "maxTraceMemory",
  "maxCrashes",
  "crashWindow",
  "loadTimeout",
  "runTimeout",
  "offline",
  "server",
];

/** Defaults that do not depend on the machine or the model. */
export const settingDefaults: Settings = {
  model: "builtin",
  policy: "priority",
  priority: defaultPriority,
  replicas: "auto",
  batchTokens: 512,
  memoryWait: "30s",
  keepAlive: "5m",
  failover: false,
  maxCrashes: 5,
  crashWindow: "1m",
  maxTraceTime: "30s",
  maxTraceMemory: "512MiB",
  loadTimeout: "10m",
  offline: false,
};

/** The variable that sets a setting: keepAlive -> INFERYARD_KEEP_ALIVE. */
export function environmentName(name: string): string {
  return `INFERYARD_${name.replaceAll(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase()}`;
}

/** The variable that sets a setting of the section `server`: maxQueue -> INFERYARD_SERVER_MAX_QUEUE. */
export function serverVariable(name: string): string {
  return environmentName(`server${name.charAt(0).toUpperCase()}${name.slice(1)}`);
}
