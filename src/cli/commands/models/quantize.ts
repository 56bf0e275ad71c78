import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { type QuantizationType, quantizationTypes, type QuantizeReport } from "../../../models/gguf/quantize.ts";
import { withNotice } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, plural } from "../../output/units.ts";

interface QuantizeFlags {
  readonly to: QuantizationType;
  readonly out?: string;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** Defines the command `quantize`. */
export function defineQuantize(command: Command, terminal: Terminal): void {
  command
    .argument("<model>", "GGUF file; of a divided one the first part")
    .addOption(new Option("--to <type>", "type of the matrices").choices(quantizationTypes).makeOptionMandatory())
    .option("--out <file>", "file to write (default: the model's name with the type)")
    .option("--replace", "replace the file if it is there")
    .action(async (model: string, { to, out, replace, json }: QuantizeFlags) => {
      // Imported where it is needed: no other command writes weights.
      const { quantizeGguf } = await import("../../../models/gguf/quantize.ts");
      const work = quantizeGguf(resolve(model), model, {
        to,
        ...omitUndefined({ output: out, replace }),
        signal: terminal.signal,
      });
      const report = await withNotice(terminal, `quantizing ${model}`, work);
      writeLine(terminal.stdout, json === true ? JSON.stringify(report) : summary(report));
    });
}

function summary({ output, bytesBefore, bytes, types, unfit, blockElements }: QuantizeReport): string {
  const counts = types.map(
    ({ type, tensors, parameters }) => `${plural(tensors, "tensor")} with ${plural(parameters, "parameter")} ${type}`,
  );
  return [
    `${output}   ${formatBytes(bytesBefore)} became ${formatBytes(bytes)}`,
    ...counts.map((count) => `  ${count}`),
    ...(unfit === 0
      ? []
      : [`  of another type, because their rows are no whole blocks of ${blockElements} elements: ${plural(unfit, "tensor")}`]),
    `  try it: inferyard generate --model ${output.includes("/") ? output : `./${output}`} "Once upon a time"`,
  ].join("\n");
}
