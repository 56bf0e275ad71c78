/** A conversation at the terminal: one answer, or one after another until the user leaves. */
import { createInterface } from "node:readline";
import type { Runtime } from "../../api/runtime.ts";
import type { ChatResult } from "../../api/task-requests.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { ChatEvent } from "../../tasks/generation/chat/chat.ts";
import { describeGeneration } from "../output/generated.ts";
import { colorize } from "../output/style.ts";
import { formatMilliseconds } from "../output/units.ts";
import { type Terminal, writeAll, writeLine } from "../terminal.ts";
import { type ChatState, runChatCommand } from "./chat-commands.ts";

/** Resources of a conversation. */
export interface ChatSession {
  readonly runtime: Runtime;
  readonly model: ModelHandle;
  readonly terminal: Terminal;
  readonly state: ChatState;
}

/** Answers one message, which is added to the conversation. Shows the answer while it is generated if `isShown`. Throws ABORTED. */
export async function answerOnce(
  { runtime, model, terminal, state }: ChatSession,
  content: string | undefined,
  isShown: boolean,
  signal: AbortSignal,
): Promise<ChatResult> {
  const messages = content === undefined ? state.messages : [...state.messages, { role: "user" as const, content }];
  const stream = await runtime.chat(messages, { ...state.options, model, signal, stream: true });
  const shown = new AnswerView(terminal);
  try {
    if (isShown) for await (const event of stream) await shown.show(event);
    const result = await stream.finish();
    state.messages = [...messages, result.message];
    return result;
  } catch (error) {
    // What was said until it was stopped stays part of the conversation.
    state.messages = [...messages, ...(shown.text === "" ? [] : [{ role: "assistant" as const, content: shown.text }])];
    throw error;
  } finally {
    if (isShown) await shown.end();
  }
}

/** Reads messages and commands from the terminal, and answers them, until the user leaves. */
export async function converse(conversation: ChatSession): Promise<void> {
  const { terminal, state } = conversation;
  const lines = createInterface({ input: terminal.stdin, output: terminal.stdout, terminal: true, prompt: "> " });
  let answering: AbortController | undefined;
  let isLeaving = false;
  lines.on("SIGINT", () => {
    if (answering !== undefined) answering.abort();
    else if (isLeaving) lines.close();
    else {
      isLeaving = true;
      writeLine(terminal.stdout, "\n(Ctrl-C again, Ctrl-D or /exit leaves)");
      lines.prompt();
    }
  });
  const answer = async (message: string | undefined): Promise<void> => {
    answering = new AbortController();
    try {
      const result = await answerOnce(conversation, message, true, answering.signal);
      if (state.showsSpeed) writeLine(terminal.stderr, colorize(terminal, "quiet", describeAnswer(result)));
    } catch (error) {
      if (!(error instanceof InferyardError)) throw error;
      writeLine(terminal.stderr, error.code === "ABORTED" ? "(stopped)" : `${error.message}${getRemedy(error)}`);
    } finally {
      answering = undefined;
    }
  };
  const reader = new MessageReader();
  lines.prompt();
  for await (const line of lines) {
    isLeaving = false;
    const message = reader.take(line);
    if (message === undefined) {
      lines.setPrompt("… ");
    } else {
      lines.setPrompt("> ");
      if (message.startsWith("/") && !message.includes("\n")) {
        const outcome = await runChatCommand(message, state).catch((error: unknown) => {
          if (error instanceof InferyardError) return { shown: `${error.message}${getRemedy(error)}` };
          throw error;
        });
        if (outcome === undefined) await answer(undefined);
        else if ("ends" in outcome) break;
        else if (outcome.shown !== undefined) writeLine(terminal.stdout, outcome.shown);
      } else if (message.trim() !== "") {
        await answer(message);
      }
    }
    lines.prompt();
  }
  lines.close();
}

/** "first token 0.41 s · 21 tokens in 1.2 s · 18.2 tokens/s · 29 tokens of prompt, 12 of them kept". */
export function describeAnswer({ results }: ChatResult): string {
  const { timings, promptTokens, cachedTokens } = results[0] ?? {};
  const first = timings === undefined ? "" : `first token ${formatMilliseconds(timings.firstTokenMs)} · `;
  const kept = cachedTokens === undefined || cachedTokens === 0 ? "" : `, ${cachedTokens} of them kept`;
  const whole = describeGeneration(results, timings?.totalMs ?? 0);
  return `${first}${whole} · ${promptTokens ?? 0} tokens of prompt${kept}`;
}

function getRemedy({ remedy }: InferyardError): string {
  return remedy === undefined ? "" : `\n  ${remedy}`;
}

/** Joins lines to messages. */
class MessageReader {
  #lines: string[] = [];
  #isQuoted = false;

  /** The message that ends with a line; undefined: it goes on. */
  take(line: string): string | undefined {
    if (this.#isQuoted || line.startsWith('"""')) {
      const text = this.#isQuoted ? line : line.slice(3);
      this.#isQuoted = !text.trimEnd().endsWith('"""');
      this.#lines.push(this.#isQuoted ? text : text.trimEnd().slice(0, -3));
      return this.#isQuoted ? undefined : this.#whole();
    }
    const goesOn = line.endsWith("\\");
    this.#lines.push(goesOn ? line.slice(0, -1) : line);
    return goesOn ? undefined : this.#whole();
  }

  #whole(): string {
    const text = this.#lines.join("\n");
    this.#lines = [];
    return text;
  }
}

/** Shows an answer; thoughts are dim, and only at a terminal. */
class AnswerView {
  text = "";
  readonly #terminal: Terminal;
  #last: ChatEvent["type"] | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  async show(event: ChatEvent): Promise<void> {
    const { stdout } = this.#terminal;
    if (event.type === "finish" || (event.type === "reasoning" && stdout.isTTY !== true)) return;
    if (this.#last !== undefined && this.#last !== event.type) await writeAll(stdout, "\n");
    this.#last = event.type;
    if (event.type === "toolCall") {
      await writeAll(stdout, colorize(this.#terminal, "quiet", `${event.call.name}(${event.call.arguments})`));
    } else if (event.type === "reasoning") {
      await writeAll(stdout, colorize(this.#terminal, "quiet", event.text));
    } else {
      this.text += event.text;
      await writeAll(stdout, event.text);
    }
  }

  async end(): Promise<void> {
    await writeAll(this.#terminal.stdout, "\n");
  }
}
