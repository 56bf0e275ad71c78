import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { inspectModel } from "../../../inspection/index.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { formatInspection } from "../../inspection/index.ts";
import { graphText } from "../../inspection/native-graph.ts";
import { parsePositiveInteger } from "../../option-flags.ts";
import { type Terminal, writeAll } from "../../terminal.ts";

interface InspectFlags {
  readonly json?: boolean;
  readonly tensors?: boolean;
  readonly context?: number;
  readonly graph?: boolean;
  readonly stablehlo?: boolean;
  readonly shape?: readonly string[];
}

/** Defines the command `inspect`. */
export function defineInspect(command: Command, terminal: Terminal): void {
  command
    .argument("<model>", "an .onnx, .gguf or .safetensors file, or a model reference")
    .option("--tensors", "list every tensor")
    .addOption(
      new Option("--context <tokens>", "tokens a language model's memory is estimated for").argParser(parsePositiveInteger),
    )
    .option("--graph", "print only the graph that the native engine builds from an .onnx file")
    .addOption(new Option("--stablehlo", "print only the graph of an .onnx file as a StableHLO program").conflicts("graph"))
    .option(
      "--shape <name=sizes...>",
      "with --graph or --stablehlo: dimensions of an input, name=1,16; dynamic ones default to 1",
    )
    .action(async (model: string, flags: InspectFlags) => {
      const { context, shape } = flags;
      const form = flags.graph === true ? "graph" : flags.stablehlo === true ? "stablehlo" : undefined;
      if (shape !== undefined && form === undefined) {
        throw invalidInput("--shape requires --graph or --stablehlo", "add one of them, or leave --shape out");
      }
      const inspection = await inspectModel(model, context === undefined ? {} : { context });
      if (form !== undefined) {
        const graph = await graphText(inspection, resolve(model), form, shape ?? []);
        await writeAll(terminal.stdout, `${flags.json === true ? JSON.stringify({ [form]: graph }) : graph}\n`);
        return;
      }
      const text = flags.json === true ? JSON.stringify(inspection) : formatInspection(inspection, flags.tensors === true);
      await writeAll(terminal.stdout, `${text}\n`);
    });
}
