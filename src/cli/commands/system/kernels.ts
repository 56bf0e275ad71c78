import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { ggmlTypeNamed } from "../../../formats/gguf/ggml-types.ts";
import { kernelRegistry } from "../../../kernels/registry.ts";
import { nearestName } from "../../../models/validation/nearest-name.ts";
import { formatKernelMachine, formatKernels } from "../../libraries/format-kernels.ts";
import { withNotice } from "../../session.ts";
import { type Terminal, writeAll } from "../../terminal.ts";

interface KernelFlags {
  readonly json?: boolean;
  readonly bench?: boolean;
  readonly format?: string;
}

/** Defines the command `kernels`. */
export function defineKernels(command: Command, terminal: Terminal): void {
  command
    .option("--bench", "measure how fast each kernel reads weights, and the memory beside it: about half a minute")
    .option(
      "--format <name>",
      "only kernels for a format of weights, such as Q4_K; of one without a kernel the closest that has one",
    )
    .action(async ({ json = false, bench = false, format }: KernelFlags) => {
      const formats = format === undefined ? undefined : [knownFormat(format)];
      const { signal } = terminal;
      const options = { bench, signal, ...omitUndefined({ formats }) };
      const notice = bench ? "measuring kernels" : "testing kernels";
      const { kernelCapabilities } = await import("../../../kernel-capabilities/index.ts");
      const capabilities = await withNotice(terminal, notice, kernelCapabilities(options));
      const machine = format === undefined ? `${formatKernelMachine(capabilities.machine)}\n` : "";
      await writeAll(terminal.stdout, `${json ? JSON.stringify(capabilities) : machine + formatKernels(capabilities)}\n`);
    });
}

/** The name of a format as the registry or ggml spells it. Throws INPUT_INVALID for a format that nobody knows. */
function knownFormat(text: string): string {
  const listed = [...new Set(kernelRegistry.flatMap(({ formats }) => (formats === "any" ? [] : formats)))];
  const found = listed.find((name) => name.toLowerCase() === text.toLowerCase()) ?? ggmlTypeNamed(text.toUpperCase())?.name;
  if (found !== undefined) return found;
  const guess = nearestName(text.toUpperCase(), listed);
  throw invalidInput(
    `there is no format of weights "${text}"`,
    guess === undefined ? `choose one of ${listed.join(", ")}` : `did you mean ${guess}?`,
  );
}
