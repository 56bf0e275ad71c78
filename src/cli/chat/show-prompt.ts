/** Shows the prompt that a conversation makes, without running a model. */
import { omitUndefined } from "../../contract/checked.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { ChatOptions } from "../../tasks/generation/chat/generated-chat-options.ts";
import { TemplateEngine } from "../../templates/render-call.ts";
import { type ConversationFile, framedTools, readConversationFile } from "../input/conversation-file.ts";
import { withSession } from "../session.ts";
import { type Terminal, writeAll } from "../terminal.ts";
import type { ChatState } from "./chat-commands.ts";
import { readGivenText } from "../input/given-file.ts";

/** Flags of the command about prompts. */
export interface PromptFlags {
  readonly showPrompt?: boolean;
  readonly messages?: string;
  readonly template?: string;
  readonly date?: string;
}

/** A prompt to show. */
export interface ShownPrompt {
  /** Undefined: the template alone makes the prompt. */
  readonly model: string | undefined;
  /** The conversation of the arguments and flags. */
  readonly state: Pick<ChatState, "messages" | "options">;
  readonly flags: PromptFlags & { readonly json?: boolean };
}

/** A prompt, and its tokens where a model was named. */
interface Prompt {
  readonly prompt: string;
  readonly tokens: readonly number[] | null;
}

/** Default variables of a template that is rendered without a model; the file may set others. */
const defaultMembers = '"bos_token":"<s>","eos_token":"</s>","add_generation_prompt":true,"tools":null';

/** Writes the prompt, or with `--json` also its tokens. Throws TEMPLATE_REFUSED where the template refuses the conversation. */
export async function showPrompt({ model, state, flags }: ShownPrompt, terminal: Terminal): Promise<void> {
  const { messages, template, date, json } = flags;
  const file = messages === undefined ? undefined : await readConversationFile(messages);
  if (file === undefined && state.messages.every(({ role }) => role !== "user")) {
    throw invalidInput("there is no conversation", "give a message, or --messages FILE");
  }
  if (file !== undefined && state.messages.length > 0) {
    throw invalidInput("--messages is given with a message or --system", "leave one of them out");
  }
  const source = template === undefined ? undefined : await readGivenText(template, "give a file with a chat template (Jinja)");
  const now = date === undefined ? undefined : parseDate(date);
  const shown =
    model === undefined
      ? renderAlone({ source, file, now }, state.options)
      : await promptOfModel({ model, state, flags }, { source, file, now }, terminal);
  await writeAll(terminal.stdout, json === true ? `${JSON.stringify(shown)}\n` : `${shown.prompt}\n`);
}

interface PromptParts {
  readonly source: string | undefined;
  readonly file: ConversationFile | undefined;
  readonly now: Date | undefined;
}

async function promptOfModel(
  { model, state, flags }: ShownPrompt & { readonly model: string },
  { source, file, now }: PromptParts,
  terminal: Terminal,
): Promise<Prompt> {
  const { tools, toolChoice, templateVariables } = state.options;
  const given: Pick<ChatOptions, "tools" | "templateVariables"> = {
    tools: tools ?? file?.tools ?? [],
    templateVariables: { ...templateVariables, ...file?.variables },
  };
  return withSession(terminal, flags, model, async (session) => {
    const { text, tokens } = await session.runtime.chatPrompt(file?.messages ?? state.messages, {
      ...given,
      model: session.model,
      signal: terminal.signal,
      ...omitUndefined({ toolChoice, template: source, date: now }),
    });
    return { prompt: text, tokens };
  });
}

/** The text that a template makes of the file, whose messages it is given as they are. */
function renderAlone({ source, file, now }: PromptParts, { tools, templateVariables = {} }: ChatOptions): Prompt {
  if (source === undefined) {
    throw invalidInput("neither a model nor a template was named", "give --model or --template");
  }
  if (file === undefined) {
    throw invalidInput("a template without a model reads a file", "give --messages FILE");
  }
  const given = Object.entries(templateVariables).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  // Of equal names the last one counts.
  const members = [defaultMembers, ...given, file.json, tools === undefined ? "" : `"tools":${framedTools(tools)}`];
  const variables = `{${members.filter((each) => each !== "").join(",")}}`;
  const prompt = new TemplateEngine().render({ source, variables, now: (now ?? new Date()).getTime() });
  return { prompt, tokens: null };
}

/** A date without a time is the beginning of that day, and one without a zone is local. */
function parseDate(text: string): Date {
  const date = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text);
  if (Number.isNaN(date.getTime()) || !/^\d{4}-/.test(text)) {
    throw invalidInput(`--date is "${text}", which is no date`, "write it as 2026-11-26T12:00");
  }
  return date;
}
