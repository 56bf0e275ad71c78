/** POST /v1/audio/transcriptions and /v1/audio/translations: what is said in a sound, and its translation into English. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { usesCtc } from "../../../models/language-tasks.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { TranscribeOptions } from "../../../tasks/speech/transcribe-options.ts";
import type { Transcript, TranscriptSegment } from "../../../tasks/speech/transcript.ts";
import type { SpeechTask } from "../../../tasks/speech/whisper/whisper-vocabulary.ts";
import { isForm } from "../../http/bodies/form-body.ts";
import { type Env, resultHeaders } from "../../http/context.ts";
import { modelField } from "../../http/field-schemas.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { streamedAnswer } from "../generation/answer.ts";
import { openStream } from "../generation/open-stream.ts";
import { serverSentEvent } from "../generation/streamed-body.ts";
import { asNumber } from "../media/form-fields.ts";
import { readSpeechForm } from "../speech-body.ts";
import { openAiFailure } from "./chat-response.ts";
import { formatTranscript, transcriptFormats } from "./transcript-formats.ts";

const fields = {
  model: modelField,
  language: z
    .string()
    .max(20)
    .optional()
    .openapi({ description: "Code of the language that is spoken. Default: it is detected" }),
  prompt: z.string().max(10_000).optional().openapi({ description: "Text that precedes the sound: names and their spelling" }),
  response_format: z.enum(transcriptFormats).optional().openapi({ description: "Default: json" }),
  temperature: z.number().min(0).max(1).optional().openapi({
    description: "Temperature of sampling. 0, the default, raises it where a text is too repetitive or too improbable",
  }),
  timestamp_granularities: z
    .array(z.enum(["word", "segment"]))
    .max(2)
    .optional()
    .openapi({ description: "What has times in verbose_json: segment, word. Default: segment" }),
  stream: z.boolean().optional().openapi({ description: "Whether the text is sent in events while it is found" }),
};
const schema = z.object(fields);
type SpeechFields = z.infer<typeof schema>;

/** The two routes. */
export function audioRoutes(service: Service): Route[] {
  return [
    audioRoute(service, "/v1/audio/transcriptions", "transcribe", "Transcribe speech, as OpenAI"),
    audioRoute(service, "/v1/audio/translations", "translate", "Translate speech into English, as OpenAI"),
  ];
}

function audioRoute(service: Service, path: string, task: SpeechTask, summary: string): Route {
  const file = z.string().openapi({ format: "binary", description: "A sound file" });
  const component = task === "transcribe" ? "CreateTranscription" : "CreateTranslation";
  return {
    method: "post",
    path,
    summary,
    request: {
      body: { required: true, content: { "multipart/form-data": { schema: z.object({ file, ...fields }).openapi(component) } } },
    },
    description: "The text in the format that was asked for; with `stream`, server-sent events",
    response: z.object({ text: z.string() }).loose(),
    media: { "text/plain": z.string(), "text/event-stream": z.string() },
    answer: async (context) => {
      if (!isForm(context))
        throw new InferyardError("MEDIA_TYPE_UNSUPPORTED", "this route does not support the content-type of the request", {
          remedy: "send multipart/form-data with the sound in the field file",
        });
      const body = await readSpeechForm(context, schema, parseFields);
      return await answerSpeech(service, context, task, body);
    },
  };
}

/** The fields of a form with the types of the schema. Lists may be written with [] behind the name. */
function parseFields(texts: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  const parsed: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(texts)) {
    const field = name.replace(/\[\]$/, "");
    const text = values.at(-1) ?? "";
    if (field === "timestamp_granularities") parsed[field] = values;
    else if (field === "temperature") parsed[field] = asNumber(text);
    else if (field === "stream") parsed[field] = text === "true" ? true : text === "false" ? false : text;
    else parsed[field] = text;
  }
  return parsed;
}

async function answerSpeech(
  service: Service,
  context: Context<Env>,
  task: SpeechTask,
  { sound, fields: request }: { readonly sound: Uint8Array; readonly fields: SpeechFields },
): Promise<Response> {
  const { model, stream: isStreamed = false, response_format: format = "json" } = request;
  const granularities = request.timestamp_granularities ?? ["segment"];
  if (request.timestamp_granularities !== undefined && format !== "verbose_json")
    throw new InferyardError(
      "INPUT_INVALID",
      `timestamp_granularities needs the response_format verbose_json, and it is ${format}`,
    );
  const options = toOptions(request, task);
  const opened = await openStream(service, context, {
    model,
    runsGraph: usesCtc,
    start: (on) => service.runtime.transcribe(sound, { ...options, ...on, stream: true }),
  });
  if (isStreamed) return streamedAnswer(context, opened, { parts: events, failure: openAiFailure });
  void opened.stream.finish();
  const outcome = await opened.outcome;
  const [body, type] = formatTranscript(outcome.result, format, { task, granularities });
  return context.body(body, 200, { ...resultHeaders(outcome), "content-type": type });
}

function toOptions(
  { language, prompt, temperature, timestamp_granularities: times = [] }: SpeechFields,
  task: SpeechTask,
): TranscribeOptions {
  return {
    ...(task === "transcribe" ? {} : { task }), // models of CTC, which know no tasks, refuse the option
    ...omitUndefined({ language, initialPrompt: prompt === "" ? undefined : prompt }),
    // 0 is what clients send who mean the default: the temperature rises where it must.
    ...(temperature === undefined || temperature === 0 ? {} : { temperature }),
    timestamps: times.includes("word") ? "word" : "segment",
  };
}

async function* events(stream: GenerationStream<Transcript, TranscriptSegment>): AsyncGenerator<string, void> {
  let isFirst = true;
  for await (const { text } of stream) {
    yield serverSentEvent({ type: "transcript.text.delta", delta: isFirst ? text.trimStart() : text });
    isFirst = false;
  }
  const { text } = await stream.result;
  yield serverSentEvent({ type: "transcript.text.done", text });
}
