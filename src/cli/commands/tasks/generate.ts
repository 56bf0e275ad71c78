import type { Command } from "commander";
import { generateOptions } from "../../../tasks/generation/generate-options.ts";
import { optionsFromFlags } from "../../option-flags.ts";
import { defineGenerationCommand } from "../../generation-command.ts";
import type { Terminal } from "../../terminal.ts";

/** Defines the command `generate`. */
export function defineGenerate(command: Command, terminal: Terminal): void {
  const texts = "prompts; or --input, or one prompt on stdin";
  const model = "language model: a path, hf:owner/name, or a name in the store";
  defineGenerationCommand({ command, terminal, texts, model, table: generateOptions }, (runtime, prompts, request, flags) =>
    runtime.generate(prompts, { ...optionsFromFlags(generateOptions, flags), ...request, stream: true }),
  );
}
