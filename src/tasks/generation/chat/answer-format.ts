/** How a model's answers are marked up, by what its chat template mentions: thoughts between tags, and calls of tools in one of the known forms. */

/** Thoughts stand between these. */
export interface ReasoningTags {
  readonly open: string;
  readonly close: string;
}

/**
 * The form of calls: "tagged" (Hermes, Qwen, Granite: JSON or XML between tags), "mistral" ([TOOL_CALLS] and what follows), "json" (Llama 3: the whole
 * answer is JSON).
 */
export type ToolForm =
  | { readonly kind: "tagged"; readonly open: string; readonly close: string; readonly content: "json" | "xml" }
  | { readonly kind: "mistral"; readonly open: string; readonly named: boolean }
  | { readonly kind: "json" };

/** What is marked up in the answers of a model. */
export interface AnswerFormat {
  /** Undefined: there are no thoughts apart. */
  readonly reasoning?: ReasoningTags;
  /** Undefined: the template has no form of calls that is known here. */
  readonly tools?: ToolForm;
}

const reasoningTags: readonly ReasoningTags[] = [
  { open: "<think>", close: "</think>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  { open: "<seed:think>", close: "</seed:think>" },
];

/** The format of a model with this chat template. */
export function answerFormatOf(template: string): AnswerFormat {
  const reasoning = reasoningTags.find(({ close }) => template.includes(close));
  const tools = toolFormOf(template);
  return { ...(reasoning === undefined ? {} : { reasoning }), ...(tools === undefined ? {} : { tools }) };
}

/** Whether the prompt has opened the thoughts already, as some templates do. */
export function opensReasoning(prompt: string, { open, close }: ReasoningTags): boolean {
  const at = prompt.lastIndexOf(open);
  return at !== -1 && prompt.trimEnd().endsWith(open) && prompt.lastIndexOf(close) < at;
}

/** Special tokens of the format, which stay in the text that is read. */
export function markersOf({ reasoning, tools }: AnswerFormat): ReadonlySet<string> {
  const calls = tools === undefined ? [] : tools.kind === "json" ? ["<|python_tag|>"] : [tools.open];
  const ends = tools?.kind === "tagged" ? [tools.close] : tools?.kind === "mistral" ? ["[ARGS]", "[CALL_ID]"] : [];
  return new Set([...(reasoning === undefined ? [] : [reasoning.open, reasoning.close]), ...calls, ...ends]);
}

function toolFormOf(template: string): ToolForm | undefined {
  if (template.includes("<tool_call>")) {
    const content = template.includes("<function=") ? "xml" : "json";
    return { kind: "tagged", open: "<tool_call>", close: "</tool_call>", content };
  }
  if (template.includes("<|tool_call|>"))
    return { kind: "tagged", open: "<|tool_call|>", close: "<|/tool_call|>", content: "json" };
  if (template.includes("[TOOL_CALLS]")) return { kind: "mistral", open: "[TOOL_CALLS]", named: template.includes("[ARGS]") };
  if (/<\|python_tag\|>|"parameters": *dictionary|"parameters": dict/.test(template)) return { kind: "json" };
  return undefined;
}
