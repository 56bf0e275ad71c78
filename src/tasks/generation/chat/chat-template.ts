/** Makes the prompt of a conversation with the model's own chat template. */
import { InferyardError, messageOf } from "../../../contract/errors.ts";
import { type ChatMessage, type Tool, textOf } from "./messages.ts";
import { TemplateBound, TemplateRefusal, parseTemplate, runTemplate } from "./template-interpreter.ts";

/** Chat templates of a model by name: "default", "tool_use", ... */
export type ChatTemplates = Readonly<Record<string, string>>;

/** A conversation to render. */
export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** Further variables of the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** The chat templates of one model. */
export class ChatTemplate {
  readonly #templates: ChatTemplates;
  readonly #specialTokens: Readonly<Record<string, unknown>>;
  readonly #parsed = new Map<string, ReturnType<typeof parseTemplate>>();

  /** `tokenizerConfig`: content of tokenizer_config.json, whose special tokens templates name. */
  constructor(templates: ChatTemplates, tokenizerConfig: Readonly<Record<string, unknown>>) {
    this.#templates = templates;
    this.#specialTokens = specialTokensOf(tokenizerConfig);
  }

  /** Text of the template for conversations with or without tools. */
  source(hasTools: boolean): string {
    return this.#templates[this.#nameFor(hasTools)] ?? "";
  }

  /**
   * The prompt, up to where the model's answer begins. Throws INPUT_INVALID for a conversation that the template refuses, MODEL_UNSUPPORTED for tools if
   * the template has no place for them, and MODEL_INVALID for a template that fails.
   */
  render({ messages, tools, variables = {} }: Conversation): string {
    const name = this.#nameFor(tools.length > 0);
    if (tools.length > 0 && !/\btools\b/.test(this.source(true))) {
      throw new InferyardError("MODEL_UNSUPPORTED", "the model's chat template has no place for tools", {
        remedy: "leave tools out, or use a model that was trained to call them",
      });
    }
    const given = tools.map(({ name: tool, description = "", parameters = { type: "object", properties: {} } }) => ({
      type: "function",
      function: { name: tool, description, parameters },
    }));
    const rest = {
      ...this.#specialTokens,
      add_generation_prompt: true,
      ...variables,
      ...(given.length > 0 ? { tools: given } : {}),
    };
    try {
      return this.#run(name, { ...rest, messages: messages.map(toTemplate) });
    } catch (error) {
      const merged = error instanceof TemplateRefusal ? withoutSystem(messages) : undefined;
      if (merged === undefined) throw error instanceof TemplateRefusal ? refused(error) : error;
      return this.#runOrRefuse(name, { ...rest, messages: merged.map(toTemplate) });
    }
  }

  #nameFor(hasTools: boolean): string {
    if (hasTools && this.#templates["tool_use"] !== undefined) return "tool_use";
    return this.#templates["default"] === undefined ? (Object.keys(this.#templates)[0] ?? "default") : "default";
  }

  #runOrRefuse(name: string, variables: Readonly<Record<string, unknown>>): string {
    try {
      return this.#run(name, variables);
    } catch (error) {
      throw error instanceof TemplateRefusal ? refused(error) : error;
    }
  }

  #run(name: string, variables: Readonly<Record<string, unknown>>): string {
    try {
      const program = this.#parsed.get(name) ?? parseTemplate(this.#templates[name] ?? "");
      this.#parsed.set(name, program);
      return runTemplate(program, variables);
    } catch (error) {
      if (error instanceof TemplateRefusal) throw error;
      const problem = error instanceof TemplateBound ? error.message : `fails: ${messageOf(error)}`;
      throw new InferyardError("MODEL_INVALID", `the model's chat template ${problem}`, {
        cause: error,
        remedy: "correct chat_template in tokenizer_config.json, or render the prompt yourself and give it to `generate`",
      });
    }
  }
}

function refused(error: TemplateRefusal): InferyardError {
  return new InferyardError("INPUT_INVALID", `the model's chat template refuses the conversation: ${error.message}`, {
    cause: error,
    remedy: "change the order or the roles of the messages",
  });
}

/** The messages with the system's text before that of the first user, for models that know no system. Undefined if no message is the system's. */
function withoutSystem(messages: readonly ChatMessage[]): readonly ChatMessage[] | undefined {
  const isSystem = ({ role }: ChatMessage): boolean => role === "system" || role === "developer";
  const text = messages.filter(isSystem).map(textOf).join("\n\n");
  if (text === "") return undefined;
  const others = messages.filter((message) => !isSystem(message));
  const first = others.findIndex(({ role }) => role === "user");
  return others.map((message, index) => (index === first ? { ...message, content: `${text}\n\n${textOf(message)}` } : message));
}

/** A message as templates of Hugging Face read it. */
function toTemplate({
  role,
  reasoning,
  toolCalls,
  toolCallId,
  name,
  ...message
}: ChatMessage): Readonly<Record<string, unknown>> {
  return {
    role: role === "developer" ? "system" : role,
    content: textOf(message),
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    ...(name === undefined ? {} : { name }),
    ...(toolCalls === undefined || toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: JSON.parse(call.arguments) as unknown },
          })),
        }),
  };
}

/** The special tokens of tokenizer_config.json by name, such as bos_token. */
function specialTokensOf(config: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries = Object.entries(config).flatMap(([name, value]) => {
    const text: unknown = typeof value === "object" && value !== null && "content" in value ? value.content : value;
    return /^\w+_token$/.test(name) && typeof text === "string" ? [[name, text] as const] : [];
  });
  return Object.fromEntries(entries);
}
