/** The definitions of the tasks on sound, but for transcription. */
import { getArchitectures } from "../models/huggingface/model-card.ts";
import type { MediaTask } from "./definition/media-task.ts";
import type { ClassifySoundOptions } from "./speech/classification/classify-sound-options.ts";
import type { SoundClassifications } from "./speech/classification/classify-sound.ts";
import type { SoundInput } from "./speech/sound-input.ts";
import type { VoiceActivity } from "./speech/voice-activity/detect-speech.ts";
import type { VoiceActivityOptions } from "./speech/voice-activity/voice-activity-options.ts";

/** When somebody speaks in a sound. */
export const voiceActivityTask: MediaTask<SoundInput, VoiceActivityOptions, VoiceActivity> = {
  task: "voice-activity-detection",
  verb: "detectSpeech",
  command: "detect-speech",
  route: "/api/detect-speech",
  input: "sound: a file, or samples",
  output: "segments of speech with their times",
  models: "silero_vad.onnx",
  files: [],
  pipeline: false,
  load: async () => {
    const [{ checkDetectSpeech, detectSpeech }, { voiceActivityOptions }] = await Promise.all([
      import("./speech/voice-activity/detect-speech.ts"),
      import("./speech/voice-activity/voice-activity-options.ts"),
    ]);
    return { options: voiceActivityOptions, check: checkDetectSpeech, run: detectSpeech };
  },
};

/** Labels of sounds by a classifier. */
export const audioClassificationTask: MediaTask<readonly SoundInput[], ClassifySoundOptions, SoundClassifications> = {
  task: "audio-classification",
  verb: "classifySound",
  command: "classify-sound",
  route: "/api/classify-sound",
  input: "sounds: files, or samples",
  output: "labels with scores",
  models: getArchitectures("audio-classification"),
  files: ["preprocessor_config.json", "config.json (id2label)"],
  pipeline: true,
  load: async () => {
    const [{ checkClassifySound, classifySound }, { classifySoundOptions }] = await Promise.all([
      import("./speech/classification/classify-sound.ts"),
      import("./speech/classification/classify-sound-options.ts"),
    ]);
    return { options: classifySoundOptions, check: checkClassifySound, run: classifySound };
  },
};
