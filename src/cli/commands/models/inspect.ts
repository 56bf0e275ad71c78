import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { inspectModel } from "../../../inspection/index.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { formatInspection } from "../../inspection/index.ts";
import { nativeGraph } from "../../inspection/native-graph.ts";
import { positiveInteger } from "../../session.ts";
import { type Terminal, writeAll } from "../../terminal.ts";

interface InspectFlags {
  readonly json?: boolean;
  readonly tensors?: boolean;
  readonly context?: number;
  readonly graph?: boolean;
  readonly shape?: readonly string[];
}

/** Defines the command `inspect`. */
export function defineInspect(command: Command, terminal: Terminal): void {
  command
    .argument("<model>", "an .onnx, .gguf or .safetensors file, or a model reference")
    .option("--tensors", "list every tensor")
    .addOption(new Option("--context <tokens>", "tokens a language model's memory is estimated for").argParser(positiveInteger))
    .option("--graph", "print only the graph that the native engine builds from an .onnx file")
    .option("--shape <name=sizes...>", "with --graph: dimensions of an input, name=1,16; dynamic ones default to 1")
    .action(async (model: string, flags: InspectFlags) => {
      const { context, shape } = flags;
      if (shape !== undefined && flags.graph !== true) {
        throw new InferyardError("INPUT_INVALID", "--shape requires --graph", {
          remedy: "add --graph, or leave --shape out",
        });
      }
      const inspection = await inspectModel(model, context === undefined ? {} : { context });
      if (flags.graph === true) {
        const graph = await nativeGraph(inspection, resolve(model), shape ?? []);
        await writeAll(terminal.stdout, `${flags.json === true ? JSON.stringify({ graph }) : graph}\n`);
        return;
      }
      const text = flags.json === true ? JSON.stringify(inspection) : formatInspection(inspection, flags.tensors === true);
      await writeAll(terminal.stdout, `${text}\n`);
    });
}
