/** How a model's answers are marked up, by what its chat template and its vocabulary mention: thoughts, and calls of tools in one of the known forms. */
import { omitUndefined } from "../../../contract/checked.ts";
import type { CallForm } from "./forms/call-form.ts";
import { channelForm, channelMarkers, hasChannels } from "./forms/channels.ts";
import { getCallForm } from "./forms/known-forms.ts";

/** The tags around thoughts. */
export interface ReasoningTags {
  readonly open: string;
  readonly close: string;
  /** Special tokens in them. Default: these are tokens themselves. */
  readonly markers?: readonly string[];
}

/** Markup in the answers of a model. */
export interface AnswerFormat {
  /** Tags around thoughts. Undefined: the model marks no thoughts. */
  readonly reasoning?: ReasoningTags;
  /** Form of tool calls. Undefined: the template has no known form of calls. */
  readonly calls?: CallForm;
  /** Whether answers are messages on channels, each with a header (harmony, the format of gpt-oss). */
  readonly hasChannels: boolean;
}

const reasoningTags: readonly ReasoningTags[] = [
  { open: "<think>", close: "</think>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  { open: "<seed:think>", close: "</seed:think>" },
  { open: "<mm:think>", close: "</mm:think>" },
  { open: "◁think▷", close: "◁/think▷" },
  { open: "<thinking>", close: "</thinking>" },
  { open: "<|channel>thought", close: "<channel|>", markers: ["<|channel>", "<channel|>"] },
  // In words, where a template teaches both.
  { open: "Here is my thought process:", close: "Here is my response:" },
  { open: "Here are my reasoning steps:", close: "[BEGIN FINAL RESPONSE]" },
];

/** Whether a text is a token of the model's vocabulary. */
export type HasToken = (text: string) => boolean;

/** The format of a model with this chat template. */
export function getAnswerFormat(template: string, hasToken: HasToken = () => false): AnswerFormat {
  if (hasChannels(template, hasToken)) return { hasChannels: true, calls: channelForm };
  const reasoning =
    reasoningTags.find(({ open, close }) => template.includes(close) && (!open.startsWith("Here") || template.includes(open))) ??
    reasoningTags.find(({ open, close }) => hasToken(open) && hasToken(close));
  const calls = getCallForm(template);
  return { hasChannels: false, ...omitUndefined({ reasoning, calls }) };
}

/** Whether the prompt has opened the thoughts already, as some templates do. */
export function opensReasoning(prompt: string, { open, close }: ReasoningTags): boolean {
  const at = prompt.lastIndexOf(open);
  return at !== -1 && prompt.trimEnd().endsWith(open) && prompt.lastIndexOf(close) < at;
}

/** Special tokens of the format, which stay in the text that is read. */
export function getMarkers({ reasoning, calls, hasChannels: inChannels }: AnswerFormat): ReadonlySet<string> {
  if (inChannels) return new Set(channelMarkers);
  return new Set([
    ...(reasoning === undefined ? [] : (reasoning.markers ?? [reasoning.open, reasoning.close])),
    ...(calls?.markers ?? []),
  ]);
}
