import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { describeVerification } from "../../measuring/receipt.ts";
import { parseListFlag } from "../../option-flags.ts";
import { type Terminal, writeAll } from "../../terminal.ts";
import { readGivenText } from "../../input/given-file.ts";

interface VerifyFlags {
  readonly key?: string;
  readonly model?: string;
  readonly library?: string;
  readonly requireKernel?: string[];
  readonly json?: boolean;
}

/** Defines the command `verify-receipt`. */
export function defineVerifyReceipt(command: Command, terminal: Terminal): void {
  command
    .argument("<file>", "a receipt that `inferyard receipt` wrote")
    .option("--key <file>", "the Ed25519 public key that must have signed it, a PEM file")
    .option("--model <reference>", "the model whose files must have the digests of the receipt")
    .option("--library <path>", "the library whose file must have the digest of the receipt")
    .option("--require-kernel <patterns>", "kernels that must have run, for example I2S_QK256_*", parseListFlag)
    .action(async (path: string, { key, model, library, requireKernel, json }: VerifyFlags) => {
      const text = await readGivenText(path);
      const publicKey = key === undefined ? undefined : await readGivenText(key);
      const { requireAccepted, verifyReceipt } = await import("../../../receipts/verify-receipt.ts");
      const options = omitUndefined({ publicKey, model, library, requireKernels: requireKernel });
      const verification = await verifyReceipt(text, options);
      const shown = json === true ? JSON.stringify(verification) : describeVerification(path, verification, terminal);
      await writeAll(terminal.stdout, `${shown}\n`);
      requireAccepted(verification, path);
    });
}
