/** Calls of the runtime's tasks, as routes make them. */
import type { Context } from "hono";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import { type Env, getCaller } from "../http/context.ts";
import type { ModelCall, ModelCallResult } from "../serving/calls.ts";
import type { Service } from "../serving/service.ts";

/** What a task runs on, as options of the runtime's methods. */
export interface RunsOn {
  readonly model: ModelHandle;
  readonly signal: AbortSignal;
}

/** Runs a task on the model that a request names, when it is its turn. Calls with equal keys share their result. */
export function runTask<Result>(
  service: Service,
  context: Context<Env>,
  call: ModelCall<Result>,
  task: (on: RunsOn) => Promise<Result>,
): Promise<ModelCallResult<Result>> {
  return service.calls.run(getCaller(context), call, (model, signal) => task({ model, signal }));
}

/** The name of the model in protocols of servers with one model: that which a path or a body has, else that of the header x-inferyard-model. */
export function headerModel(context: Context<Env>, written?: string): string | undefined {
  return written ?? context.req.header("x-inferyard-model");
}
