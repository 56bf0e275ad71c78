/**
 * The options of loading: one row for each, from which come their names, checks, settings, variables, flags, JSON schema and the
 * rows of docs/reference/configuration.md. The types are those of the contract; the compiler requires a row for each member.
 *
 * A new option needs a member in `LoadSettings` or `LoadLimits` (and `LimitSettings`), a row here, and `npm run schemas`.
 */
import type { LoadLimits, LoadSettings, LoraAdapter } from "../../contract/backend.ts";

/** Values that an option may have. */
export type OptionValues =
  | { readonly type: "positive-integer" | "boolean" }
  /** A list of adapters; as text "PATH" or "PATH=SCALE", separated by commas. */
  | { readonly type: "adapters" }
  /** A list of texts; as text separated by commas. */
  | { readonly type: "texts" }
  /** One of the keys of `choices`. A record, so that the compiler requires all of them. */
  | { readonly type: "choice"; readonly choices: Readonly<Record<string, true>> }
  /** Milliseconds, or a text such as "30s". */
  | { readonly type: "duration" }
  /** Bytes, or a text such as "512MiB". */
  | { readonly type: "size" };

/** The values of an option whose type in the contract is `Value`. */
type ValuesOf<Value> = [Value] extends [boolean]
  ? { readonly type: "boolean" }
  : [Value] extends [number]
    ? { readonly type: "positive-integer" }
    : [Value] extends [readonly LoraAdapter[]]
      ? { readonly type: "adapters" }
      : [Value] extends [readonly string[]]
        ? { readonly type: "texts" }
        : { readonly type: "choice"; readonly choices: Readonly<Record<Value & string, true>> };

/** Documentation of an option. */
interface OptionText {
  /** What changes if it is set. Markdown on one line; links are relative to docs/reference/configuration.md. */
  readonly description: string;
}

/**
 * Models that a load setting affects. "all": every model. "language": models loaded as language models. "i2s": models with weights in I2_S. "tables":
 * models with weights in TL1 or TL2. "kernels": models with quantized weights that the kernels named by the setting multiply.
 */
export type OptionScope = "all" | "language" | "i2s" | "tables" | "kernels";

/** A load setting of the contract. `Value`: its type. */
export type LoadSettingRow<Value> = OptionText &
  ValuesOf<Value> & {
    readonly scope: OptionScope;
    /** Its flag: the name of the value, and the sentence in the help. */
    readonly flag: { readonly value: string; readonly help: string };
  };

/** A limit of one model file and one run. */
export type LoadLimitRow = OptionText & {
  readonly type: "duration" | "size";
  /** Default, as a user would write it. Undefined: no limit. */
  readonly default?: string;
};

/** All load settings, in the order of the documentation. */
export const loadSettings: { readonly [Name in keyof LoadSettings]-?: LoadSettingRow<NonNullable<LoadSettings[Name]>> } = {
  threads: {
    type: "positive-integer",
    scope: "all",
    description:
      "Maximum number of CPU threads of one model, at most the CPU quota. Not set: the quota. Targets whose engine has no such setting are refused.",
    flag: { value: "number", help: "maximum CPU threads of one model" },
  },
  graphOptimization: {
    type: "choice",
    scope: "all",
    choices: { disabled: true, basic: true, extended: true, all: true },
    description:
      "Maximum level of graph optimization: `disabled`, `basic`, `extended` or `all` ([what each does](../guide/tuning.md#levels-of-graph-optimization)). Not set: `all`. Targets whose engine has no such setting are refused.",
    flag: { value: "level", help: "maximum level of graph optimization" },
  },
  cpuNodes: {
    type: "choice",
    scope: "all",
    choices: { refuse: true, allow: true },
    description:
      "On devices other than the CPU: whether graph nodes that the device does not support may run on the CPU: `refuse` (the default: the load fails) or `allow` (the evidence says how many nodes ran where).",
    flag: { value: "how", help: "on devices other than the CPU: nodes that the device does not support" },
  },
  memoryPattern: {
    type: "boolean",
    scope: "all",
    description:
      "Whether the engine may plan the memory of a run in advance; it then holds a block per set of input shapes. `false` takes less memory with large batches ([measured](../guide/tuning.md#knobs)). Targets whose engine has no such setting (`native`, `wasm`, and `onnx` on devices other than the CPU) are refused.",
    flag: { value: "yes", help: "whether the engine may plan the memory of a run in advance" },
  },
  memoryArena: {
    type: "boolean",
    scope: "all",
    description:
      "Whether the engine may keep memory between runs. `false` releases it after each run, and runs are slower ([measured](../guide/tuning.md#knobs)). Targets whose engine has no such setting are refused, as with `memoryPattern`.",
    flag: { value: "yes", help: "whether the engine may keep memory between runs" },
  },
  contextLength: {
    type: "positive-integer",
    scope: "language",
    description:
      "Maximum number of tokens of a text of a language model, prompt and answer together. Not set: what the model states. A model is refused, with the numbers, if its weights and the cache of one such text do not fit into the free memory, `maxMemory` or the memory of the device ([more](../guide/gguf.md#memory)).",
    flag: { value: "tokens", help: "maximum tokens of a text of a language model, prompt and answer together" },
  },
  allowSmallerContext: {
    type: "boolean",
    scope: "language",
    description:
      "Whether the context of a language model may be shortened to what fits into the memory; the decision then says so. Not set: a model whose context does not fit is refused.",
    flag: { value: "yes", help: "whether the context of a language model may be shortened to what fits into the memory" },
  },
  cachePrecision: {
    type: "choice",
    scope: "language",
    choices: { fp32: true, fp16: true },
    description:
      "Precision of the keys and values that a language model keeps of each token: `fp32` or `fp16`. Not set: `fp32` on `native`; on `llamacpp` `fp16`, but `fp32` for models in single precision. Targets that do not have it are refused.",
    flag: { value: "precision", help: "precision of the keys and values that a language model keeps" },
  },
  i2sLayout: {
    type: "choice",
    scope: "i2s",
    choices: { x86: true, "x86-interleaved": true, arm: true },
    description:
      "Order of the codes of weights in I2_S (BitNet), which depends on the machine that wrote the file: `x86`, `x86-interleaved` or `arm` ([more](../guide/gguf.md#layouts-of-i2_s)). Not set: what the file states, or the one with which the model's known answers hold, else `x86`. Targets that do not read I2_S are refused.",
    flag: { value: "order", help: "order of the codes of weights in I2_S" },
  },
  kernels: {
    type: "texts",
    scope: "kernels",
    description:
      'Kernels for quantized weights that are preferred to the engine\'s own choice, as a list of ids, the most preferred first: `[I2S_QK256_Scalar]` ([all kernels](kernels.md)). `*` stands for any characters: `["*_AVX2"]` prefers such a kernel for every format that has one. In the variable and the flag separated by commas. The list is one of fallbacks: the first that can be used is, and it is refused where none can, since none is built, this machine runs none, or their self-tests fail. Models with different kernels are different loaded models. Targets whose engine has no such setting are refused ([more](../guide/kernels.md)).',
    flag: {
      value: "ids",
      help: "kernels for quantized weights that are preferred, separated by commas; *_AVX2: such kernels of every format",
    },
  },
  tlTiles: {
    type: "texts",
    scope: "tables",
    description:
      "Tiles of matrices in TL1 and TL2 (BitNet), which depend on the kernels of the bitnet.cpp that wrote the file: a list of texts such as `3200x8640=160/96/32`, which are rows and columns of a matrix, then `bm`, `bk` and `bmm` of its kernel_config.ini ([more](../guide/gguf.md#tl1-and-tl2)). Not set: those that BitNet's setup_env.py has for the shape; other shapes are refused. Targets that do not read TL1 and TL2 are refused.",
    flag: { value: "tiles", help: "tiles of matrices in TL1 and TL2: ROWSxCOLUMNS=BM/BK/BMM, separated by commas" },
  },
  adapters: {
    type: "adapters",
    scope: "language",
    description:
      "LoRA adapters of a language model, as GGUF files: a list of `path` and `scale` (the factor of the adapter's change of the weights; not set: 1). In the variable and the flag `PATH` or `PATH=SCALE`, separated by commas. Models with different adapters are different loaded models. Targets whose engine does not apply them are refused ([more](../guide/gguf.md#adapters)).",
    flag: { value: "paths", help: "LoRA adapters of a language model: PATH or PATH=SCALE, separated by commas" },
  },
};

/** All limits of one model file and one run, in the order of the documentation. */
export const loadLimits: { readonly [Name in keyof LoadLimits]-?: LoadLimitRow } = {
  maxRunMemory: {
    type: "size",
    description:
      "Maximum memory of one run besides the weights, by an [estimate](../guide/tuning.md#memory-of-a-run) from the shapes of its inputs: `2GB`, `500MB`, or bytes. A batch of independent rows is split; a run that cannot be split fails with `LIMIT_EXCEEDED`. Not set: no limit; for `serve`, a quarter of the machine's memory.",
  },
  maxTraceTime: {
    type: "duration",
    default: "30s",
    description:
      "Maximum time the native engine may take to compile a model for one set of input shapes, plus one second per 8 million elements of the weights. A model that takes longer is refused on `native`, and the next target is tried.",
  },
  maxTraceMemory: {
    type: "size",
    default: "512MiB",
    description:
      "Maximum memory the native engine may hold while it compiles a model, plus 16 bytes per element of the weights. A model that takes more is refused on `native`, and the next target is tried.",
  },
};

/** Names of the load settings of the backend contract. */
export const loadSettingNames: readonly (keyof LoadSettings)[] = Object.keys(loadSettings) as (keyof LoadSettings)[];

/** Names of the limits of one model file and one run. */
export const loadLimitNames: readonly (keyof LoadLimits)[] = Object.keys(loadLimits) as (keyof LoadLimits)[];

/** Values that an option may have if it is a choice or a boolean; undefined for numbers, durations, sizes and adapters. */
export function listedValues(option: OptionValues): readonly (string | boolean)[] | undefined {
  if (option.type === "choice") return Object.keys(option.choices);
  return option.type === "boolean" ? [true, false] : undefined;
}
