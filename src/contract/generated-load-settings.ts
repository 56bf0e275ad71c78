/** Written by `npm run schemas`; the table of options is the source. */
import type { LoraAdapter } from "./lora-adapter.ts";

/** Settings of a load that several engines have. */
export interface CommonLoadSettings {
  /** Maximum number of CPU threads of one model, at most the CPU quota. Not set: the quota. Targets whose engine has no such setting are refused. */
  readonly threads?: number;
  /** Maximum level of graph optimization: `disabled`, `basic`, `extended` or `all` (what each does). Not set: `all`. Targets whose engine has no such setting are refused. */
  readonly graphOptimization?: "disabled" | "basic" | "extended" | "all";
  /** On devices other than the CPU: whether graph nodes that the device does not support may run on the CPU: `refuse` (the default: the load fails) or `allow` (the evidence says how many nodes ran where). */
  readonly cpuNodes?: "refuse" | "allow";
  /** Whether the engine may plan the memory of a run in advance; it then holds a block per set of input shapes. `false` takes less memory with large batches (measured). Targets whose engine has no such setting (`native`, `wasm`, and `onnx` on devices other than the CPU) are refused. */
  readonly memoryPattern?: boolean;
  /** Whether the engine may keep memory between runs. `false` releases it after each run, and large runs are slower (measured). Not set: yes, except where `maxRunMemory` is set, as in `serve`. Targets whose engine has no such setting are refused, as with `memoryPattern`. */
  readonly memoryArena?: boolean;
  /** Maximum number of tokens of a text of a language model, prompt and answer together. Not set: what the model states. A model is refused, with the numbers, if its weights and the cache of one such text do not fit into the free memory, `maxMemory` or the memory of the device (more). */
  readonly contextLength?: number;
  /** Whether the context of a language model may be shortened to what fits into the memory; the decision then says so. Not set: a model whose context does not fit is refused. */
  readonly allowSmallerContext?: boolean;
  /** Precision of the keys and values that a language model keeps of each token: `fp32` or `fp16`. Not set: `fp32` on `native`; on `llamacpp` `fp16`, but `fp32` for models in single precision. Targets that do not have it are refused. */
  readonly cachePrecision?: "fp32" | "fp16";
  /** LoRA adapters of a language model, as GGUF files: a list of `path` and `scale` (the factor of the adapter's change of the weights; not set: 1). In the variable and the flag `PATH` or `PATH=SCALE`, separated by commas. Models with different adapters are different loaded models. Targets whose engine does not apply them are refused (more). */
  readonly adapters?: readonly LoraAdapter[];
}
