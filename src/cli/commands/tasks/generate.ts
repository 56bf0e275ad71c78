import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { generateOptions } from "../../../tasks/generation/generate-options.ts";
import { optionsFromFlags } from "../../option-flags.ts";
import { defineGenerationCommand, draftModelHelp } from "../../generation-command.ts";
import type { Terminal } from "../../terminal.ts";

/** Defines the command `generate`. */
export function defineGenerate(command: Command, terminal: Terminal): void {
  const texts = "prompts; or --input, or one prompt on stdin";
  const model = "language model: a path, hf:owner/name, or a name in the store";
  command.option("--draft-model <reference>", draftModelHelp);
  defineGenerationCommand({ command, terminal, texts, model, table: generateOptions }, (runtime, prompts, request, flags) => {
    const { draftModel } = flags;
    const options = { ...optionsFromFlags(generateOptions, flags), ...omitUndefined({ draftModel }) };
    return runtime.generate(prompts, { ...options, ...request, stream: true });
  });
}
