/** Calls of language models that answer while they run. */
import type { Context } from "hono";
import { deferred } from "../../../concurrency/deferred.ts";
import type { ModelHandle } from "../../../runtime/model-handle.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import { type Env, getCaller, placementHeaders } from "../../http/context.ts";
import type { ModelCallResult } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";

/** A call whose model is loaded and whose input was checked. */
export interface OpenedCall<Result, Event> {
  readonly stream: GenerationStream<Result, Event>;
  /** The outcome, once the stream was read to its end. */
  readonly outcome: Promise<ModelCallResult<Result>>;
  /** The model's name as the client wrote it, or the name of the default model. */
  readonly model: string;
}

/** Arguments of `start`. */
export interface StartedCall {
  readonly model: ModelHandle;
  readonly signal: AbortSignal;
}

/**
 * Opens a stream on the model that a request names, as soon as the request is scheduled. The model is leased until the stream ends. The headers
 * x-inferyard-target and x-inferyard-decision are set before the first byte; the request record is written when the stream has ended. Rejects with
 * the errors that `Service.call` and `start` throw before the stream begins.
 */
export async function openStream<Result, Event>(
  service: Service,
  context: Context<Env>,
  { model, texts = 1 }: { readonly model: string | undefined; readonly texts?: number },
  start: (call: StartedCall) => Promise<GenerationStream<Result, Event>>,
): Promise<OpenedCall<Result, Event>> {
  const caller = getCaller(context);
  const { name } = await service.resolve(caller, model);
  const opened = deferred<OpenedCall<Result, Event>>();
  const call = { model, texts, runsLanguageModel: true };
  const outcome = service.call(caller, call, async (handle, signal, extend) => {
    const stream = await start({ model: handle, signal });
    stream.onRead = extend;
    const placement = placementHeaders({ target: handle.target, decision: handle.decision.id });
    for (const [header, value] of Object.entries(placement)) context.header(header, value);
    context.set("streaming", outcome);
    await service.turns.wait(caller.client); // many streams may begin at once
    opened.resolve({ stream, outcome, model: name });
    return stream.result;
  });
  outcome.catch(opened.reject);
  return opened.promise;
}
