import type { Command } from "commander";
import { rewriteOptions } from "../../../tasks/generation/rewrite/rewrite-options.ts";
import { optionsFromFlags } from "../../option-flags.ts";
import { defineGenerationCommand } from "../../generation-command.ts";
import type { Terminal } from "../../terminal.ts";

/** Defines the command `rewrite`. */
export function defineRewrite(command: Command, terminal: Terminal): void {
  const texts = "texts; or --input, or one text on stdin";
  const model = "model with an encoder and a decoder: a path, hf:owner/name, or a name in the store";
  defineGenerationCommand({ command, terminal, texts, model, table: rewriteOptions }, (runtime, all, request, flags) =>
    runtime.rewrite(all, { ...optionsFromFlags(rewriteOptions, flags), ...request, stream: true }),
  );
}
