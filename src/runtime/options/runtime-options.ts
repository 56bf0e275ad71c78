/**
 * The settings of a runtime that inferyard.yaml has, too: one row for each, in the order of the documentation. From it come names, checks, defaults, types
 * (`generated-runtime-options.ts`), variables, flags, the JSON schema, and the table of docs/reference/configuration.md.
 *
 * A new setting needs a row here, and `npm run schemas`. Settings that only programs have are members of `RuntimeSettings`.
 */
import { hostNames } from "../../hosts/host-name.ts";
import { placements } from "../../models/placement.ts";
import { type ConstraintOptions, defaultPriority, parseGpuMode, gpuModes, policies } from "../targets/constraints.ts";
import type { RuntimeDefaults, RuntimeOptions } from "./generated-runtime-options.ts";
import {
  type DescribedOption,
  boolean,
  choice,
  duration,
  getDefaults,
  listOption,
  positiveInteger,
  size,
  unchecked,
  zeroOrMore,
} from "./option.ts";

/** The placement constraints. */
export const constraintOptions: { readonly [Name in keyof Required<ConstraintOptions>]: DescribedOption } = {
  policy: {
    type: choice(policies),
    default: "priority",
    flag: ["--policy <policy>", "how candidates are ordered"],
    description:
      "Order of candidates: `priority`, by the order of backends; `manifest`, only the targets that the model's `inferyard.json` names; `fastest`, by what `inferyard bench --record` [measured on this machine](../guide/tuning.md).",
  },
  priority: {
    type: listOption,
    default: defaultPriority,
    flag: ["--priority <backends>", "order of backends, separated by commas"],
    description: "Order of backends under the policies `priority` and `fastest`; backends that are not named come last.",
  },
  prefer: {
    type: { kind: "targets" },
    flag: ["--prefer <targets>", "targets to try first"],
    description: "Targets to try first; the others remain as fallbacks.",
  },
  target: {
    type: { kind: "targets" },
    flag: ["--target <targets>", "the only targets that may run, for example onnx:cpu"],
    description: "The only targets that may run; if none of them can, loading fails.",
  },
  exclude: {
    type: { kind: "targets" },
    flag: ["--exclude <targets>", "targets never to run on"],
    description: "Targets never to run on.",
  },
  gpu: {
    type: { kind: "choice", values: gpuModes, read: parseGpuMode },
    flag: ["--gpu <mode>", "use of accelerators: auto, off, or the device to use"],
    description:
      "Use of accelerators: `auto`, whatever the other settings give; `off`, the CPU alone; a device, that one alone, of any backend: loading fails where none can use it. Short for a `target` such as `*:cuda`.",
  },
};

/** All others. */
export const runtimeOptions: Readonly<Record<keyof RuntimeOptions, DescribedOption>> = {
  host: {
    type: choice(hostNames),
    flag: ["--host <host>", "where the model runs"],
    description:
      "Where models run: `worker`, a thread per model; `process`, a child process per model, which isolates crashes of the engine and returns all memory when it ends; or `inline`, the calling thread. Not set: for backends that block their thread, a process if a memory budget is set, else a worker.",
  },
  replicas: {
    type: { kind: "integer", min: 1, word: "auto" },
    default: "auto",
    flag: ["--replicas <number>", 'number of replicas of the model, or "auto"'],
    description:
      "Number of replicas of a model, with one thread each: `auto` loads one per core for bulk work, as memory allows; a number also loads them when runs overlap; `1` disables replicas. A run goes to the replica with the least work. Replicas that had no run for 6 s are unloaded.",
  },
  placement: {
    type: choice(["one-device", ...placements]),
    description:
      "How a model is distributed over the devices of a machine: `pool`, `round-robin` and `data-parallel` load a replica on each device of the chosen kind, and runs go to the one with the least work, or to each in turn; with `pipeline` and `tensor-parallel` several processes compute one instance together ([ranks](../guide/ranks.md)), which models that are not ONNX files on `native` refuse; `one-device` ignores what a package states. Not set: what the package states, else one device.",
  },
  ranks: {
    type: { kind: "integer", min: 2, max: 256 },
    default: 2,
    description: "Number of processes that compute one instance of a model with the placements `pipeline` and `tensor-parallel`.",
  },
  maxMemory: {
    type: size,
    flag: ["--max-memory <size>", "maximum memory of all models together, for example 2GB"],
    description:
      "Maximum memory of the machine that all models may take together: `2GB`, `500MB`, `1.5GiB`, or bytes. Unused models are evicted to make room, the least recently used first. Not set: no limit; for `serve`, 80 % of the memory of the machine or of its control group.",
  },
  maxDeviceMemory: {
    type: unchecked,
    typescript: "Readonly<Record<string, number | string>>",
    description:
      "Maximum memory of single devices by name (`cuda:0: 8GB`). A name that is not a device, and `cpu`, are refused; a device that this machine does not have limits nothing, so that one file serves several machines. A map, which only the file can have.",
  },
  maxLoadedModels: {
    type: positiveInteger,
    description: "Maximum number of models in memory, not counting replicas.",
  },
  memoryWait: {
    type: duration,
    default: "30s",
    description: "Maximum time a load waits for memory that models in use hold, before it fails with `MEMORY_BUDGET`.",
  },
  keepAlive: {
    type: duration,
    default: "5m",
    description: "Time a model stays in memory after its last use: `30s`, `5m`, `1h`, or milliseconds. `0`: for ever.",
  },
  failover: {
    type: boolean,
    default: false,
    description:
      "Whether, after a transient failure of a run, the model is loaded on the next target and the request is run again.",
  },
  whileCompiling: {
    type: choice(["wait", "next"]),
    default: "wait",
    description:
      "What a request does whose first target has to compile the model, as [`xla`](../guide/xla.md#while-a-model-is-compiled) does: `wait` until it is compiled, or be served by the `next` target that compiles nothing, while the model is compiled beside it for later requests. A request that permits no other target waits.",
  },
  maxProcessMemory: {
    type: size,
    description:
      "Maximum memory of the process of one model: `2GB`, `500MB`, or bytes. A process that holds more is [replaced between two calls](../guide/serving.md#processes-of-models), without losing requests. If set, models of backends that block their thread run in processes.",
  },
  maxProcessGrowth: {
    type: size,
    default: "1GB",
    description:
      "Memory by which the process of one model may grow beyond what it held once it was loaded: `1GB`, `500MB`, or bytes. A process that has grown further is [replaced by another one](../guide/serving.md#processes-of-models) when its model was idle for `growthIdle`: memory of WebAssembly and arenas of engines never shrink.",
  },
  growthIdle: {
    type: duration,
    default: "1m",
    description:
      "Time without a call after which a process that has grown by more than `maxProcessGrowth` is replaced. `0`: never.",
  },
  turnTokens: {
    type: positiveInteger,
    default: 64,
    description:
      "Tokens of a turn of a text, where a language model has more clients than sequences that run at once: then the text is parked for that of another client ([more](../guide/serving.md#texts-of-several-clients)).",
  },
  reservedSequences: {
    type: zeroOrMore,
    default: 1,
    description:
      "Sequences of a language model that a client without running texts gets at once, for the first turn of a text, though no turn of another client is over. Others use them meanwhile.",
  },
  maxParkedMemory: {
    type: size,
    default: "1GiB",
    description:
      "Maximum memory of the caches of the parked texts of one language model: `1GiB`, `500MB`, or bytes. A cache beyond it is dropped, and computed again when the text goes on.",
  },
  unlistedMembers: {
    type: boolean,
    default: false,
    description:
      "Whether texts by a JSON schema, and arguments of tools, may have members that the schema does not list, as the specification allows where `additionalProperties` is left out ([more](../guide/structured-output.md#json-schema)). Requests may say otherwise.",
  },
  maxRunMemory: {
    type: size,
    description:
      "Maximum memory of one run besides the weights, by an [estimate](../guide/tuning.md#memory-of-a-run) from the shapes of its inputs: `2GB`, `500MB`, or bytes. A batch of independent rows is split; a run that cannot be split fails with `LIMIT_EXCEEDED`. Not set: no limit; for `serve`, a quarter of the machine's memory.",
  },
  maxPictureMemory: {
    type: size,
    default: "512MiB",
    description:
      "Maximum memory of decoded pictures at a time, counted as 8 bytes a pixel: `1GiB`, `500MB`, or bytes. Further pictures wait in the order of their calls; one that takes more alone fails with `LIMIT_EXCEEDED`.",
  },
  maxTraceTime: {
    type: duration,
    default: "30s",
    description:
      "Maximum time the native engine may take to compile a model for one set of input shapes, plus one second per 8 million elements of the weights. A model that takes longer is refused on `native`, and the next target is tried.",
  },
  maxTraceMemory: {
    type: size,
    default: "512MiB",
    description:
      "Maximum memory the native engine may hold while it compiles a model, plus 16 bytes per element of the weights. A model that takes more is refused on `native`, and the next target is tried.",
  },
  maxCrashes: {
    type: positiveInteger,
    default: 5,
    description:
      "Number of crashes of a model's thread or process within `crashWindow` that open the circuit: the model is not started on that target for the same time, and calls fail with `CIRCUIT_OPEN` or, while loading, use the next target.",
  },
  crashWindow: {
    type: duration,
    default: "1m",
    description: "Time over which crashes are counted, and for which the circuit stays open.",
  },
  loadTimeout: {
    type: duration,
    default: "10m",
    description:
      "Maximum time to load a model on one target, including verification, without download and waiting for memory. `0`: no limit. After it the model's process is killed, which counts as a crash (`maxCrashes`), and the next target is tried.",
  },
  runTimeout: {
    type: duration,
    description:
      "Maximum time of one run: one batch, or one call with tensors. `0`: no limit. A longer one [is a hang](../guide/serving.md#processes-of-models): the model's process is killed, which counts as a crash, its calls fail with `HOST_DIED`, and the next call starts a new process. Not set: no limit; for `serve`, the longest `requestTimeout`.",
  },
  offline: {
    type: boolean,
    default: false,
    flag: ["--offline", "disable downloads: a model that is not on this machine is an error"],
    description:
      "Whether downloads are disabled: a model that is not on this machine is then an error. `HF_HUB_OFFLINE=1` has the same effect where this setting is not set.",
  },
};

/** Names of the placement constraints. */
export const constraintNames: readonly (keyof ConstraintOptions)[] = Object.keys(
  constraintOptions,
) as (keyof ConstraintOptions)[];

/** Defaults of those that have one. */
export const runtimeDefaults: RuntimeDefaults = getDefaults(runtimeOptions) as RuntimeDefaults;
