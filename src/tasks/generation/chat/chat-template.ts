/** Makes the prompt of a conversation with the model's own chat template. */
import { getOrInsert, omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, invalidInput, unsupportedModel } from "../../../contract/errors.ts";
import { TemplateEngine } from "../../../templates/render-call.ts";
import type { TextWorkers } from "../../text-threads/text-workers.ts";
import { withTemplateIds } from "./call-ids.ts";
import { ContentForms, renderedOrNothing } from "./content-forms.ts";
import { getCallForm } from "./forms/known-forms.ts";
import { type ChatMessage, type Tool, getMessageText } from "./messages.ts";
import { type TemplateVariables, variablesJson } from "./template-variables.ts";

/** Chat templates of a model by name: "default", "tool_use", ... */
export type ChatTemplates = Readonly<Record<string, string>>;

/** A conversation to render. */
export interface TemplateConversation {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** Further variables of the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Time that `strftime_now` returns, in milliseconds since 1970. Default: the current time. */
  readonly now?: number | undefined;
}

/** Threads that run templates. Undefined: the calling thread, with limits on steps and memory and without a deadline. */
export type TemplateWorkers = Pick<TextWorkers, "render" | "prepareRender"> | undefined;

/** Milliseconds in which a template that ran out of time or memory is refused without being tried again. */
const refusalMs = 60_000;
/** Bounds whose error depends on the machine and costs a thread: what went beyond them is not tried again at once. */
const costlyBounds: ReadonlySet<unknown> = new Set(["milliseconds", "heapMebibytes"]);

/** An answer that no template writes. */
const answerMark = "qxzanswer";

/** The chat templates of one model. */
export class ChatTemplate {
  readonly #templates: ChatTemplates;
  readonly #specialTokens: Readonly<Record<string, unknown>>;
  readonly #workers: TemplateWorkers;
  readonly #engine = new TemplateEngine();
  /** The forms of content that a template reads, by its name. */
  readonly #forms = new Map<string, ContentForms>();
  /** What a template writes after an answer, by its name. */
  readonly #endings = new Map<string, Promise<string>>();
  /** Whether the template writes tools into prompts. */
  #writesTools: Promise<boolean> | undefined;
  /** Why a template is refused, by its name, and until when. */
  readonly #refused = new Map<string, { readonly error: InferyardError; readonly until: number }>();

  /** `tokenizerConfig`: content of tokenizer_config.json, whose special tokens templates name. */
  constructor(templates: ChatTemplates, tokenizerConfig: Readonly<Record<string, unknown>>, workers?: TemplateWorkers) {
    this.#templates = templates;
    this.#specialTokens = getSpecialTokens(tokenizerConfig);
    this.#workers = workers;
  }

  /** Text of the template for conversations with or without tools. */
  source(hasTools: boolean): string {
    return this.#templates[this.#nameFor(hasTools)] ?? "";
  }

  /**
   * The prompt, up to the beginning of the model's answer. Throws TEMPLATE_REFUSED for a conversation that the template refuses, MODEL_UNSUPPORTED for tools if
   * the template has no place for them, and MODEL_INVALID for a template that fails or goes beyond a bound.
   */
  async render({ messages, tools, variables = {}, now }: TemplateConversation): Promise<string> {
    const name = this.#nameFor(tools.length > 0);
    if (tools.length > 0) await this.checkTools();
    const others = { ...this.#specialTokens, add_generation_prompt: true, ...variables };
    const ids = getCallForm(this.source(tools.length > 0))?.ids;
    const render = async (given: readonly ChatMessage[]): Promise<string> => {
      const fitting = await this.#getForms(name).fit(withTemplateIds(given, ids));
      return this.#run(name, { messages: fitting, tools, others }, now);
    };
    try {
      return await render(messages);
    } catch (error) {
      let refusal = error;
      for (const merge of [withOneSystem, withoutSystem]) {
        if (!(refusal instanceof InferyardError) || refusal.code !== "TEMPLATE_REFUSED") break;
        const merged = merge(messages);
        if (merged === undefined) continue;
        try {
          return await render(merged);
        } catch (next) {
          refusal = next;
        }
      }
      throw refusal;
    }
  }

  /**
   * The prompt, up to the end of the last message's content, which the model continues. Throws as `render` does, and INPUT_INVALID if the template changes the
   * content.
   */
  async renderToContinue({ variables = {}, ...conversation }: TemplateConversation): Promise<string> {
    const prompt = await this.render({ ...conversation, variables: { ...variables, add_generation_prompt: false } });
    const last = conversation.messages.at(-1);
    const content = last === undefined ? "" : getMessageText(last);
    // Templates may remove white space around the content.
    for (const written of [content.trimStart(), content.trim()]) {
      const at = written === "" ? -1 : prompt.lastIndexOf(written);
      if (at !== -1) return prompt.slice(0, at + written.length);
    }
    throw invalidInput(
      "the prompt does not have the content of the last message, so it cannot end there",
      "give the last message a text, or let the model begin an answer",
    );
  }

  /**
   * Text that the template writes after the content of an answer, either if the conversation ends with it or else before the user's next message. Empty if it
   * writes nothing, or does not render such a conversation.
   */
  async turnEnding(hasTools: boolean): Promise<string> {
    const name = this.#nameFor(hasTools);
    const known = getOrInsert(this.#endings, name, () => this.#findEnding(name));
    known.catch(() => this.#endings.delete(name));
    return known;
  }

  async #findEnding(name: string): Promise<string> {
    const question: ChatMessage = { role: "user", content: "a" };
    const turns: readonly ChatMessage[] = [question, { role: "assistant", content: answerMark }];
    for (const messages of [turns, [...turns, question]]) {
      const prompt = await renderedOrNothing(this.#probe(name, messages, true));
      const at = prompt.lastIndexOf(answerMark);
      const ending = at === -1 ? "" : prompt.slice(at + answerMark.length).trimStart();
      if (ending !== "") return ending;
    }
    return "";
  }

  /** Renders a short conversation, to learn how the template writes it. */
  async #probe(name: string, messages: readonly ChatMessage[], fits: boolean): Promise<string> {
    const given = fits ? await this.#getForms(name).fit(messages) : messages;
    return this.#run(name, { messages: given, tools: [], others: { ...this.#specialTokens, add_generation_prompt: false } });
  }

  #getForms(name: string): ContentForms {
    const known =
      this.#forms.get(name) ?? new ContentForms(this.#templates[name] ?? "", (messages) => this.#probe(name, messages, false));
    this.#forms.set(name, known);
    return known;
  }

  /** Throws MODEL_UNSUPPORTED for tools if the template has no place for them: the prompt of a question is the same with and without them. */
  async checkTools(): Promise<void> {
    this.#writesTools ??= this.#findToolPlace();
    if (await this.#writesTools) return;
    throw unsupportedModel(
      "the model's chat template has no place for tools",
      "leave tools out, or use a model that was trained to call them",
    );
  }

  async #findToolPlace(): Promise<boolean> {
    if (!/\btools\b/.test(this.source(true))) return false;
    const others = { ...this.#specialTokens, add_generation_prompt: true };
    const name = this.#nameFor(true);
    try {
      const messages = await this.#getForms(name).fit([{ role: "user", content: "?" }]);
      const prompt = (tools: readonly Tool[]): Promise<string> => this.#run(name, { messages, tools, others });
      return (await prompt([{ name: "probe", description: "probe" }])) !== (await prompt([]));
    } catch {
      return true; // rendering the conversation itself says what is wrong
    }
  }

  #nameFor(hasTools: boolean): string {
    if (hasTools && this.#templates["tool_use"] !== undefined) return "tool_use";
    return this.#templates["default"] === undefined ? (Object.keys(this.#templates)[0] ?? "default") : "default";
  }

  async #run(name: string, variables: TemplateVariables, now: number = Date.now()): Promise<string> {
    const refused = this.#refused.get(name);
    if (refused !== undefined && Date.now() < refused.until) throw refused.error;
    const call = { source: this.#templates[name] ?? "", variables: variablesJson(variables), now };
    try {
      return await (this.#workers === undefined ? this.#engine.render(call) : this.#workers.render(this, call));
    } catch (error) {
      if (error instanceof InferyardError && costlyBounds.has(error.data["bound"])) this.#refuse(name, error);
      throw error;
    }
  }

  #refuse(name: string, { message, data, remedy }: InferyardError): void {
    const until = Date.now() + refusalMs;
    const error = new InferyardError(
      "MODEL_INVALID",
      `${message}, and is not tried again before ${new Date(until).toISOString()}`,
      {
        data: { ...data, refusedUntil: new Date(until).toISOString() },
        ...omitUndefined({ remedy }),
      },
    );
    this.#refused.set(name, { error, until });
  }
}

/** The messages with all texts of the system in one message before the others, for templates that take the system at the beginning only. Undefined if it is so. */
function withOneSystem(messages: readonly ChatMessage[]): readonly ChatMessage[] | undefined {
  const systems = messages.filter(isSystem);
  if (systems.length === 0 || (systems.length === 1 && systems[0] === messages[0])) return undefined;
  const content = systems.map(getMessageText).join("\n\n");
  return [{ role: "system", content }, ...messages.filter((message) => !isSystem(message))];
}

function isSystem({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

/** The messages with the system's text put before the first user's, for models without a system role. Undefined if no message is the system's. */
function withoutSystem(messages: readonly ChatMessage[]): readonly ChatMessage[] | undefined {
  const text = messages.filter(isSystem).map(getMessageText).join("\n\n");
  if (text === "") return undefined;
  const others = messages.filter((message) => !isSystem(message));
  const first = others.findIndex(({ role }) => role === "user");
  return others.map((message, index) =>
    index === first ? { ...message, content: `${text}\n\n${getMessageText(message)}` } : message,
  );
}

/** The special tokens of tokenizer_config.json by name, such as bos_token. */
function getSpecialTokens(config: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries = Object.entries(config).flatMap(([name, value]) => {
    const text: unknown = typeof value === "object" && value !== null && "content" in value ? value.content : value;
    return /^\w+_token$/.test(name) && typeof text === "string" ? [[name, text] as const] : [];
  });
  return Object.fromEntries(entries);
}
