/** Transcribing with models of CTC: wav2vec2 and its relatives. Imported at the first use. */
import { InferyardError } from "../../contract/errors.ts";
import { GenerationStream } from "../../tasks/generation/generation-stream.ts";
import { transcribeByCtc } from "../../tasks/speech/ctc/transcribe-ctc.ts";
import { toSegments } from "../../tasks/speech/ctc/ctc-segments.ts";
import { prepareSoundGraph } from "../../tasks/speech/sound-graph.ts";
import { isSoundChunks } from "../../tasks/speech/live/sound-chunks.ts";
import { readSound, type SpokenSound } from "../../tasks/speech/sound-input.ts";
import { getWhisperSettings, type TranscribeOptions, transcribeOptions } from "../../tasks/speech/transcribe-options.ts";
import type { Transcript, TranscriptSegment } from "../../tasks/speech/transcript.ts";
import type { MediaTasks } from "./media-tasks.ts";
import { refuseUnknownOptions } from "../model-call.ts";
import type { TaskRun, TranscribeRequest } from "../task-requests.ts";
import type { TranscriptStream } from "./transcription.ts";

/** Options that a model of CTC obeys. */
const obeyed: ReadonlySet<string> = new Set<keyof TranscribeOptions>([
  "language",
  "timestamps",
  "beams",
  "onProgress",
  "stream",
  "signal",
]);

/** Throws INPUT_INVALID for an option that is about Whisper's decoder alone. */
function requireCtcOptions(request: TranscribeRequest): void {
  getWhisperSettings(request);
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined || !Object.hasOwn(transcribeOptions, name) || obeyed.has(name)) continue;
    throw new InferyardError("INPUT_INVALID", `"${name}" has no effect on a model that transcribes by CTC`, {
      remedy: `leave "${name}" out; such a model obeys ${[...obeyed].join(", ")}`,
    });
  }
}

/** Transcribes a sound. The stream is returned once the options are checked; segments come as soon as their words are final. */
export function startCtcTranscription(media: MediaTasks, sound: SpokenSound, request: TranscribeRequest): TranscriptStream {
  refuseUnknownOptions({ verb: "transcribe", optionNames: Object.keys(transcribeOptions), request });
  requireCtcOptions(request);
  if (isSoundChunks(sound))
    throw new InferyardError("MODEL_UNSUPPORTED", "a model that transcribes by CTC reads a whole sound, and no chunks", {
      remedy: "name a Whisper, or give the whole sound",
    });
  const { language, timestamps, beams, onProgress, stream: _stream, signal, ...others } = request;
  return new GenerationStream<Transcript & TaskRun, TranscriptSegment>([], (emit, cancelled) => {
    const either = signal === undefined ? cancelled : AbortSignal.any([signal, cancelled]);
    return media.runOnModel("transcribe", others, async (model): Promise<Transcript> => {
      const graph = await prepareSoundGraph(model);
      const { sampleRate } = graph.extractor;
      const samples = await readSound(sound, { sampleRate, signal: either });
      const duration = samples.length / sampleRate;
      const onSamples = (done: number): void => onProgress?.({ done: done / sampleRate, total: duration });
      const { text, words } = await transcribeByCtc(model, graph, samples, { beams, signal: either, onSamples });
      const segments = toSegments(words, timestamps ?? "segment");
      for (const segment of segments) await emit(segment);
      return { text, language: language ?? "und", languageProbability: language === undefined ? 0 : 1, duration, segments };
    });
  });
}
