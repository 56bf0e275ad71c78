import { type Command, Option } from "commander";
import { inspectModel } from "../../inspection/index.ts";
import { formatInspection } from "../inspection/index.ts";
import { positiveInteger } from "../session.ts";
import { type Terminal, writeAll } from "../terminal.ts";

export function addInspect(program: Command, terminal: Terminal): void {
  program
    .command("inspect")
    .description("what a model file holds, takes and gives, and which backends could run it; loads nothing")
    .argument("<model>", "an .onnx, .gguf or .safetensors file, or a model reference")
    .option("--tensors", "list every tensor")
    .addOption(new Option("--context <tokens>", "tokens a language model's memory is estimated for").argParser(positiveInteger))
    .action(async (model: string, flags: { json?: boolean; tensors?: boolean; context?: number }) => {
      const { context } = flags;
      const inspection = await inspectModel(model, context === undefined ? {} : { context });
      const text = flags.json === true ? JSON.stringify(inspection) : formatInspection(inspection, flags.tensors === true);
      await writeAll(terminal.stdout, `${text}\n`);
    });
}
