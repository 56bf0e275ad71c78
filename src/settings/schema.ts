/**
 * What each setting takes and does. `npm run schemas` makes the JSON schema in `schemas/settings.json` and the tables in
 * docs/reference/configuration.md from this file and its neighbours, and tests hold them together; links count from that page.
 * Imported only when there is something to check: the schema library takes longer to load than the rest of the command line.
 */
import * as z from "zod";
import { hostNames } from "../hosts/host.ts";
import { policies } from "../runtime/selection/constraints.ts";
import { duration } from "./duration-schema.ts";
import { serverSchema } from "./server-schema.ts";
import type { SettingName, Settings } from "./settings.ts";

const targets = z.union([z.string(), z.array(z.string())]);

const size = z.union([
  z.string().regex(/^\d+(\.\d+)?\s*([kmgt]?i?b)?$/i, 'must be an amount of memory such as "500MB", "2GB" or "1.5GiB"'),
  z.int().positive(),
]);

const constraintFields = {
  policy: z
    .enum(policies)
    .describe(
      "How candidates are ordered: `priority` by the order of backends, `manifest` by what the model's `inferyard.json` names, and nothing else, `fastest` by what `inferyard bench --record` [measured on this machine](../guide/tuning.md).",
    ),
  priority: z
    .array(z.string())
    .describe("The order of backends under the policies `priority` and `fastest`; backends left out come after those named."),
  prefer: targets.describe("Targets that are tried first; the others remain as fallbacks."),
  target: targets.describe("The only targets that may run; when none of them can, loading fails."),
  exclude: targets.describe("Targets on which nothing runs."),
};

const modelConstraints = z.strictObject({
  policy: constraintFields.policy.optional(),
  priority: constraintFields.priority.optional(),
  prefer: constraintFields.prefer.optional(),
  target: constraintFields.target.optional(),
  exclude: constraintFields.exclude.optional(),
});

/** All fields without their optionality: one line per setting, in the order of the documentation. */
export const settingFields: Readonly<Record<SettingName, z.ZodType>> = {
  model: z
    .string()
    .describe(
      "The model of a command that is given none: any [reference](../guide/models.md); a path counts from the current folder.",
    ),
  variant: z
    .string()
    .describe(
      "Which weights of the model are used, for example `int8`; not set, the first variant that the chosen backend can run.",
    ),
  policy: constraintFields.policy,
  priority: constraintFields.priority,
  prefer: constraintFields.prefer,
  target: constraintFields.target,
  exclude: constraintFields.exclude,
  models: z
    .record(z.string(), modelConstraints)
    .describe(
      "`policy`, `priority`, `prefer`, `target` and `exclude` for single models, by their references (every spelling of a path means the same model); a map, so it stands in the file only.",
    ),
  host: z
    .enum(hostNames)
    .describe(
      "Where models live: `worker`, a thread of their own; `process`, a child process of their own, which survives an engine that aborts and gives all memory back; or `inline`, the calling thread. Not set: for backends that block their thread a process where a memory budget is set, else a worker.",
    ),
  threads: z
    .int()
    .positive()
    .describe(
      "The most threads one model computes with on the CPU; never more than the CPU quota, which is also what it gets when not set. A target whose engine has no such setting is refused.",
    ),
  graphOptimization: z
    .enum(["disabled", "basic", "extended", "all"])
    .describe(
      "How far an engine may rewrite the graph, at most: `disabled`, `basic`, `extended` or `all`; not set, the engine's own default. A target whose engine has no such setting is refused.",
    ),
  cpuNodes: z
    .enum(["refuse", "allow"])
    .describe(
      "On devices other than the CPU: whether single nodes that the device cannot run may be computed on the CPU: `refuse` (what happens when not set: the load fails) or `allow` (the evidence says how many nodes ran where).",
    ),
  memoryPattern: z
    .boolean()
    .describe(
      "Whether the engine may lay out the memory of a run beforehand; it then holds a block for each set of shapes. `false` takes less memory with large batches ([measured](../guide/tuning.md#knobs)). A target whose engine has no such setting (`wasm`, `onnx` on other devices than the CPU) is refused.",
    ),
  memoryArena: z
    .boolean()
    .describe(
      "Whether the engine may keep memory between runs. `false` gives it back after each run, and runs are slower ([measured](../guide/tuning.md#knobs)). A target whose engine has no such setting is refused, as with `memoryPattern`.",
    ),
  replicas: z
    .union([z.literal("auto"), z.int().positive()])
    .describe(
      "How many copies of a model, with one thread each, share the work: `auto` is one per core as memory allows, loaded for bulk work; a number is so many, loaded when runs overlap as well; `1` is none. A run goes to the copy with the least to do.",
    ),
  batchTokens: z
    .int()
    .positive()
    .describe("Padded tokens in one batch: more of them takes more memory, fewer of them runs more often."),
  maxMemory: size.describe(
    "The most memory of the machine that all models may take together: `2GB`, `500MB`, `1.5GiB`, or bytes. Models that nobody uses leave to make room, the least recently used first; not set, there is no limit, but for `serve`, which takes 80 % of the machine's memory, or of its control group's.",
  ),
  maxDeviceMemory: z
    .record(z.string(), size)
    .describe("The same for the memory of single devices, by their names (`cuda:0: 8GB`); a map, so it stands in the file only."),
  maxLoadedModels: z.int().positive().describe("The most models in memory at once; copies for bulk work are not counted."),
  memoryWait: duration.describe(
    "How long a load waits for models in use to leave when the budget is full, before it is refused with `MEMORY_BUDGET`.",
  ),
  keepAlive: duration.describe(
    "How long a model stays in memory after its last use: `30s`, `5m`, `1h`, or milliseconds; `0` is for ever.",
  ),
  failover: z
    .boolean()
    .describe("`true`: after a failure that may pass, the model is loaded on the next target and the request is run once more."),
  maxProcessMemory: size.describe(
    "The most memory of one model's process: `2GB`, `500MB`, or bytes. One that holds more is [replaced between two calls](../guide/serving.md#processes-of-models), and no request is lost. Set, models of backends that block their thread live in processes.",
  ),
  maxRunMemory: size.describe(
    "The most memory one run may take beside the weights, by an [estimate](../guide/tuning.md#memory-of-a-run) from the shapes of its inputs: `2GB`, `500MB`, or bytes. A batch whose rows do not depend on each other is split into smaller ones; what cannot be split is refused with `LIMIT_EXCEEDED`. Not set, there is no limit; `serve` takes a quarter of the machine's memory.",
  ),
  maxTraceTime: duration.describe(
    "How long our own engine may take to turn a model into a program for inputs of certain shapes; a second more for each 8 million elements of the weights. A model that takes longer is refused on `native`, and the next target is tried.",
  ),
  maxTraceMemory: size.describe(
    "The most memory our own engine may hold while it turns a model into a program; 16 bytes more for each element of the weights. A model that takes more is refused on `native`, and the next target is tried.",
  ),
  maxCrashes: z
    .int()
    .positive()
    .describe(
      "So many deaths of a model's thread or process within `crashWindow` are a crash loop: the model is left alone on that target for as long, and calls end with `CIRCUIT_OPEN` or, while loading, take the next target.",
    ),
  crashWindow: duration.describe("How long deaths are counted, and how long a model in a crash loop is left alone."),
  loadTimeout: duration.describe(
    "The longest load of a model on one target, verification included, download and waiting for memory excluded; `0` is no limit. After it the model's process is killed, which counts as a death (`maxCrashes`), and the next target is tried.",
  ),
  runTimeout: duration.describe(
    "The longest run of a model: one batch, or one call with tensors; `0` is no limit. A longer one [is a hang](../guide/serving.md#processes-of-models): the model's process is killed, which counts as a death, its calls end with `HOST_DIED`, and the next call starts another. Not set: no limit; under `serve` the longest `requestTimeout`.",
  ),
  offline: z
    .boolean()
    .describe(
      "`true`: nothing is fetched, and a model that is not on this machine is an error. `HF_HUB_OFFLINE=1` means the same where this setting is left alone.",
    ),
  server: serverSchema.describe(
    "What [`serve`](../guide/serving.md) does, [setting by setting](#the-section-server); the file has it as a map, the environment setting by setting, and other commands have no use for it.",
  ),
};

export const settingsSchema: z.ZodType<Settings> = z.strictObject(settingFields).partial() as z.ZodType<Settings>;

/** The JSON schema of inferyard.yaml. Editors show it, and links of the documentation lead nowhere there. */
export function settingsJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsSchema, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.description !== undefined)
        jsonSchema.description = jsonSchema.description.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
    },
  });
  return { title: "inferyard.yaml", ...schema };
}
