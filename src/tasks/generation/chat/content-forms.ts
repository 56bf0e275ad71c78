/**
 * Whether a chat template reads the content of messages as a text, as a list of parts, or as either. Templates of models that read images loop over parts, and print
 * nothing for a text, without an error. vLLM finds out by the template's syntax tree, llama.cpp by rendering short conversations, as it is done here: that sees through
 * macros and variables.
 */
import { type ErrorCode, InferyardError } from "../../../contract/errors.ts";
import { type ChatMessage, type ChatRole, getMessageText } from "./messages.ts";

/** Renders a short conversation with one template. */
export type RenderProbe = (messages: readonly ChatMessage[]) => Promise<string>;

/** Texts that no template writes. */
const [first, second] = ["qxzfirstpart", "qxzsecondpart"];

/** What a template reads in messages of one role. */
interface RoleForms {
  /** A text is lost, and a list of parts is read. */
  readonly needsParts: Promise<boolean>;
  /** A list of parts is read. */
  readonly takesParts: () => Promise<boolean>;
}

/** The forms of content that one template reads. */
export class ContentForms {
  readonly #render: RenderProbe;
  readonly #mentionsText: boolean;
  readonly #roles = new Map<ChatRole, RoleForms>();

  constructor(source: string, render: RenderProbe) {
    this.#render = render;
    // Whatever reads a part names its member "text".
    this.#mentionsText = /\btext\b/.test(source);
  }

  /** The messages with each content in a form that the template reads: as it is, its parts joined by line ends, or its text as a part. */
  async fit(messages: readonly ChatMessage[]): Promise<readonly ChatMessage[]> {
    const withLists = new Set(messages.flatMap(({ role, content }) => (typeof content === "object" ? [role] : [])));
    const needing = new Set<ChatRole>();
    const taking = new Set<ChatRole>();
    for (const role of new Set(messages.map((message) => message.role))) {
      const forms = this.#mentionsText ? this.#getForms(role) : undefined;
      if (await forms?.needsParts) needing.add(role);
      if (withLists.has(role) && (await forms?.takesParts())) taking.add(role);
    }
    if (needing.size === 0 && withLists.size === 0) return messages;
    return messages.map((message) => {
      const { role, content } = message;
      if (typeof content === "object") return taking.has(role) ? message : { ...message, content: getMessageText(message) };
      if (!needing.has(role)) return message;
      return { ...message, content: content === undefined || content === "" ? [] : [{ type: "text", text: content }] };
    });
  }

  #getForms(role: ChatRole): RoleForms {
    const known = this.#roles.get(role);
    if (known !== undefined) return known;
    const needsParts = this.#needsParts(role);
    let takes: Promise<boolean> | undefined;
    const forms = { needsParts, takesParts: () => (takes ??= this.#takesParts(role, needsParts)) };
    this.#roles.set(role, forms);
    // What the machine refused for now is asked again.
    needsParts.catch(() => this.#roles.delete(role));
    return forms;
  }

  async #needsParts(role: ChatRole): Promise<boolean> {
    if (reads(await this.#probe(role, first), [first])) return false;
    return reads(await this.#probe(role, [{ type: "text", text: first }]), [first]);
  }

  async #takesParts(role: ChatRole, needsParts: Promise<boolean>): Promise<boolean> {
    if (await needsParts) return true;
    const parts = [first, second].map((text) => ({ type: "text" as const, text }));
    return reads(await this.#probe(role, parts), [first, second]);
  }

  /** The prompt of a conversation with a message of the role; empty where the template refuses it or fails. */
  async #probe(role: ChatRole, content: ChatMessage["content"] & {}): Promise<string> {
    const question: ChatMessage = {
      role: "user",
      content: role !== "user" && (await this.#getForms("user").needsParts) ? [{ type: "text", text: "a" }] : "a",
    };
    const toolCalls = [{ id: "abcdefgh1", name: "a", arguments: "{}" }];
    const conversations: Readonly<Record<ChatRole, readonly ChatMessage[]>> = {
      system: [{ role, content }, question],
      developer: [{ role, content }, question],
      user: [{ role, content }],
      assistant: [question, { role, content }, question],
      tool: [question, { role: "assistant", toolCalls }, { role, content, toolCallId: "abcdefgh1", name: "a" }],
    };
    return renderedOrNothing(this.#render(conversations[role]));
  }
}

const templateErrors: ReadonlySet<ErrorCode> = new Set(["TEMPLATE_REFUSED", "MODEL_INVALID", "MODEL_UNSUPPORTED"]);

/** The text, or an empty one where the template refuses the conversation or fails. Other errors are thrown on. */
export async function renderedOrNothing(rendering: Promise<string>): Promise<string> {
  try {
    return await rendering;
  } catch (error) {
    if (error instanceof InferyardError && templateErrors.has(error.code)) return "";
    throw error;
  }
}

/** Whether the prompt has the texts as such: not as strings of a list that was printed. */
function reads(prompt: string, texts: readonly string[]): boolean {
  return texts.every((text) => prompt.includes(text) && !prompt.includes(`'${text}'`) && !prompt.includes(`"${text}"`));
}
