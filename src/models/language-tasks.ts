/** What kind of model one is, by its tasks: whether it writes text, and whether it reads anything but text. */
import { unsupportedModel } from "../contract/errors.ts";
import type { LanguageVariant } from "./manifest/language-variants.ts";
import type { Manifest } from "./manifest.ts";

const languageTasks: ReadonlySet<string> = new Set(["text-generation", "text2text-generation"]);

/** Kind under which a model is loaded by default: "language" if its task is to write text, else "tensor". */
export function usualKind({ tasks }: Pick<Manifest, "tasks">): "language" | "tensor" {
  return tasks.some((task) => languageTasks.has(task)) ? "language" : "tensor";
}

/** Tasks of models that read sound or pictures, and what they read. */
const media: readonly (readonly [pattern: RegExp, read: string])[] = [
  [/audio|speech/, "sound"],
  [/image|object|video|document|optical/, "pictures"],
];

/** Input of a model that is not text, by its first task: "sound" or "pictures"; undefined for a model of texts, and for one whose task is not known. */
export function getMedium({ tasks }: Pick<Manifest, "tasks">): string | undefined {
  const [task = ""] = tasks;
  return media.find(([pattern]) => pattern.test(task))?.[1];
}

/** Throws MODEL_UNSUPPORTED for a model that reads sound or pictures, where it is to write text after a text. */
export function requireTextInput({ name, tasks }: Pick<Manifest, "name" | "tasks">): void {
  const medium = getMedium({ tasks });
  if (medium === undefined) return;
  throw unsupportedModel(
    `${name} is a model for ${tasks[0]}: it reads ${medium}, not text`,
    "name a model for text-generation or text2text-generation",
  );
}

/** Throws MODEL_UNSUPPORTED for a model of pictures without a decoder, where it is to predict tokens. A model of speech or of captions may have one: `requireWriter` looks at its files. */
export function requireDecodableInput(manifest: Pick<Manifest, "name" | "tasks">): void {
  if (manifest.tasks[0] !== speechTask && manifest.tasks[0] !== captionTask) requireTextInput(manifest);
}

/** The task of models that write a text about a picture. */
export const captionTask = "image-to-text";

/** The task of models that write down speech. */
export const speechTask = "automatic-speech-recognition";

/**
 * Model classes of the library transformers that have no language-modeling head: encoders, bare models that return hidden states, and models with the
 * head of another task.
 */
const otherClass =
  /(?<!LMHead|DoubleHeads|MarianMT|EncoderDecoder)Model$|For(?:MaskedLM|PreTraining|(?:Token|Sequence)Classification|QuestionAnswering|MultipleChoice|CTC|NextSentencePrediction)$/;

/** Inputs of a graph that decodes token by token: token ids, and the KV cache or the state of recurrent layers. */
const idsInput = /^(?:decoder_)?input_ids$/;
const stateInput = /^(?:past|rnn_states_prev)/;
const integerTypes: ReadonlySet<string> = new Set(["int64", "int32", "bool"]);

/**
 * Why a variant cannot generate text on any engine; undefined if it may. An ONNX graph is judged by its inputs: a graph with only integer inputs
 * reads whole texts and has no KV cache. Other formats are judged by the model's class.
 */
function whyNoWriter({ format, architecture = "", signature, decoderWithPast }: LanguageVariant): string | undefined {
  if (format !== "onnx") return otherClass.test(architecture) ? `${architecture} has no head that writes text` : undefined;
  if (signature === undefined || decoderWithPast !== undefined) return undefined;
  const { inputs } = signature;
  if (!inputs.some(({ name }) => idsInput.test(name))) return "its graph takes no input_ids";
  const hasState = inputs.some(({ name, type }) => stateInput.test(name) || !integerTypes.has(type));
  return hasState ? undefined : "its graph takes no keys and values of earlier tokens";
}

/** Throws MODEL_UNSUPPORTED for a model without a variant that can generate text: an encoder, or a model for another task. */
export function requireWriter({ name, tasks }: Pick<Manifest, "name" | "tasks">, variants: readonly LanguageVariant[]): void {
  const reasons = variants.map(whyNoWriter);
  if (reasons.includes(undefined)) return;
  const [task] = tasks;
  const isOther = task !== undefined && usualKind({ tasks }) !== "language";
  const what = isOther ? `is a model for ${task}, and cannot write text` : "cannot write text";
  throw unsupportedModel(
    `${name} ${what}: ${reasons[0]}`,
    "name a model for text-generation or text2text-generation, exported with its cache (Optimum: --task text-generation-with-past, text2text-generation-with-past)",
  );
}

/** Whether a model transcribes by CTC (connectionist temporal classification, Graves et al. 2006), by the class that its files name: it is loaded as a graph, and not as a language model. */
export function usesCtc({ variants }: Pick<Manifest, "variants">): boolean {
  return variants.some(({ architecture = "" }) => architecture.endsWith("ForCTC"));
}
