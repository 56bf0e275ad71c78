import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { chatOptions } from "../../../tasks/generation/chat/chat-options.ts";
import type { ChatOptions } from "../../../tasks/generation/chat/generated-chat-options.ts";
import type { ChatState } from "../../chat/chat-commands.ts";
import { answerOnce, converse, describeAnswer } from "../../chat/conversation.ts";
import type { PromptFlags } from "../../chat/show-prompt.ts";
import { type ConstraintFlags, addConstraintFlags, readConstraint } from "../../input/constraint-flags.ts";
import { readToolsFile } from "../../input/conversation-file.ts";
import { readPrompts } from "../../input/prompts.ts";
import { draftModelHelp } from "../../generation-command.ts";
import { addOptionFlags, optionsFromFlags } from "../../option-flags.ts";
import { generatedFields } from "../../output/generated.ts";
import { withShortFloats } from "../../output/units.ts";
import { type CommandSession, addLoadFlags, withNotice, withSession } from "../../session.ts";
import { type TaskFlags, configured } from "../../task-command.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";

interface ChatFlags extends TaskFlags, ConstraintFlags, PromptFlags {
  readonly system?: string;
  readonly tools?: string;
  readonly toolChoice?: string;
  readonly thinking?: boolean;
  readonly draftModel?: string;
}

/** Defines the command `chat`. */
export function defineChat(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "language model with a chat template: a path, hf:owner/name, or a name in the store")
    .argument("[message]", "answer this message only; or one message on stdin. Default: a conversation at the terminal")
    .option("--model <reference>", "the model, instead of the first argument")
    .option("--system <text>", "say who the model is")
    .option("--tools <file>", "tools that the model may call: a JSON list of { name, description, parameters }, or OpenAI's")
    .option("--tool-choice <choice>", "auto, none, required, or the name of the tool to call")
    .option("--draft-model <reference>", draftModelHelp)
    .option("--no-thinking", "models that think are told not to (enable_thinking of the template)")
    .option("--show-prompt", "print what the model would read, and run nothing")
    .option("--messages <file>", "with --show-prompt: JSON, a list of messages or { messages, tools, variables of the template }")
    .option("--template <file>", "with --show-prompt: a chat template instead of the model's; then no model is needed")
    .option("--date <iso>", "with --show-prompt: the date that the template is told, for example 2026-11-26T12:00");
  addLoadFlags(addConstraintFlags(addOptionFlags(command, chatOptions))).action(
    async (first: string | undefined, second: string | undefined, flags: ChatFlags) => {
      const [model, message] = flags.model === undefined ? [first, second] : [flags.model, first];
      refusePromptFlags(flags);
      if (flags.showPrompt === true) {
        const { messages, options } = await initialState(flags);
        const asked = message === undefined ? messages : [...messages, { role: "user" as const, content: message }];
        const { showPrompt } = await import("../../chat/show-prompt.ts"); // it has the template engine
        return showPrompt({ model, state: { messages: asked, options }, flags }, terminal);
      }
      if (model === undefined) {
        throw invalidInput("no model was named", "inferyard chat MODEL");
      }
      const state = await initialState(flags);
      await withSession(terminal, flags, model, async (session) => {
        if (message === undefined && terminal.stdin.isTTY === true) await talk(session, state, terminal);
        else await answerAlone(session, state, message, flags, terminal);
      });
    },
  );
}

/** Throws INPUT_INVALID for flags of prompts without `--show-prompt`. */
function refusePromptFlags({ showPrompt, messages, template, date }: PromptFlags): void {
  if (showPrompt === true) return;
  const [name] = Object.entries({ messages, template, date }).find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw invalidInput(`--${name} has an effect with --show-prompt alone`, "add --show-prompt");
}

async function initialState(flags: ChatFlags): Promise<ChatState> {
  const tools = flags.tools === undefined ? {} : { tools: await readToolsFile(flags.tools) };
  const thinking = flags.thinking === false ? { templateVariables: { enable_thinking: false } } : {};
  return {
    messages: flags.system === undefined ? [] : [{ role: "system", content: flags.system }],
    options: {
      ...optionsFromFlags(chatOptions, flags),
      ...(await readConstraint(flags)),
      ...tools,
      ...toToolChoice(flags),
      ...thinking,
      ...omitUndefined({ draftModel: flags.draftModel }),
    },
    showsSpeed: false,
  };
}

function toToolChoice({ toolChoice }: ChatFlags): Pick<ChatOptions, "toolChoice"> {
  if (toolChoice === undefined) return {};
  return {
    toolChoice: toolChoice === "auto" || toolChoice === "none" || toolChoice === "required" ? toolChoice : { name: toolChoice },
  };
}

async function talk(session: CommandSession, state: ChatState, terminal: Terminal): Promise<void> {
  const { runtime, model: reference } = session;
  const model = await loaded(session, terminal);
  try {
    const { contextLength } = model.language.limits;
    const context = contextLength === undefined ? "" : ` · context ${contextLength.toLocaleString("en-US")}`;
    writeLine(terminal.stdout, `${reference} · ${model.target}${context} · /help for commands`);
    await converse({ runtime, model, terminal, state });
  } finally {
    await model.dispose();
  }
}

async function answerAlone(
  session: CommandSession,
  state: ChatState,
  message: string | undefined,
  { json, quiet }: ChatFlags,
  terminal: Terminal,
): Promise<void> {
  const { runtime } = session;
  const [content] = message === undefined ? await readPrompts({ texts: [] }, terminal) : [message];
  const model = await loaded(session, terminal);
  const result = await answerOnce({ runtime, model, terminal, state }, content, json !== true, terminal.signal).finally(() =>
    model.dispose(),
  );
  const { model: reference, target, decision, results } = result;
  if (json === true) {
    const fields = results.map(generatedFields);
    await writeAll(
      terminal.stdout,
      `${JSON.stringify({ model: reference, target, results: withShortFloats(fields), decision })}\n`,
    );
  } else if (quiet !== true) {
    writeLine(terminal.stderr, `${reference} · ${target} · ${describeAnswer(result)}`);
  }
}

async function loaded(session: CommandSession, terminal: Terminal) {
  const { variant } = configured(session);
  const options = { kind: "language" as const, signal: terminal.signal, ...omitUndefined({ variant }) };
  return withNotice(terminal, session.notice(`loading ${session.model}`), session.runtime.load(session.model, options));
}
