/** Operations on pictures and sound that a model supports, by what its files say. */
import { embedsPictures } from "../../../api/encoder-tasks.ts";
import type { Manifest } from "../../../models/manifest.ts";

/** An operation on pictures or sound. */
export type MediaCapability =
  | "embed_image"
  | "classify_image"
  | "detect"
  | "read"
  | "transcribe"
  | "detect_speech"
  | "classify_sound";

/** The operation of each task that reads pictures or sound. */
const capabilityOfTask: Readonly<Record<string, MediaCapability>> = {
  "image-classification": "classify_image",
  "zero-shot-image-classification": "classify_image",
  "object-detection": "detect",
  "optical-character-recognition": "read",
  "image-to-text": "read",
  "automatic-speech-recognition": "transcribe",
  "voice-activity-detection": "detect_speech",
  "audio-classification": "classify_sound",
};

/** The operations on pictures and sound that the model supports. */
export function getMediaCapabilities(manifest: Manifest): MediaCapability[] {
  const found = manifest.tasks.flatMap((task) => capabilityOfTask[task] ?? []);
  if (embedsPictures(manifest)) found.push("embed_image", "classify_image");
  if (isVoiceDetector(manifest)) found.push("detect_speech");
  return [...new Set(found)];
}

/** Whether the graph has the inputs of Silero's network, whose file states no task. */
function isVoiceDetector({ variants }: Manifest): boolean {
  return variants.some(({ signature }) => {
    const names = new Set(signature?.inputs.map(({ name }) => name));
    return names.has("input") && (names.has("state") || (names.has("h") && names.has("c")));
  });
}
