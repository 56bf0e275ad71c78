/**
 * The options of loading: one row for each, from which come their names, checks, settings, variables, flags, JSON schema and the
 * rows of docs/reference/configuration.md, and the types of the contract: a new option is a row here, and `npm run schemas`.
 */
import type { LoadSettings } from "../../contract/backend.ts";
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { type DescribedOption, boolean, choice, positiveInteger } from "./option.ts";

/**
 * Models that a load setting affects. "all": every model. "language": models loaded as language models. "i2s": models with weights in I2_S. "tables":
 * models with weights in TL1 or TL2. "kernels": models with quantized weights that the kernels named by the setting multiply.
 */
export type OptionScope = "all" | "language" | "i2s" | "tables" | "kernels";

/** A load setting. */
export interface LoadSettingOption extends DescribedOption {
  readonly scope: OptionScope;
  /** The only engine that has it. Default: engines share it. */
  readonly engine?: "native";
  /** Whether other engines obey it as well, since it limits what its own engine does and they do nothing of the kind. Default: they are refused. */
  readonly isOwnLimit?: boolean;
}

/** All load settings, in the order of the documentation. */
export const loadSettings: Readonly<Record<keyof UserLoadSettings, LoadSettingOption>> = {
  threads: {
    type: positiveInteger,
    scope: "all",
    description:
      "Maximum number of CPU threads of one model, at most the CPU quota. Not set: the quota. Targets whose engine has no such setting are refused.",
    flag: ["--threads <number>", "maximum CPU threads of one model"],
  },
  graphOptimization: {
    type: choice(["disabled", "basic", "extended", "all"]),
    scope: "all",
    description:
      "Maximum level of graph optimization: `disabled`, `basic`, `extended` or `all` ([what each does](../guide/tuning.md#levels-of-graph-optimization)). Not set: `all`. Targets whose engine has no such setting are refused.",
    flag: ["--graph-optimization <level>", "maximum level of graph optimization"],
  },
  cpuNodes: {
    type: choice(["refuse", "allow"]),
    scope: "all",
    description:
      "On devices other than the CPU: whether graph nodes that the device does not support may run on the CPU: `refuse` (the default: the load fails) or `allow` (the evidence says how many nodes ran where).",
    flag: ["--cpu-nodes <how>", "on devices other than the CPU: nodes that the device does not support"],
  },
  memoryPattern: {
    type: boolean,
    scope: "all",
    description:
      "Whether the engine may plan the memory of a run in advance; it then holds a block per set of input shapes. `false` takes less memory with large batches ([measured](../guide/tuning.md#knobs)). Targets whose engine has no such setting (`native`, `wasm`, and `onnx` on devices other than the CPU) are refused.",
    flag: ["--memory-pattern <yes>", "whether the engine may plan the memory of a run in advance"],
  },
  memoryArena: {
    type: boolean,
    scope: "all",
    description:
      "Whether the engine may keep memory between runs. `false` releases it after each run, and large runs are slower ([measured](../guide/tuning.md#knobs)). Not set: yes, except where `maxRunMemory` is set, as in `serve`. Targets whose engine has no such setting are refused, as with `memoryPattern`.",
    flag: ["--memory-arena <yes>", "whether the engine may keep memory between runs"],
  },
  contextLength: {
    type: positiveInteger,
    scope: "language",
    description:
      "Maximum number of tokens of a text of a language model, prompt and answer together. Not set: what the model states. A model is refused, with the numbers, if its weights and the cache of one such text do not fit into the free memory, `maxMemory` or the memory of the device ([more](../guide/gguf.md#memory)).",
    flag: ["--context-length <tokens>", "maximum tokens of a text of a language model, prompt and answer together"],
  },
  allowSmallerContext: {
    type: boolean,
    scope: "language",
    description:
      "Whether the context of a language model may be shortened to what fits into the memory; the decision then says so. Not set: a model whose context does not fit is refused.",
    flag: [
      "--allow-smaller-context <yes>",
      "whether the context of a language model may be shortened to what fits into the memory",
    ],
  },
  cachePrecision: {
    type: choice(["fp32", "fp16"]),
    scope: "language",
    description:
      "Precision of the keys and values that a language model keeps of each token: `fp32` or `fp16`. Not set: `fp32` on `native`; on `llamacpp` `fp16`, but `fp32` for models in single precision. Targets that do not have it are refused.",
    flag: ["--cache-precision <precision>", "precision of the keys and values that a language model keeps"],
  },
  i2sLayout: {
    type: choice(["x86", "x86-interleaved", "arm"]),
    scope: "i2s",
    engine: "native",
    description:
      "Order of the codes of weights in I2_S (BitNet), which depends on the machine that wrote the file: `x86`, `x86-interleaved` or `arm` ([more](../guide/gguf.md#layouts-of-i2_s)). Not set: what the file states, or the one with which the model's known answers hold, else `x86`. Targets that do not read I2_S are refused.",
    flag: ["--i2s-layout <order>", "order of the codes of weights in I2_S"],
  },
  kernels: {
    type: { kind: "texts" },
    scope: "kernels",
    engine: "native",
    description:
      'Kernels for quantized weights that are preferred to the engine\'s own choice, as a list of ids, the most preferred first: `[I2S_QK256_Scalar]` ([all kernels](kernels.md)). `*` stands for any characters: `["*_AVX2"]` prefers such a kernel for every format that has one. In the variable and the flag separated by commas. The list is one of fallbacks: the first that can be used is, and it is refused where none can, since none is built, this machine runs none, or their self-tests fail. Models with different kernels are different loaded models. Targets whose engine has no such setting are refused ([more](../guide/kernels.md)).',
    flag: [
      "--kernels <ids>",
      "kernels for quantized weights that are preferred, separated by commas; *_AVX2: such kernels of every format",
    ],
  },
  machineCode: {
    type: choice(["off", "avx2", "avx512", "avx512vnni"]),
    scope: "all",
    engine: "native",
    isOwnLimit: true,
    description:
      "Highest level of the machine code that `native` generates for this processor: `off` (WebAssembly computes all kernels), `avx2`, `avx512` or `avx512vnni`. Not set: the highest that the processor has. Machine code needs Linux on x86-64; elsewhere, and where the system refuses it, WebAssembly computes all kernels and the evidence says why ([more](../guide/machine-code.md)). Results in float32 differ in their last bits between levels.",
    flag: ["--machine-code <level>", "highest level of the machine code that native generates; off: WebAssembly alone"],
  },
  tlTiles: {
    type: { kind: "texts" },
    scope: "tables",
    engine: "native",
    description:
      "Tiles of matrices in TL1 and TL2 (BitNet), which depend on the kernels of the bitnet.cpp that wrote the file: a list of texts such as `3200x8640=160/96/32`, which are rows and columns of a matrix, then `bm`, `bk` and `bmm` of its kernel_config.ini ([more](../guide/gguf.md#tl1-and-tl2)). Not set: those that BitNet's setup_env.py has for the shape; other shapes are refused. Targets that do not read TL1 and TL2 are refused.",
    flag: ["--tl-tiles <tiles>", "tiles of matrices in TL1 and TL2: ROWSxCOLUMNS=BM/BK/BMM, separated by commas"],
  },
  adapters: {
    type: { kind: "adapters" },
    scope: "language",
    description:
      "LoRA adapters of a language model, as GGUF files: a list of `path` and `scale` (the factor of the adapter's change of the weights; not set: 1). In the variable and the flag `PATH` or `PATH=SCALE`, separated by commas. Models with different adapters are different loaded models. Targets whose engine does not apply them are refused ([more](../guide/gguf.md#adapters)).",
    flag: ["--adapters <paths>", "LoRA adapters of a language model: PATH or PATH=SCALE, separated by commas"],
  },
};

/** Names of the load settings. */
export const loadSettingNames: readonly (keyof UserLoadSettings)[] = Object.keys(loadSettings) as (keyof UserLoadSettings)[];

/** The settings as a backend gets them: those of its engine alone are a part of their own. */
export function toBackendSettings(settings: UserLoadSettings): LoadSettings {
  const given = loadSettingNames.filter((name) => settings[name] !== undefined);
  const pick = (names: readonly (keyof UserLoadSettings)[]): object =>
    Object.fromEntries(names.map((name) => [name, settings[name]]));
  const own = given.filter((name) => loadSettings[name].engine !== undefined);
  const common = pick(given.filter((name) => !own.includes(name)));
  return own.length === 0 ? common : { ...common, engine: { ...pick(own) } };
}
