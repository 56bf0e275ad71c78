/**
 * Every setting: its name in inferyard.yaml, in the environment (INFERYARD_ and capitals) and as a flag is the same. The JSON schema in
 * `schemas/settings.json` and the table in `docs/reference/configuration.md` are held against this file by a test.
 */
import { z } from "zod";
import { hostNames } from "../hosts/host.ts";
import type { RuntimeSettings } from "../runtime/model-runtime.ts";
import { defaultPriority, policies } from "../runtime/wish.ts";

/** Settings of a runtime, and what the command line takes when a flag is left out. */
export interface Settings extends Omit<RuntimeSettings, "onEvent"> {
  readonly model?: string;
  readonly variant?: string;
  readonly batchTokens?: number;
}

export type SettingName = keyof Settings;

const targets = z.union([z.string(), z.array(z.string())]);

const wish = {
  policy: z
    .enum(policies)
    .describe(
      'How candidates are ordered: "priority" by the order of backends, "manifest" by what the model names, and nothing else.',
    ),
  priority: z.array(z.string()).describe('Order of backends under the policy "priority".'),
  prefer: targets.describe("Targets to try first; the others remain as fallbacks."),
  target: targets.describe("The only targets that may run; when none can, loading fails."),
  exclude: targets.describe("Targets never to run on."),
};

const modelWish = z.strictObject({
  policy: wish.policy.optional(),
  priority: wish.priority.optional(),
  prefer: wish.prefer.optional(),
  target: wish.target.optional(),
  exclude: wish.exclude.optional(),
});

/** All fields without their optionality: one line per setting, in the order of the documentation. */
export const settingFields: Readonly<Record<SettingName, z.ZodType>> = {
  model: z.string().describe('Model of commands that are given none: "builtin" or a path.'),
  variant: z.string().describe('Variant of the model, for example "int8"; left out, the first one the chosen backend can run.'),
  policy: wish.policy,
  priority: wish.priority,
  prefer: wish.prefer,
  target: wish.target,
  exclude: wish.exclude,
  models: z.record(z.string(), modelWish).describe("Wishes for single models, by the reference they are loaded with."),
  host: z
    .enum(hostNames)
    .describe(
      'Where models live: "worker" (a thread of their own) or "inline"; left out, a worker for backends that block their thread.',
    ),
  threads: z.int().positive().describe("Most threads of one model on the CPU; never more than the CPU quota."),
  graphOptimization: z
    .enum(["disabled", "basic", "extended", "all"])
    .describe("How far an engine may rewrite the graph, at most."),
  replicas: z
    .union([z.literal("auto"), z.int().positive()])
    .describe('Copies with one thread each that share bulk work; "auto" is one per core as memory allows, 1 is none.'),
  batchTokens: z.int().positive().describe("Padded tokens in one batch."),
  keepAlive: z
    .union([z.string(), z.number()])
    .describe('How long a model stays in memory after its last use: "30s", "5m", "1h"; 0 is for ever.'),
  failover: z.boolean().describe("After a failure that may pass, load on the next target and run the request once more."),
};

export const settingNames = Object.keys(settingFields) as readonly SettingName[];

/** Defaults that do not depend on the machine or the model. */
export const settingDefaults: Settings = {
  model: "builtin",
  policy: "priority",
  priority: defaultPriority,
  replicas: "auto",
  batchTokens: 512,
  keepAlive: "5m",
  failover: false,
};

export const settingsSchema: z.ZodType<Settings> = z.strictObject(settingFields).partial() as z.ZodType<Settings>;

/** The JSON schema of inferyard.yaml. */
export function settingsJsonSchema(): Record<string, unknown> {
  return { $id: "https://inferyard.dev/schemas/settings.json", title: "inferyard.yaml", ...z.toJSONSchema(settingsSchema) };
}

/** The variable that sets a setting: keepAlive -> INFERYARD_KEEP_ALIVE. */
export function environmentName(name: string): string {
  return `INFERYARD_${name.replaceAll(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase()}`;
}
