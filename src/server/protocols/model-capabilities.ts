/** Operations that a model supports, by what its files say. */
import { getMedium } from "../../models/language-tasks.ts";
import type { Manifest } from "../../models/manifest.ts";
import { getLabelHead } from "../../tasks/encoding/label-head.ts";
import { type MediaCapability, getMediaCapabilities } from "./media/media-capabilities.ts";

/** An operation of the API that a model supports. */
export type Capability = TextCapability | MediaCapability;

/** An operation on texts. */
type TextCapability =
  | "embed"
  | "embed_sparse"
  | "similarity"
  | "rerank"
  | "classify"
  | "recognize"
  | "answer"
  | "chunk"
  | "generate"
  | "chat"
  | "tools"
  | "rewrite";

/** The operations that the model supports. */
export function getModelCapabilities(manifest: Manifest): Capability[] {
  const has = (task: string): boolean => manifest.tasks.includes(task);
  const isLate = manifest.text?.lateInteraction !== undefined;
  const isEmbedder = has("feature-extraction") && !isLate;
  const { sparse, heads } = manifest.text ?? {};
  const templates = Object.values(manifest.chatTemplates ?? {});
  const labels = textLabels(manifest)?.length ?? 0;
  const able: Readonly<Record<TextCapability, boolean>> = {
    embed: isEmbedder,
    embed_sparse: has("fill-mask") || sparse !== undefined || heads?.sparse[0] !== undefined,
    similarity: isEmbedder,
    rerank: isEmbedder || isLate || labels === 1 || labels === 2,
    classify: labels > 0,
    recognize: has("token-classification"),
    answer: has("question-answering"),
    chunk: true,
    generate: has("text-generation"),
    chat: has("text-generation") && templates.length > 0,
    tools: has("text-generation") && templates.some((template) => /\btools\b/.test(template)),
    rewrite: has("text2text-generation"),
  };
  const media = getMediaCapabilities(manifest);
  // The tokenizer of a model of sound or pictures is for the text that it writes, or that it embeds beside pictures.
  if (manifest.text === undefined || getMedium(manifest) !== undefined)
    return media.includes("embed_image") ? ["embed", ...media] : media;
  return [...(Object.keys(able) as TextCapability[]).filter((capability) => able[capability]), ...media];
}

/** Tasks that are computed from the scores of labels for a whole text. */
const labelTasks: ReadonlySet<string> = new Set(["text-classification", "zero-shot-classification", "text-ranking"]);

/** The labels that the model assigns to texts; undefined for a model of another task, and if its files have none. */
export function textLabels(manifest: Manifest): readonly string[] | undefined {
  const { tasks } = manifest;
  if (tasks.length > 0 && !tasks.some((task) => labelTasks.has(task))) return undefined;
  const config = manifest.variants[0]?.config ?? {};
  return "id2label" in config || "num_labels" in config ? getLabelHead(manifest).labels : undefined;
}
