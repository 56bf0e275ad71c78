/** Decodes a window at one temperature after the other, until its text is neither too repetitive nor too improbable. */
import type { SequenceId } from "../../../contract/language-model.ts";
import { at } from "../../../contract/checked.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { getCompressionRatio } from "./compression-ratio.ts";
import { decodeWindow, type DecodedWindow, type SpeechModel, type WindowSettings } from "./decode-window.ts";
import type { WhisperSettings } from "./whisper-options.ts";
import { decodeText, type WhisperVocabulary } from "./whisper-vocabulary.ts";

/** The text of a window, and what it was accepted by. */
export interface AcceptedWindow extends DecodedWindow {
  readonly temperature: number;
  readonly compressionRatio: number;
}

/** Decodes the window that a sequence without tokens has read. If no text is accepted, the most probable one that is not too repetitive is. */
export async function decodeWithFallback(
  model: SpeechModel,
  sequence: SequenceId,
  { tokenizer, vocabulary }: { readonly tokenizer: Tokenizer; readonly vocabulary: WhisperVocabulary },
  window: Omit<WindowSettings, "temperature" | "bestOf" | "beams">,
  settings: WhisperSettings,
): Promise<AcceptedWindow> {
  const { temperatures, bestOf, beams, compressionRatioThreshold, logProbabilityThreshold, noSpeechThreshold } = settings;
  const tried: AcceptedWindow[] = [];
  for (const temperature of temperatures) {
    const decoded = await decodeWindow(model, sequence, vocabulary, { ...window, temperature, bestOf, beams });
    const compressionRatio = await getCompressionRatio(decodeText(tokenizer, vocabulary, decoded.tokens).trim());
    const result = { ...decoded, temperature, compressionRatio };
    tried.push(result);
    const isImprobable = decoded.averageLogProbability < logProbabilityThreshold;
    const isSilence = isImprobable && decoded.noSpeechProbability > noSpeechThreshold;
    if (isSilence || !(isImprobable || compressionRatio > compressionRatioThreshold)) return result;
  }
  const varied = tried.filter(({ compressionRatio }) => compressionRatio <= compressionRatioThreshold);
  const best = (varied.length > 0 ? varied : tried).reduce((one, other) =>
    other.averageLogProbability > one.averageLogProbability ? other : one,
  );
  return { ...best, temperature: at(tried, tried.length - 1).temperature };
}
