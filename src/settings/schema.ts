/**
 * Type and description of each setting. `npm run schemas` makes schemas/settings.json and the tables of docs/reference/configuration.md from this
 * file and its neighbors; links in descriptions are relative to that page. The schema library is slow to load, so this file is imported only when
 * there are settings to check.
 */
import * as z from "zod";
import { getMessage } from "../contract/errors.ts";
import { hostNames } from "../hosts/host-name.ts";
import { type OptionValues, loadLimits, loadSettings } from "../runtime/options/load-options.ts";
import { parseGpuMode, gpuModes, policies } from "../runtime/targets/constraints.ts";
import { whileCompilingModes } from "../runtime/options/runtime-settings.ts";
import { findUnknownName } from "../runtime/targets/known-names.ts";
import { duration } from "./duration-schema.ts";
import { serverSchema } from "./server-schema.ts";
import { xlaSchema } from "./xla-schema.ts";
import type { SettingName, Settings } from "./settings.ts";

const targets = z.union([z.string(), z.array(z.string())]).superRefine(refuseUnknownTargets);

/** Adds a validation issue for a list of targets that contains an unknown backend or device name. */
function refuseUnknownTargets(written: string | readonly string[], context: z.RefinementCtx): void {
  try {
    const unknown = findUnknownName(written, []);
    if (unknown !== undefined)
      context.addIssue(`names the ${unknown.kind} "${unknown.name}", and there is none of this name; ${unknown.remedy}`);
  } catch (error) {
    context.addIssue(getMessage(error));
  }
}

const size = z.union([
  z.string().regex(/^\d+(\.\d+)?\s*([kmgt]?i?b)?$/i, 'must be an amount of memory such as "500MB", "2GB" or "1.5GiB"'),
  z.int().positive(),
]);

const constraintFields = {
  policy: z
    .enum(policies)
    .describe(
      "Order of candidates: `priority`, by the order of backends; `manifest`, only the targets that the model's `inferyard.json` names; `fastest`, by what `inferyard bench --record` [measured on this machine](../guide/tuning.md).",
    ),
  priority: z
    .array(z.string())
    .min(1, "must name at least one backend, or be left out")
    .superRefine(refuseUnknownTargets)
    .describe("Order of backends under the policies `priority` and `fastest`; backends that are not named come last."),
  prefer: targets.describe("Targets to try first; the others remain as fallbacks."),
  target: targets
    .refine((written) => [written].flat().some((text) => text.trim() !== ""), "must name at least one target, or be left out")
    .describe("The only targets that may run; if none of them can, loading fails."),
  exclude: targets.describe("Targets never to run on."),
  gpu: z
    .preprocess(parseGpuMode, z.enum(gpuModes))
    .describe(
      "Use of accelerators: `auto`, whatever the other settings give; `off`, the CPU alone; a device, that one alone, of any backend: loading fails where none can use it. Short for a `target` such as `*:cuda`.",
    ),
};

const modelSettings = z.strictObject({
  policy: constraintFields.policy.optional(),
  priority: constraintFields.priority.optional(),
  prefer: constraintFields.prefer.optional(),
  target: constraintFields.target.optional(),
  exclude: constraintFields.exclude.optional(),
  gpu: constraintFields.gpu.optional(),
  ...Object.fromEntries(Object.entries(optionFields(loadSettings)).map(([name, field]) => [name, field.optional()])),
});

/** Schemas of the options of loading, by name. */
function optionFields<Name extends string>(
  options: Readonly<Record<Name, OptionValues & { readonly description: string }>>,
): Record<Name, z.ZodType> {
  const entries = Object.entries<OptionValues & { readonly description: string }>(options);
  return Object.fromEntries(entries.map(([name, option]) => [name, optionSchema(option).describe(option.description)])) as Record<
    Name,
    z.ZodType
  >;
}

function optionSchema(option: OptionValues): z.ZodType {
  switch (option.type) {
    case "positive-integer":
      return z.int().positive();
    case "boolean":
      return z.boolean();
    case "adapters":
      return z.array(z.strictObject({ path: z.string().min(1), scale: z.number().optional() })).min(1);
    case "texts":
      return z.array(z.string().min(1)).min(1);
    case "choice":
      return z.enum(Object.keys(option.choices));
    case "duration":
      return duration;
    case "size":
      return size;
  }
}

/** Schema of each setting, in the order of the documentation. The options of loading come from `load-options.ts`. */
export const settingFields: Readonly<Record<SettingName, z.ZodType>> = {
  model: z
    .string()
    .describe("Model of commands that name none: any [reference](../guide/models.md); a path is relative to the current folder."),
  variant: z
    .string()
    .describe("Variant of the model, for example `int8`. Not set: the first variant that the chosen backend can run."),
  policy: constraintFields.policy,
  priority: constraintFields.priority,
  prefer: constraintFields.prefer,
  target: constraintFields.target,
  exclude: constraintFields.exclude,
  gpu: constraintFields.gpu,
  models: z
    .record(z.string(), modelSettings)
    .describe(
      "`policy`, `priority`, `prefer`, `target`, `exclude`, `gpu` and the options of loading (`threads` to `adapters`) for single models, by reference (every spelling of a path means the same model). A map, which only the file can have.",
    ),
  host: z
    .enum(hostNames)
    .describe(
      "Where models run: `worker`, a thread per model; `process`, a child process per model, which isolates crashes of the engine and returns all memory when it ends; or `inline`, the calling thread. Not set: for backends that block their thread, a process if a memory budget is set, else a worker.",
    ),
  library: z
    .string()
    .min(1)
    .describe(
      "Path of a [llama.cpp library of your own](../guide/own-library.md), with which the target `library` runs GGUF models; a relative path is relative to the current folder. Not set: the first that the environment variable `LLAMA_CPP_DIR` leads to.",
    ),
  xla: xlaSchema.describe(
    "Settings of the backend [`xla`](../guide/xla.md), [listed below](#the-section-xla). The file has them as a map, the environment one by one.",
  ),
  ...optionFields(loadSettings),
  replicas: z
    .union([z.literal("auto"), z.int().positive()])
    .describe(
      "Number of replicas of a model, with one thread each: `auto` loads one per core for bulk work, as memory allows; a number also loads them when runs overlap; `1` disables replicas. A run goes to the replica with the least work.",
    ),
  batchTokens: z
    .int()
    .positive()
    .describe(
      "Maximum number of tokens of a batch, padding included. Larger batches take more memory; smaller ones run more often.",
    ),
  maxMemory: size.describe(
    "Maximum memory of the machine that all models may take together: `2GB`, `500MB`, `1.5GiB`, or bytes. Unused models are evicted to make room, the least recently used first. Not set: no limit; for `serve`, 80 % of the memory of the machine or of its control group.",
  ),
  maxDeviceMemory: z
    .record(z.string(), size)
    .describe(
      "Maximum memory of single devices by name (`cuda:0: 8GB`). A name that is not a device, and `cpu`, are refused; a device that this machine does not have limits nothing, so that one file serves several machines. A map, which only the file can have.",
    ),
  maxLoadedModels: z.int().positive().describe("Maximum number of models in memory, not counting replicas."),
  memoryWait: duration.describe(
    "Maximum time a load waits for memory that models in use hold, before it fails with `MEMORY_BUDGET`.",
  ),
  keepAlive: duration.describe(
    "Time a model stays in memory after its last use: `30s`, `5m`, `1h`, or milliseconds. `0`: for ever.",
  ),
  failover: z
    .boolean()
    .describe(
      "Whether, after a transient failure of a run, the model is loaded on the next target and the request is run again.",
    ),
  whileCompiling: z
    .enum(whileCompilingModes)
    .describe(
      "What a request does whose first target has to compile the model, as [`xla`](../guide/xla.md#while-a-model-is-compiled) does: `wait` until it is compiled, or be served by the `next` target that compiles nothing, while the model is compiled beside it for later requests. A request that permits no other target waits.",
    ),
  maxProcessMemory: size.describe(
    "Maximum memory of the process of one model: `2GB`, `500MB`, or bytes. A process that holds more is [replaced between two calls](../guide/serving.md#processes-of-models), without losing requests. If set, models of backends that block their thread run in processes.",
  ),
  turnTokens: z
    .int()
    .positive()
    .describe(
      "Tokens of a turn of a text, where a language model has more clients than sequences that run at once: then the text is parked for that of another client ([more](../guide/serving.md#texts-of-several-clients)).",
    ),
  reservedSequences: z
    .int()
    .min(0)
    .describe(
      "Sequences of a language model that a client without running texts gets at once, for the first turn of a text, though no turn of another client is over. Others use them meanwhile.",
    ),
  maxParkedMemory: size.describe(
    "Maximum memory of the caches of the parked texts of one language model: `1GiB`, `500MB`, or bytes. A cache beyond it is dropped, and computed again when the text goes on.",
  ),
  unlistedMembers: z
    .boolean()
    .describe(
      "Whether texts by a JSON schema, and arguments of tools, may have members that the schema does not list, as the specification allows where `additionalProperties` is left out ([more](../guide/structured-output.md#json-schema)). Requests may say otherwise.",
    ),
  ...optionFields(loadLimits),
  maxCrashes: z
    .int()
    .positive()
    .describe(
      "Number of crashes of a model's thread or process within `crashWindow` that open the circuit: the model is not started on that target for the same time, and calls fail with `CIRCUIT_OPEN` or, while loading, use the next target.",
    ),
  crashWindow: duration.describe("Time over which crashes are counted, and for which the circuit stays open."),
  loadTimeout: duration.describe(
    "Maximum time to load a model on one target, including verification, without download and waiting for memory. `0`: no limit. After it the model's process is killed, which counts as a crash (`maxCrashes`), and the next target is tried.",
  ),
  runTimeout: duration.describe(
    "Maximum time of one run: one batch, or one call with tensors. `0`: no limit. A longer one [is a hang](../guide/serving.md#processes-of-models): the model's process is killed, which counts as a crash, its calls fail with `HOST_DIED`, and the next call starts a new process. Not set: no limit; for `serve`, the longest `requestTimeout`.",
  ),
  offline: z
    .boolean()
    .describe(
      "Whether downloads are disabled: a model that is not on this machine is then an error. `HF_HUB_OFFLINE=1` has the same effect where this setting is not set.",
    ),
  server: serverSchema.describe(
    "Settings of [`serve`](../guide/serving.md), [listed below](#the-section-server). The file has them as a map, the environment one by one; other commands ignore them.",
  ),
};

/** Schema of all settings. */
export const settingsSchema: z.ZodType<Settings> = z.strictObject(settingFields).partial() as z.ZodType<Settings>;

/** The JSON schema of inferyard.yaml. Links are removed from the descriptions, since editors show them. */
export function settingsJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsSchema, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.description !== undefined)
        jsonSchema.description = jsonSchema.description.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
    },
  });
  return { title: "inferyard.yaml", ...schema };
}
