/** Requests and results of the runtime's methods on sound, but for `transcribe`. */
import type { ClassifySoundOptions } from "../../tasks/speech/classification/classify-sound-options.ts";
import type { SoundClassifications } from "../../tasks/speech/classification/classify-sound.ts";
import type { VoiceActivity } from "../../tasks/speech/voice-activity/detect-speech.ts";
import type { VoiceActivityOptions } from "../../tasks/speech/voice-activity/voice-activity-options.ts";
import type { TaskRequest, TaskRun } from "../task-requests.ts";

/** Options of `detectSpeech`. */
export type DetectSpeechRequest = TaskRequest<VoiceActivityOptions>;

/** Result of `detectSpeech`: segments of speech in seconds. */
export interface DetectSpeechResult extends VoiceActivity, TaskRun {}

/** Options of `classifySound`. */
export type ClassifySoundRequest = TaskRequest<ClassifySoundOptions>;

/** Result of `classifySound`: labels with scores per sound. */
export interface ClassifySoundResult extends SoundClassifications, TaskRun {}
