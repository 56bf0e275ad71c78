/** Answers of language models in the form of a protocol: whole, or while they are generated. */
import type { Context } from "hono";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import { type Env, resultHeaders } from "../../http/context.ts";
import type { Service } from "../../serving/service.ts";
import { type GenerationCall, type OpenedCall, openStream } from "./open-stream.ts";
import { eventStreamHeaders, streamedBody } from "./streamed-body.ts";

/** What an answer is written of besides its texts. */
export type Answered = Pick<OpenedCall<unknown, unknown>, "model" | "tokenizer">;

/** How a protocol streams an answer. */
export interface StreamForm<Result, Event> {
  /** The parts of the stream, as it writes them. Throws what ends the stream before its end. */
  readonly parts: (stream: GenerationStream<Result, Event>, about: Answered) => AsyncGenerator<string, void>;
  /** The part that tells of what ended the stream before its end. */
  readonly failure: (thrown: unknown) => string;
  /** The last part, behind a failure too. Default: none. */
  readonly end?: string;
  /** Written while no part is ready, which keeps the stream open through proxies. Default: a comment of server-sent events. */
  readonly heartbeat?: string | undefined;
  /** Default: the headers of server-sent events. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a protocol writes an answer. */
export interface AnswerForm<Result, Event> extends StreamForm<Result, Event> {
  /** The whole answer as JSON. */
  readonly whole: (result: Result, about: Answered) => string;
}

/** Answers a request: the one way from the call that a protocol made of it to the response in its form. */
export async function answerGeneration<Result, Event>(
  service: Service,
  context: Context<Env>,
  call: GenerationCall<Result, Event>,
  form: AnswerForm<Result, Event>,
): Promise<Response> {
  const opened = await openStream(service, context, call);
  if (call.isStreamed) return streamedAnswer(context, opened, form);
  void opened.stream.finish();
  const done = await opened.outcome;
  return context.body(form.whole(done.result, opened), 200, { ...resultHeaders(done), "content-type": "application/json" });
}

/** The response with the parts of a stream. */
export function streamedAnswer<Result, Event>(
  context: Context<Env>,
  opened: OpenedCall<Result, Event>,
  form: StreamForm<Result, Event>,
): Response {
  const { headers = eventStreamHeaders } = form;
  const heartbeat = "heartbeat" in form ? form.heartbeat : ": still here\n\n";
  return context.body(streamedBody(partsUntilEnd(opened, form), heartbeat), 200, headers);
}

async function* partsUntilEnd<Result, Event>(
  opened: OpenedCall<Result, Event>,
  { parts, failure, end }: StreamForm<Result, Event>,
): AsyncGenerator<string, void> {
  try {
    yield* parts(opened.stream, opened);
  } catch (error) {
    yield failure(error);
  } finally {
    await opened.stream.cancel();
  }
  if (end !== undefined) yield end;
}
