/**
 * What each setting takes and does. The JSON schema in `schemas/settings.json` is made from this file, and a test holds the two together.
 * Imported only when there is something to check: the schema library takes longer to load than the rest of the command line.
 */
import * as z from "zod";
import { hostNames } from "../hosts/host.ts";
import { policies } from "../runtime/wish.ts";
import { duration } from "./duration-schema.ts";
import { serverSchema } from "./server-schema.ts";
import type { SettingName, Settings } from "./settings.ts";

const targets = z.union([z.string(), z.array(z.string())]);

const size = z.union([
  z.string().regex(/^\d+(\.\d+)?\s*([kmgt]?i?b)?$/i, 'must be an amount of memory such as "500MB", "2GB" or "1.5GiB"'),
  z.int().positive(),
]);

const wish = {
  policy: z
    .enum(policies)
    .describe(
      'How candidates are ordered: "priority" by the order of backends, "manifest" by what the model names, and nothing else, "fastest" by what `inferyard bench --record` measured on this machine.',
    ),
  priority: z.array(z.string()).describe('Order of backends under the policies "priority" and "fastest".'),
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
  model: z.string().describe('Model of commands that are given none: "builtin", a path, hf:owner/name, or a name in the store.'),
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
      'Where models live: "worker" (a thread of their own), "process" (a child process of their own) or "inline"; left out, backends that block their thread get a process where a memory budget is set, else a worker.',
    ),
  threads: z.int().positive().describe("Most threads of one model on the CPU; never more than the CPU quota."),
  graphOptimization: z
    .enum(["disabled", "basic", "extended", "all"])
    .describe("How far an engine may rewrite the graph, at most."),
  cpuNodes: z
    .enum(["refuse", "allow"])
    .describe("On other devices than the CPU: whether single nodes the device cannot run may be computed on the CPU."),
  memoryPattern: z
    .boolean()
    .describe("Whether the engine may lay out the memory of a run beforehand, and hold a block for each set of shapes."),
  memoryArena: z.boolean().describe("Whether the engine may keep memory between runs instead of giving it back."),
  replicas: z
    .union([z.literal("auto"), z.int().positive()])
    .describe(
      'Copies with one thread each that share the work: "auto" is one per core as memory allows, for bulk work; a number is so many, for overlapping runs as well; 1 is none.',
    ),
  batchTokens: z.int().positive().describe("Padded tokens in one batch."),
  maxMemory: size.describe('Most memory of the machine that all models may take together: "2GB", "500MB", or bytes.'),
  maxDeviceMemory: z
    .record(z.string(), size)
    .describe('Most memory of single devices that all models may take together, by device: { "cuda:0": "8GB" }.'),
  maxLoadedModels: z.int().positive().describe("Most models in memory at once; copies for bulk work are not counted."),
  memoryWait: duration.describe("How long a load waits for models in use to leave when the budget is full."),
  keepAlive: duration.describe('How long a model stays in memory after its last use: "30s", "5m", "1h"; 0 is for ever.'),
  failover: z.boolean().describe("After a failure that may pass, load on the next target and run the request once more."),
  maxProcessMemory: size.describe("Most memory of one model's process; one that holds more is replaced between two calls."),
  maxCrashes: z
    .int()
    .positive()
    .describe(
      "So many deaths of a model's thread or process within crashWindow are a crash loop: the model is left alone for as long.",
    ),
  crashWindow: duration.describe("How long deaths are counted, and how long a model in a crash loop is left alone."),
  offline: z.boolean().describe("Fetch nothing: a model that is not on this machine is an error."),
  server: serverSchema.describe("What `inferyard serve` does; other commands have no use for it."),
};

export const settingsSchema: z.ZodType<Settings> = z.strictObject(settingFields).partial() as z.ZodType<Settings>;

/** The JSON schema of inferyard.yaml. */
export function settingsJsonSchema(): Record<string, unknown> {
  return { title: "inferyard.yaml", ...z.toJSONSchema(settingsSchema) };
}
