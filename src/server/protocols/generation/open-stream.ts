/** Calls of language models that answer while they run. */
import type { Context } from "hono";
import { deferred } from "../../../concurrency/deferred.ts";
import type { Manifest } from "../../../models/manifest.ts";
import type { ModelHandle } from "../../../runtime/model-handle.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { type Env, getCaller, placementHeaders } from "../../http/context.ts";
import type { ModelCallResult } from "../../serving/calls.ts";
import { requireLanguageModel } from "../../serving/model-names.ts";
import type { Service } from "../../serving/service.ts";
import { type WrittenKeepAlive, applyKeepAlive } from "../ollama/keep-alive.ts";

/** A request for texts, as every protocol makes it. */
export interface GenerationCall<Result, Event> {
  /** The model's name as the client wrote it; undefined: the default model. */
  readonly model: string | undefined;
  /** Number of texts. Default: 1. */
  readonly texts?: number;
  /** Whether the texts are sent while they are generated. */
  readonly isStreamed: boolean;
  /** How long the model stays in memory unused. Default: as it is set. */
  readonly keepAlive?: WrittenKeepAlive;
  /** Whether a model is loaded as a graph, as transcription by CTC needs it. Default: it is loaded as a language model. */
  readonly runsGraph?: (manifest: Manifest) => boolean;
  /** Whether tokens are shown one by one, for which the tokenizer is needed. Default: false. */
  readonly showsTokens?: boolean;
  /** Starts the generation on the loaded model; `tokenizer`: undefined unless tokens are shown. */
  readonly start: (on: StartedCall, tokenizer: Tokenizer | undefined) => Promise<GenerationStream<Result, Event>>;
}

/** What a generation runs on, as options of the runtime's methods. */
export interface StartedCall {
  readonly model: ModelHandle;
  readonly signal: AbortSignal;
}

/** A call whose model is loaded and whose input was checked. */
export interface OpenedCall<Result, Event> {
  readonly stream: GenerationStream<Result, Event>;
  /** The outcome, once the stream was read to its end. */
  readonly outcome: Promise<ModelCallResult<Result>>;
  /** The model's name as the client wrote it, or the name of the default model. */
  readonly model: string;
  /** Undefined unless the call shows tokens. */
  readonly tokenizer: Tokenizer | undefined;
}

/**
 * Opens a stream on the model that a request names, as soon as the request is scheduled. The model is leased until the stream ends. The headers
 * x-inferyard-target and x-inferyard-decision are set before the first byte; the request record is written when the stream has ended. Rejects with
 * the errors that `CallRunner.run` and `start` throw before the stream begins.
 */
export async function openStream<Result, Event>(
  service: Service,
  context: Context<Env>,
  {
    model: written,
    texts = 1,
    keepAlive,
    showsTokens = false,
    runsGraph,
    start,
  }: Omit<GenerationCall<Result, Event>, "isStreamed">,
): Promise<OpenedCall<Result, Event>> {
  const caller = getCaller(context);
  const model = await service.names.resolve(caller, written);
  const opened = deferred<OpenedCall<Result, Event>>();
  const runsLanguageModel =
    runsGraph === undefined || !runsGraph(await service.runtime.manifest(model.reference, { signal: caller.signal }));
  const call = { model, texts, runsLanguageModel };
  const outcome = service.calls.run(caller, call, async (handle, signal, extend) => {
    const tokenizer = showsTokens ? await service.runtime.tokenizer(handle) : undefined;
    const stream = await start({ model: handle, signal }, tokenizer);
    stream.onRead = extend;
    const placement = placementHeaders({ target: handle.target, decision: handle.decision.id });
    for (const [header, value] of Object.entries(placement)) context.header(header, value);
    context.set("streaming", outcome);
    await service.turns.wait(caller.client); // many streams may begin at once
    opened.resolve({ stream, outcome, model: model.name, tokenizer });
    return stream.result;
  });
  outcome.catch(opened.reject);
  const answered = await opened.promise;
  await applyKeepAlive(service, context, runsLanguageModel ? requireLanguageModel(model) : model, keepAlive);
  return answered;
}
