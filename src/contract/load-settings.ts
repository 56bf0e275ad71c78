/** Load settings: the part of the backend contract that users can set. */

/** Settings of a load that a user may set. A backend lists the settings that it obeys in `Capabilities.options`. */
export interface LoadSettings {
  /** Maximum number of CPU threads of one model, already clamped to the CPU quota. Default: the quota. */
  readonly threads?: number;
  /**
   * Maximum level of graph optimization. "basic" fuses nothing complex, "extended" fuses known patterns, "all" does what the
   * engine can. Default: the engine's own default.
   */
  readonly graphOptimization?: "disabled" | "basic" | "extended" | "all";
  /**
   * On a device other than the CPU: whether nodes that the device cannot run may run on the CPU. "refuse": the load fails.
   * "allow": the evidence says how many nodes ran where. Default: "refuse".
   */
  readonly cpuNodes?: "refuse" | "allow";
  /**
   * Whether the engine may plan the memory of a run from the shapes of an earlier run. It then keeps one block for each set of
   * shapes. Default: the engine's own default.
   */
  readonly memoryPattern?: boolean;
  /** Whether the engine may keep memory between runs. Default: the engine's own default. */
  readonly memoryArena?: boolean;
  /** Maximum number of tokens of a sequence of a language model, prompt and answer together. Models of other kinds have none. Default: the model's own. */
  readonly contextLength?: number;
  /** Whether the context may be shortened to fit into the memory; the decision then states the length. Otherwise such a model is refused. Default: false. */
  readonly allowSmallerContext?: boolean;
  /** Precision of the cache of a language model. Default: the engine's. */
  readonly cachePrecision?: "fp32" | "fp16";
  /** Adapters that change the weights of a language model, their changes added up. Default: none. */
  readonly adapters?: readonly LoraAdapter[];
  /** Settings that only this engine has, by the names that its backend lists in `Capabilities.options`. Default: none. */
  readonly engine?: Readonly<Record<string, unknown>>;
}

/** A low-rank adapter (LoRA, Hu et al. 2021, arXiv:2106.09685) in a file of its own. */
export interface LoraAdapter {
  /** Path of the file; a relative one is relative to the current folder. */
  readonly path: string;
  /** Factor of its change of the weights. Default: 1. */
  readonly scale?: number;
}

/** Limits on the resources of one model file and one run. They exclude no candidate: a backend obeys the limits that apply to it. */
export interface LoadLimits {
  /**
   * For engines that trace models: maximum milliseconds to compile a model into one executable, plus one millisecond for every
   * 8192 elements of its weights. Default: the engine's own, 30 seconds.
   */
  readonly maxTraceTime?: number;
  /**
   * For engines that trace models: maximum bytes held while compiling a model into one executable, plus 16 bytes for each
   * element of its weights. Default: the engine's own, 512 MiB.
   */
  readonly maxTraceMemory?: number;
  /** Maximum bytes of one run besides the weights; a run that would need more throws LIMIT_EXCEEDED. Default: no limit. */
  readonly maxRunMemory?: number;
}
