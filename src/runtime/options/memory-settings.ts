/** Settings of the memory budget, and why a model leaves the memory. */

/** Settings of the memory budget of a runtime. */
export interface MemoryBudgetSettings {
  /** Maximum main memory of all models together: bytes, or a size such as "2GB". Default: no limit. */
  readonly maxMemory?: number | string;
  /**
   * Maximum memory of all models on each device, by device name, for example { "cuda:0": "8GB" }. A name that is not a device,
   * and "cpu", are CONFIG_INVALID; a device that this machine does not have is no error. Default: no limit.
   */
  readonly maxDeviceMemory?: Readonly<Record<string, number | string>>;
  /** Maximum number of models in memory; replicas for bulk work are not counted. Default: no limit. */
  readonly maxLoadedModels?: number;
}

/** Why a model was unloaded. */
export type UnloadReason =
  | { readonly why: "idle" | "unloaded" | "disposed" }
  | { readonly why: "evicted"; /** Reference of the model that needs the memory. */ readonly evictedFor: string };
