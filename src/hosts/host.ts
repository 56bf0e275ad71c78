/** Where a loaded model lives. Every host gives the same thing: a model that runs, and a way to be rid of it. */
import type { Backend, Device, LoadOptions, LoadedModel, ModelFiles } from "../backend.ts";

/** "inline": on the calling thread. "worker": on a thread of its own. "process": in a child process of its own. */
export type HostName = "inline" | "worker" | "process";

export const hostNames: readonly HostName[] = ["inline", "worker", "process"];

export interface Host {
  readonly name: HostName;
  load(backend: Backend, model: ModelFiles, device: Device, options: LoadOptions): Promise<LoadedModel>;
  /** Frees what the host itself holds; its models are disposed before. */
  dispose(): Promise<void>;
}
