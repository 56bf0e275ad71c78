import { readPromptFile } from "../../input/given-file.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { CrossValidationOptions } from "../../../cross-validation/index.ts";
import { InferyardError, invalidInput } from "../../../contract/errors.ts";
import { usualKind } from "../../../models/language-tasks.ts";
import { formatCrossValidation, formatRecorded } from "../../measuring/cross-validation.ts";
import { parseZeroOrMore } from "../../option-flags.ts";
import { addLoadFlags, withSession, type CommandSession, withNotice } from "../../session.ts";
import { type Terminal, writeAll } from "../../terminal.ts";

interface CrossvalFlags {
  readonly model?: string;
  readonly target?: readonly string[];
  readonly against?: string;
  readonly againstModel?: string;
  readonly againstVariant?: string;
  readonly prompt?: string[];
  readonly promptFile?: string;
  readonly tokens?: number;
  readonly continuation?: string;
  readonly record?: string;
  readonly maxError?: number;
  readonly minCosine?: number;
  readonly json?: boolean;
}

/** Defines the command `crossval`. */
export function defineCrossval(command: Command, terminal: Terminal): void {
  const several = (text: string, before: string[] = []): string[] => [...before, text];
  command
    .option("--model <reference>", "the model to test")
    .option("--against <reference>", "what to hold it against: a target, a recording, or a shared library of llama.cpp")
    .option("--against-model <reference>", "the model of the reference, with the same tokens (default: the same model)")
    .option("--against-variant <name>", "the variant of the reference")
    .addOption(new Option("--prompt <text>", "what is read; several times for models that give vectors").argParser(several))
    .option("--prompt-file <file>", "a file with the prompt; for models that give vectors one text per line")
    .addOption(new Option("--tokens <number>", "tokens that follow the prompt (default: 32)").argParser(parseZeroOrMore))
    .option("--continuation <text>", "text that follows the prompt, instead of the reference's choice")
    .option("--record <file>", "write the tokens and logits to a file, to hold other runs against")
    .addOption(new Option("--max-error <number>", "fail if a logit or component differs by more").argParser(number))
    .addOption(new Option("--min-cosine <number>", "fail if a cosine is smaller").argParser(number));
  addLoadFlags(command).action(async ({ target, ...flags }: CrossvalFlags) => {
    // The target is that of the tested run. As a setting of the runtime it would hold for the reference too.
    await withSession(terminal, flags, flags.model, async (session) => {
      await crossval(session, { ...flags, ...omitUndefined({ target }) }, terminal);
    });
  });
}

async function crossval(session: CommandSession, flags: CrossvalFlags, terminal: Terminal): Promise<void> {
  const { runtime, model, settings } = session;
  const { against, record, json, target } = flags;
  const { signal } = terminal;
  const { crossValidate, recordLogits } = await import("../../../cross-validation/index.ts");
  const common = { model, ...omitUndefined({ variant: settings.variant, target }), signal };
  const read = await readFlags(session, flags);
  if (against === undefined) {
    if (record === undefined) {
      throw invalidInput(
        "there is nothing to hold the model against",
        "give --against with a target, a recording or a library; or --record to write a recording",
      );
    }
    refuseWithoutReference(flags);
    const { texts: _texts, ...languageOptions } = read;
    const recording = recordLogits(runtime, { ...common, ...languageOptions, record });
    const facts = await withNotice(terminal, session.notice(`recording ${model}`), recording);
    return writeAll(terminal.stdout, `${json === true ? JSON.stringify(facts) : formatRecorded(facts, record)}\n`);
  }
  const { againstModel, againstVariant, maxError, minCosine } = flags;
  const more = omitUndefined({ againstModel, againstVariant, record, maxError, minCosine, threads: settings.threads });
  const comparing = crossValidate(runtime, { ...common, ...read, ...more, against });
  const result = await withNotice(terminal, session.notice(`comparing ${model} with ${against}`), comparing);
  await writeAll(terminal.stdout, `${json === true ? JSON.stringify(result) : formatCrossValidation(result, terminal)}\n`);
  if (result.failures.length > 0) {
    throw new InferyardError("VERIFICATION_FAILED", `${model} on ${result.tested.target}: ${result.failures.join("\n")}`, {
      remedy: "use another target or variant, or widen the limits",
    });
  }
}

/** Flags about the reference have no meaning without one. */
function refuseWithoutReference(flags: CrossvalFlags): void {
  const names = {
    againstModel: "--against-model",
    againstVariant: "--against-variant",
    maxError: "--max-error",
    minCosine: "--min-cosine",
  };
  for (const [name, flag] of Object.entries(names) as [keyof typeof names, string][]) {
    if (flags[name] !== undefined) throw invalidInput(`${flag} has no effect without --against`, "give --against too");
  }
}

/** What is read: one prompt for language models, texts for others. */
async function readFlags(
  { runtime, model, settings }: CommandSession,
  { prompt, tokens, continuation, ...flags }: CrossvalFlags,
): Promise<Pick<CrossValidationOptions, "prompt" | "tokens" | "continuation" | "texts">> {
  const text = await readPromptFile({ ...omitUndefined({ prompt }), ...flags });
  const more = omitUndefined({ tokens, continuation });
  if (prompt === undefined && text === undefined) return more;
  const { variant } = settings;
  const isLanguage = usualKind(await runtime.manifest(model, omitUndefined({ variant }))) === "language";
  if (!isLanguage) return { ...more, texts: prompt ?? (text ?? "").split(/\r?\n/).filter((line) => line !== "") };
  const [first, ...others] = prompt ?? [text ?? ""];
  if (others.length > 0) {
    throw invalidInput(`${others.length + 1} prompts are given, and a language model reads one`, "give --prompt once");
  }
  return { ...more, ...omitUndefined({ prompt: first }) };
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
}
