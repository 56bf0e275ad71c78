/** Transcribing with models of speech. Imported at the first use. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { ModelHandle } from "../../runtime/model-handle.ts";
import type { ModelRuntime } from "../../runtime/model-runtime.ts";
import { textSettings } from "../../tasks/encoding/text-settings.ts";
import type { TokenizerCache } from "../../tasks/encoding/tokenizer-cache.ts";
import { GenerationStream } from "../../tasks/generation/generation-stream.ts";
import { readSound, type SpokenSound } from "../../tasks/speech/sound-input.ts";
import { batchedRules } from "../../tasks/speech/batched/speech-windows.ts";
import { transcriptionRules } from "../../tasks/speech/spoken-sound.ts";
import { requireWhisper, transcribe, type Transcription } from "../../tasks/speech/transcribe.ts";
import { findSpeech } from "../../tasks/speech/voice-activity/detect-speech.ts";
import { isSoundChunks, requireSoundChunks } from "../../tasks/speech/live/sound-chunks.ts";
import { transcribeLive } from "../../tasks/speech/live/transcribe-live.ts";
import { getWhisperSettings, transcribeOptions } from "../../tasks/speech/transcribe-options.ts";
import type { Transcript, TranscriptSegment } from "../../tasks/speech/transcript.ts";
import { holdModel, runTimed } from "../model-call.ts";
import type { TaskRun, TranscribeRequest } from "../task-requests.ts";

/** A stream of the segments of a sound. */
export type TranscriptStream = GenerationStream<Transcript & TaskRun, TranscriptSegment>;

/** Begins to transcribe a sound. The stream is returned once the options are checked, the sound is decoded (unless it comes in chunks) and the model is loaded. */
export async function startTranscription(
  runtime: ModelRuntime,
  tokenizers: TokenizerCache,
  sound: SpokenSound,
  request: TranscribeRequest,
): Promise<TranscriptStream> {
  const { model, kind, signal, onProgress, vad = true, vadModel, pauseSeconds, provisionalSeconds } = request;
  if (kind !== undefined && kind !== "language")
    throw new InferyardError("INPUT_INVALID", `transcribe runs language models, and kind is "${kind}"`, {
      remedy: "leave kind out",
    });
  const settings = getWhisperSettings(request);
  requireChunksFor(sound, request);
  const samples = isSoundChunks(sound) ? undefined : await readSound(sound, { signal });
  throwIfAborted(signal);
  const asked = model instanceof ModelHandle ? request : ({ ...request, kind: "language" } as const);
  const call = { verb: "transcribe", optionNames: Object.keys(transcribeOptions), request: asked };
  const { handle, release } = await holdModel(runtime, call, { requireModel: async (manifest) => requireWhisper(manifest) });
  try {
    requireWhisper(handle.manifest);
    const held = handle.holdLanguage();
    const { model: language, target, decision } = held;
    return new GenerationStream<Transcript & TaskRun, TranscriptSegment>([], (emit, cancelled) => {
      const either = signal === undefined ? cancelled : AbortSignal.any([signal, cancelled]);
      const work = async (): Promise<Transcript & Pick<TaskRun, "target" | "decision">> => {
        const tokenizer = await tokenizers.get(textSettings(handle.manifest));
        const parts = { model: language, tokenizer, manifest: handle.manifest };
        const network = vad ? vadModel : undefined;
        const transcription = { settings, onProgress, signal: either, emit };
        if (isSoundChunks(sound)) {
          const live = { ...transcription, sound, pauseSeconds, provisionalSeconds };
          return { ...(await transcribeChunks(runtime, parts, live, network)), target, decision };
        }
        const findSpeech = network === undefined ? undefined : speechFinder(runtime, network, settings.batchSize > 1);
        return {
          ...(await transcribe(parts, { ...transcription, samples: samples ?? new Float32Array(), findSpeech })),
          target,
          decision,
        };
      };
      return runTimed(handle, work).finally(async () => {
        held.release();
        await release();
      });
    });
  } catch (error) {
    await release();
    throw error;
  }
}

/** Checks chunks, and throws INPUT_INVALID for options that are about chunks alone beside another sound, and for a pause that nothing finds. */
function requireChunksFor(sound: SpokenSound, { vad = true, vadModel, ...request }: TranscribeRequest): void {
  if (isSoundChunks(sound)) {
    requireSoundChunks(sound);
    if (request.batchSize !== undefined && request.batchSize > 1)
      throw new InferyardError(
        "INPUT_INVALID",
        `batchSize is ${request.batchSize}, and chunks that come in are decoded one window after the other`,
        {
          remedy: "leave batchSize out, or give the whole sound",
        },
      );
    if (request.pauseSeconds === undefined || (vad && vadModel !== undefined)) return;
    throw new InferyardError("INPUT_INVALID", "pauseSeconds needs a network for voice activity, which finds pauses", {
      remedy: "name Silero's with vadModel",
    });
  }
  for (const name of ["pauseSeconds", "provisionalSeconds"] as const)
    if (request[name] !== undefined)
      throw new InferyardError("INPUT_INVALID", `"${name}" has no effect on a whole sound`, {
        remedy: `leave "${name}" out, or give the sound in chunks: { sampleRate, chunks }`,
      });
}

/** Transcribes chunks; a network for voice activity is held while they come in. */
async function transcribeChunks(
  runtime: ModelRuntime,
  parts: Parameters<typeof transcribeLive>[0],
  live: Omit<Parameters<typeof transcribeLive>[1], "voiceActivity">,
  network: string | undefined,
): Promise<Transcript> {
  if (network === undefined) return transcribeLive(parts, { ...live, voiceActivity: undefined });
  const { signal } = live;
  const call = { verb: "transcribe", optionNames: [], request: { model: network, signal } };
  const { handle, release } = await holdModel(runtime, call);
  try {
    return await transcribeLive(parts, { ...live, voiceActivity: { graph: handle, name: handle.manifest.name } });
  } finally {
    await release();
  }
}

/** Finds speech with a network for voice activity, which is held while it runs. */
function speechFinder(runtime: ModelRuntime, model: string, isBatched: boolean): NonNullable<Transcription["findSpeech"]> {
  const rules = isBatched ? batchedRules : transcriptionRules;
  return async (samples, signal) => {
    const { handle, release } = await holdModel(runtime, { verb: "transcribe", optionNames: [], request: { model, signal } });
    try {
      return await findSpeech(handle, { name: handle.manifest.name, samples }, rules, { signal });
    } finally {
      await release();
    }
  };
}
