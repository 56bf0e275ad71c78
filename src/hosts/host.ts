/** Where a loaded model lives. Every host gives the same thing: a model that runs, and a way to be rid of it. */
import type { Backend, Device, LoadOptions, LoadedModel, ModelFiles, RunOptions } from "../backend.ts";
import type { Reduction } from "./output-reduction.ts";
import type { TensorMap } from "../tensor.ts";
import type { ReplicaGroup } from "./replica-group.ts";
import type { Supervision } from "./supervision.ts";

/** "inline": on the calling thread. "worker": on a thread of its own. "process": in a child process of its own. */
export type HostName = "inline" | "worker" | "process";

export const hostNames: readonly HostName[] = ["inline", "worker", "process"];

export interface HostedRunOptions extends RunOptions {
  /** By output: what is made of it where the model lives; the result stands in its place. Default: outputs come as they are. */
  readonly reductions?: Readonly<Record<string, Reduction>>;
}

export interface DisposeOptions {
  /** Longest wait for calls that have a caller, in milliseconds. Default: as long as they take. */
  readonly waitMs?: number | undefined;
}

/** A loaded model, wherever it lives. */
export interface HostedModel extends Omit<LoadedModel, "sharing" | "dispose"> {
  /** Where copies share memory with it: bytes that another one takes for itself, its thread not counted; an estimate. */
  readonly replicaBytes?: number | undefined;
  /** Time in milliseconds since the call under way began; 0 where there is none, left out on the calling thread. */
  readonly runningMs?: number;
  run(inputs: TensorMap, options?: HostedRunOptions): Promise<TensorMap>;
  /** Frees the model. A thread or process that needs longer than a few seconds besides `waitMs` is killed, where that is safe. */
  dispose(options?: DisposeOptions): Promise<void>;
}

export interface Host {
  readonly name: HostName;
  /**
   * `supervision`: told when the thread or process dies, and asked before another is started; "inline" has none. Default: nobody. `copies`: those of
   * this model so far; it may share memory with them, on a thread of this process. Default: it shares none.
   */
  load(
    backend: Backend,
    model: ModelFiles,
    device: Device,
    options: LoadOptions,
    supervision?: Supervision,
    copies?: ReplicaGroup,
  ): Promise<HostedModel>;
  /** Frees what the host itself holds; its models are disposed before. */
  dispose(): Promise<void>;
}
