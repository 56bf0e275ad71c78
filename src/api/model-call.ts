/** Calls of tasks: the model that a request names, held while the call runs, and where it ran. */
import { invalidInput } from "../contract/errors.ts";
import { ModelHandle } from "../runtime/model-handle.ts";
import type { ModelRuntime } from "../runtime/model-runtime.ts";
import { modelOptionNames, refuseUnknown } from "../runtime/options/options.ts";
import type { LoadHooks } from "../runtime/residency/shared-models.ts";
import { type ModelRequest, modelOptions, refuseLoadOptions } from "./request-options.ts";
import type { TaskRun } from "./task-requests.ts";

/** One call of a task, as the runtime sees it. */
export interface HeldModelCall {
  /** Name of the method, for errors. */
  readonly verb: string;
  /** Names of the task's own options. Options of loading are permitted as well. */
  readonly optionNames: readonly string[];
  readonly request: ModelRequest;
}

/** The model of a call. */
export interface CallLease {
  readonly handle: ModelHandle;
  /** Gives the model back. Without effect on a handle that the caller gave. */
  release(): Promise<void>;
}

/** Throws INPUT_INVALID for an option that belongs neither to the task nor to loading. */
export function refuseUnknownOptions({ verb, optionNames, request }: HeldModelCall): void {
  refuseUnknown(request, ["model", ...optionNames, ...modelOptionNames], verb);
}

/**
 * Holds the model that a request names, which is loaded if necessary; a handle of the caller is used as it is. Throws INPUT_INVALID for unknown options,
 * for a request without a model, and for options of loading beside a handle, and what loading throws.
 */
export async function holdModel(
  runtime: Pick<ModelRuntime, "hold">,
  call: HeldModelCall,
  loadHooks?: LoadHooks,
): Promise<CallLease> {
  refuseUnknownOptions(call);
  const { model, ...options } = call.request;
  if (model === undefined) {
    throw invalidInput(`${call.verb} was given no model`, "name one: a path or a reference");
  }
  const placement = modelOptions(options);
  if (model instanceof ModelHandle) {
    refuseLoadOptions(placement);
    return { handle: model, release: async () => {} };
  }
  const handle = await runtime.hold(model, placement, undefined, loadHooks);
  return { handle, release: () => handle.dispose() };
}

/** Runs work on a model, and adds to its result where it ran, unless the result says so itself, and how long it took. */
export async function runTimed<Result>(handle: ModelHandle, work: () => Promise<Result>): Promise<Result & TaskRun> {
  const started = performance.now();
  const result = await work();
  const milliseconds = performance.now() - started;
  const { reference: model, target, decision } = handle;
  return { model, target, decision, ...result, milliseconds };
}
