/** Makes the prompt of a conversation with the model's own chat template. */
import { InferyardError } from "../../../contract/errors.ts";
import { TemplateEngine } from "../../../templates/render-call.ts";
import type { TextWorkers } from "../../text-threads/text-workers.ts";
import { type ChatMessage, type Tool, textOf } from "./messages.ts";
import { type TemplateVariables, variablesJson } from "./template-variables.ts";

/** Chat templates of a model by name: "default", "tool_use", ... */
export type ChatTemplates = Readonly<Record<string, string>>;

/** A conversation to render. */
export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** Further variables of the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Where templates run. Undefined: in the calling thread, with what they may take counted and without a deadline. */
export type TemplateWorkers = Pick<TextWorkers, "render" | "prepareRender"> | undefined;

/** Milliseconds in which a template that ran out of time or memory is refused without being tried again. */
const refusalMs = 60_000;
/** Bounds whose error depends on the machine and costs a thread: what went beyond them is not tried again at once. */
const costlyBounds: ReadonlySet<unknown> = new Set(["milliseconds", "heapMebibytes"]);

/** The chat templates of one model. */
export class ChatTemplate {
  readonly #templates: ChatTemplates;
  readonly #specialTokens: Readonly<Record<string, unknown>>;
  readonly #workers: TemplateWorkers;
  readonly #engine = new TemplateEngine();
  /** Whether the template writes tools into prompts. */
  #writesTools: Promise<boolean> | undefined;
  /** Why a template is refused, by its name, and until when. */
  readonly #refused = new Map<string, { readonly error: InferyardError; readonly until: number }>();

  /** `tokenizerConfig`: content of tokenizer_config.json, whose special tokens templates name. */
  constructor(templates: ChatTemplates, tokenizerConfig: Readonly<Record<string, unknown>>, workers?: TemplateWorkers) {
    this.#templates = templates;
    this.#specialTokens = specialTokensOf(tokenizerConfig);
    this.#workers = workers;
  }

  /** Text of the template for conversations with or without tools. */
  source(hasTools: boolean): string {
    return this.#templates[this.#nameFor(hasTools)] ?? "";
  }

  /**
   * The prompt, up to where the model's answer begins. Throws INPUT_INVALID for a conversation that the template refuses, MODEL_UNSUPPORTED for tools if
   * the template has no place for them, and MODEL_INVALID for a template that fails or goes beyond a bound.
   */
  async render({ messages, tools, variables = {} }: Conversation): Promise<string> {
    const name = this.#nameFor(tools.length > 0);
    if (tools.length > 0) await this.checkTools();
    const others = { ...this.#specialTokens, add_generation_prompt: true, ...variables };
    try {
      return await this.#run(name, { messages, tools, others });
    } catch (error) {
      const isRefusal = error instanceof InferyardError && error.code === "INPUT_INVALID" && "refusal" in error.data;
      const merged = isRefusal ? withoutSystem(messages) : undefined;
      if (merged === undefined) throw error;
      return this.#run(name, { messages: merged, tools, others });
    }
  }

  /** Throws MODEL_UNSUPPORTED for tools if the template has no place for them: the prompt of a question is the same with and without them. */
  async checkTools(): Promise<void> {
    this.#writesTools ??= this.#findToolPlace();
    if (await this.#writesTools) return;
    throw new InferyardError("MODEL_UNSUPPORTED", "the model's chat template has no place for tools", {
      remedy: "leave tools out, or use a model that was trained to call them",
    });
  }

  async #findToolPlace(): Promise<boolean> {
    if (!/\btools\b/.test(this.source(true))) return false;
    const others = { ...this.#specialTokens, add_generation_prompt: true };
    const messages: readonly ChatMessage[] = [{ role: "user", content: "?" }];
    const prompt = (tools: readonly Tool[]): Promise<string> => this.#run(this.#nameFor(true), { messages, tools, others });
    try {
      return (await prompt([{ name: "probe" }])) !== (await prompt([]));
    } catch {
      return true; // rendering the conversation itself says what is wrong
    }
  }

  #nameFor(hasTools: boolean): string {
    if (hasTools && this.#templates["tool_use"] !== undefined) return "tool_use";
    return this.#templates["default"] === undefined ? (Object.keys(this.#templates)[0] ?? "default") : "default";
  }

  async #run(name: string, variables: TemplateVariables): Promise<string> {
    const refused = this.#refused.get(name);
    if (refused !== undefined && Date.now() < refused.until) throw refused.error;
    const call = { source: this.#templates[name] ?? "", variables: variablesJson(variables), now: Date.now() };
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
        ...(remedy === undefined ? {} : { remedy }),
      },
    );
    this.#refused.set(name, { error, until });
  }
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

/** The special tokens of tokenizer_config.json by name, such as bos_token. */
function specialTokensOf(config: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries = Object.entries(config).flatMap(([name, value]) => {
    const text: unknown = typeof value === "object" && value !== null && "content" in value ? value.content : value;
    return /^\w+_token$/.test(name) && typeof text === "string" ? [[name, text] as const] : [];
  });
  return Object.fromEntries(entries);
}
