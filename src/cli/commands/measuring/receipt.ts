import { readGivenText, readPromptFile } from "../../input/given-file.ts";
import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { writeAtomically } from "../../../platform/node/atomic-write.ts";
import { withOutputErrors } from "../../../platform/node/output-errors.ts";
import { describeReceipt } from "../../measuring/receipt.ts";
import { parsePositiveInteger } from "../../option-flags.ts";
import { addLoadFlags, withNotice, withSession } from "../../session.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";

interface ReceiptFlags {
  readonly model?: string;
  readonly output: string;
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly tokens?: number;
  readonly sign?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Defines the command `receipt`. */
export function defineReceipt(command: Command, terminal: Terminal): void {
  command
    .option("--model <reference>", "the language model to run")
    .requiredOption("--output <file>", "the file to write")
    .option("--prompt <text>", "what the model reads")
    .option("--prompt-file <file>", "a file with the prompt")
    .addOption(new Option("--tokens <number>", "tokens to generate (default: 32)").argParser(parsePositiveInteger))
    .option("--sign <key>", "sign with this Ed25519 private key, a PEM file");
  addLoadFlags(command).action(async (flags: ReceiptFlags) => {
    const { output, sign, tokens, json, quiet } = flags;
    const privateKey = sign === undefined ? undefined : await readGivenText(sign);
    const prompt = (await readPromptFile(flags)) ?? flags.prompt;
    await withSession(terminal, flags, flags.model, async (session) => {
      const { createReceipt, formatReceipt } = await import("../../../receipts/index.ts");
      const { model, runtime, settings } = session;
      const options = omitUndefined({ variant: settings.variant, prompt, tokens, privateKey });
      const recording = createReceipt(runtime, { model, ...options, signal: terminal.signal });
      const receipt = await withNotice(terminal, session.notice(`running ${model}`), recording);
      await withOutputErrors(output, () => writeAtomically(output, (file) => file.writeFile(formatReceipt(receipt))));
      await writeAll(terminal.stdout, json === true ? formatReceipt(receipt) : `${describeReceipt(receipt)}\n`);
      if (json !== true && quiet !== true)
        writeLine(terminal.stderr, `${output} · verify it: inferyard verify-receipt ${output}`);
    });
  });
}
