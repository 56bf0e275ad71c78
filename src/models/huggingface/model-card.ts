/** Reads what a model is for and how it is licensed: its tasks, its architecture and its license. */
import { readText } from "../../platform/node/files.ts";
import type { Folder, JsonObject } from "../model-folder.ts";

/** Patterns of the class names in `architectures` of config.json, and the Hugging Face task that each serves. */
const tasks: readonly (readonly [RegExp, string])[] = [
  [
    /^(Wav2Vec2|Hubert|WavLM|UniSpeech|SEW|Data2VecAudio).*ForSequenceClassification$|ForAudioClassification$/,
    "audio-classification",
  ],
  [/ForTokenClassification$/, "token-classification"],
  [/ForSequenceClassification$/, "text-classification"],
  [/ForMaskedLM$/, "fill-mask"],
  [/ForQuestionAnswering$/, "question-answering"],
  [/(ForCausalLM|LMHeadModel)$/, "text-generation"],
  [/^(T5|MT5|Bart|MBart|Pegasus|M2M100).*ForConditionalGeneration$|^MarianMTModel$/, "text2text-generation"],
  [/^Whisper.*ForConditionalGeneration$|ForCTC$/, "automatic-speech-recognition"],
  [/ForImageClassification$/, "image-classification"],
  [/ForImageClassificationWithTeacher$/, "image-classification"],
  [/ForObjectDetection$/, "object-detection"],
  [/^(ViTModel|DeiTModel|CLIPVisionModel(WithProjection)?)$/, "image-feature-extraction"],
  [/^(CLIP|Siglip)Model$/, "zero-shot-image-classification"],
  [/^VisionEncoderDecoderModel$/, "image-to-text"],
  [/Model$/, "feature-extraction"],
];

/** Names of the tasks that a model serves, by the name of its class; empty if the class is unknown. An embedding model serves feature-extraction. */
export function getTasks(modelClass: string | undefined, isEmbedding: boolean): readonly string[] {
  if (isEmbedding) return ["feature-extraction"];
  const task = tasks.find(([pattern]) => pattern.test(modelClass ?? ""))?.[1];
  return task === undefined ? [] : [task];
}

/**
 * The pattern of the class names (in `architectures` of config.json) that serve a Hugging Face task, for messages:
 * "…ForTokenClassification".
 */
export function getArchitectures(task: string): string {
  const [pattern] = tasks.find(([, name]) => name === task) ?? [];
  return (pattern?.source ?? "").replace(/^(?!\^)/, "…").replace(/\$$/, "");
}

/** The first entry of `architectures` in config.json, or undefined if there is none. */
export function getArchitecture(config: JsonObject): string | undefined {
  const { architectures } = config as { architectures?: unknown };
  const first: unknown = Array.isArray(architectures) ? architectures[0] : undefined;
  return typeof first === "string" ? first : undefined;
}

/** The `license` in the front matter of README.md, or undefined if there is no readable README.md or it states none. */
export async function readLicense(folder: Folder): Promise<string | undefined> {
  const card = await readText(`${folder.path}/README.md`).catch(() => "");
  const frontMatter = /^---\r?\n(.*?)\r?\n---/s.exec(card)?.[1] ?? "";
  return /^license:\s*["']?([^"'\s#]+)/m.exec(frontMatter)?.[1];
}
