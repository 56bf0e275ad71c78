/** The commands of a conversation at the terminal: lines that begin with a slash. */
import { writeFile } from "node:fs/promises";
import { InferyardError } from "../../contract/errors.ts";
import { type ChatMessage, getMessageText } from "../../tasks/generation/chat/messages.ts";
import type { ChatRequest } from "../../api/task-requests.ts";
import type { ChatOptions } from "../../tasks/generation/chat/generated-chat-options.ts";

/** State that the commands change. */
export interface ChatState {
  messages: ChatMessage[];
  options: ChatOptions & Pick<ChatRequest, "draftModel">;
  showsSpeed: boolean;
}

/** Output of a command, and whether the conversation ends. */
export interface CommandOutcome {
  readonly shown?: string;
  readonly ends?: true;
}

const help = `/help             these commands
/clear            forget the conversation
/system TEXT      say who the model is; without a text: forget it
/set NAME VALUE   temperature, top-p, top-k, min-p, max-new-tokens, seed, ...; without a value: as before
/retry            answer the last message again
/history          show the conversation
/save FILE        write the conversation as JSON
/speed            show times and rates behind each answer, or no longer
/exit             leave (as Ctrl-D does)
"""               begins and ends a message of several lines; a \\ at the end of a line goes on in the next
Ctrl-C stops an answer.`;

/** Settings of numbers that /set knows, by flag. */
const numbers: Readonly<Record<string, keyof ChatOptions>> = {
  temperature: "temperature",
  "top-p": "topP",
  "top-k": "topK",
  "min-p": "minP",
  "typical-p": "typicalP",
  "max-new-tokens": "maxNewTokens",
  "repetition-penalty": "repetitionPenalty",
  "frequency-penalty": "frequencyPenalty",
  "presence-penalty": "presencePenalty",
  seed: "seed",
};

/** Runs a command. Undefined: the line is the message to answer again. */
export async function runChatCommand(line: string, state: ChatState): Promise<CommandOutcome | undefined> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  switch (name) {
    case "help":
    case "?":
      return { shown: help };
    case "exit":
    case "quit":
    case "bye":
      return { ends: true };
    case "clear":
      state.messages = state.messages.filter(({ role }) => role === "system");
      return { shown: "forgotten" };
    case "system":
      state.messages = [
        ...(rest === "" ? [] : [{ role: "system" as const, content: rest }]),
        ...state.messages.filter(({ role }) => role !== "system"),
      ];
      return {};
    case "set":
      return set(rest, state);
    case "retry":
      return retry(state);
    case "history":
      return { shown: state.messages.map((message) => `${message.role}: ${getMessageText(message)}`).join("\n") };
    case "save":
      return save(rest, state);
    case "speed":
      state.showsSpeed = !state.showsSpeed;
      return { shown: state.showsSpeed ? "speed is shown" : "speed is not shown" };
    default:
      return { shown: `there is no command /${name}; /help lists them` };
  }
}

function set(text: string, state: ChatState): CommandOutcome {
  const [flag = "", value] = text.split(/\s+/, 2);
  const option = numbers[flag];
  if (option === undefined) return { shown: `/set knows ${Object.keys(numbers).join(", ")}` };
  const { [option]: _before, ...others } = state.options;
  if (value === undefined) {
    state.options = others;
    return { shown: `${flag} is as the model's files say` };
  }
  if (value === "" || !Number.isFinite(Number(value))) return { shown: `${flag} must be a number` };
  state.options = { ...others, [option]: Number(value) };
  return {};
}

/** Removes the last answer. The line to answer again is the last message of the user. */
function retry(state: ChatState): CommandOutcome | undefined {
  const last = state.messages.findLastIndex(({ role }) => role === "user");
  if (last === -1) return { shown: "there is no message yet" };
  state.messages = state.messages.slice(0, last + 1);
  return undefined;
}

async function save(path: string, { messages }: ChatState): Promise<CommandOutcome> {
  if (path === "") return { shown: "/save FILE" };
  try {
    await writeFile(path, `${JSON.stringify(messages, undefined, 2)}\n`);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${path} cannot be written`, { cause: error, remedy: "name another file" });
  }
  return { shown: `written to ${path}` };
}
