/** The frame of the commands `generate` and `rewrite`: settings, texts, the stream, output. */
import type { Command } from "commander";
import { omitUndefined } from "../contract/checked.ts";
import type { TaskRun } from "../api/task-requests.ts";
import type { Runtime } from "../api/runtime.ts";
import type { GeneratedText } from "../tasks/generation/generated-text.ts";
import type { GenerationOptions } from "../tasks/generation/sampling/generated-generation-options.ts";
import type { GenerationStream } from "../tasks/generation/generation-stream.ts";
import type { Options } from "../runtime/options/option.ts";
import { type ConstraintFlags, addConstraintFlags, readConstraint } from "./input/constraint-flags.ts";
import { readPrompts } from "./input/prompts.ts";
import { addOptionFlags } from "./option-flags.ts";
import { describeGeneration, generatedFields, showTexts } from "./output/generated.ts";
import { withShortFloats } from "./output/units.ts";
import { addLoadFlags, withNotice, withSession } from "./session.ts";
import { type TaskFlags, type TaskCommandRequest, configured, inputOption } from "./task-command.ts";
import { type Terminal, writeAll, writeLine } from "./terminal.ts";

/** Definition of one of the commands. */
export interface GenerationCommand {
  readonly command: Command;
  readonly terminal: Terminal;
  /** Description of the arguments, for the help. */
  readonly texts: string;
  /** Description of --model, for the help. */
  readonly model: string;
  /** Options of the task. */
  readonly table: Options;
}

/** Flags that the frame reads itself. */
type GenerationFlags = TaskFlags & ConstraintFlags & { readonly n?: number; readonly draftModel?: string };

/** Help of the flag --draft-model. */
export const draftModelHelp = "a smaller model with the same tokens: what it drafts, the model checks at once";

/** Adds arguments and flags to a command, and runs `start` with them. */
export function defineGenerationCommand<Result extends TaskRun & { readonly results: readonly GeneratedText[] }>(
  { command, terminal, texts, model, table }: GenerationCommand,
  start: (
    runtime: Runtime,
    texts: readonly string[],
    request: Pick<TaskCommandRequest, "model" | "variant" | "signal"> & Pick<GenerationOptions, "constraint">,
    flags: GenerationFlags,
  ) => Promise<GenerationStream<Result>>,
): void {
  command.argument("[texts...]", texts).option("--model <reference>", model);
  addLoadFlags(addConstraintFlags(addOptionFlags(command, table)).addOption(inputOption())).action(
    async (given: string[], flags: GenerationFlags) => {
      const { input, json, quiet } = flags;
      await withSession(terminal, flags, flags.model, async (session) => {
        const all = await readPrompts({ texts: given, ...omitUndefined({ input }) }, terminal);
        const { variant } = configured(session);
        const constraint = await readConstraint(flags);
        const variants = variant === undefined ? {} : { variant };
        const request = { ...variants, ...constraint, model: session.model, signal: terminal.signal };
        const opening = start(session.runtime, all, request, flags);
        const stream = await withNotice(terminal, session.notice(`loading ${session.model}`), opening);
        const isOne = all.length === 1 && (flags.n ?? 1) === 1;
        const result = json === true ? await stream.finish() : await showTexts(stream, isOne, terminal);
        const { model: reference, target, decision, results, milliseconds } = result;
        if (json === true) {
          const fields = { model: reference, target, results: withShortFloats(results.map(generatedFields)), decision };
          await writeAll(terminal.stdout, `${JSON.stringify(fields)}\n`);
        } else if (quiet !== true) {
          writeLine(terminal.stderr, `${reference} · ${target} · ${describeGeneration(results, milliseconds)}`);
        }
      });
    },
  );
}
