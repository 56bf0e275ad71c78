import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { DistillProgress, DistillReport } from "../../../distillation/distill-options.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { parsePositiveInteger } from "../../option-flags.ts";
import { addBulkLoadFlags, withNotice, withSession } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { readTexts } from "../../input/texts.ts";
import { formatMilliseconds } from "../../output/units.ts";

interface DistillFlags {
  readonly dimensions?: number;
  readonly bits: 4 | 8;
  readonly text?: readonly string[];
  readonly out?: string;
  readonly name?: string;
  readonly replace?: boolean;
  readonly passes?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Defines the command `distill`. */
export function defineDistill(command: Command, terminal: Terminal): void {
  command
    .argument("<model>", "model reference of the teacher")
    .addOption(
      new Option("--dimensions <number>", "length of the vectors, a multiple of 4 (default: 256)").argParser(
        parsePositiveInteger,
      ),
    )
    .addOption(new Option("--bits <bits>", "bits of a value").choices(["4", "8"]).default(8).argParser(Number))
    .option(
      "--text <files...>",
      "training texts, one sentence per line (.txt) or .jsonl; without them the embeddings are not trained",
    )
    .option("--out <folder>", "folder to write (default: NAME-static)")
    .option("--name <name>", "the new model's name")
    .option("--replace", "replace the folder if it is there")
    .addOption(new Option("--passes <number>", "training epochs (default: 6)").argParser(parsePositiveInteger));
  addBulkLoadFlags(command).action(async (model: string, flags: DistillFlags) => {
    await withSession(terminal, flags, model, async ({ runtime, settings, notice }) => {
      const texts = await readAll(flags.text, terminal);
      const loading = runtime.load(model, settings.variant === undefined ? {} : { variant: settings.variant });
      const handle = await withNotice(terminal, notice(`loading ${model}`), loading);
      const { manifest } = handle;
      const name = flags.name ?? `${manifest.name}-static`;
      const output = flags.out ?? name;
      const { distill } = await import("../../../distillation/distill.ts");
      const { runtimeTeacher } = await import("../../../distillation/runtime-teacher.ts");
      const report = await distill(await runtimeTeacher(runtime, handle), {
        output,
        name,
        ...omitUndefined({
          dimensions: flags.dimensions,
          passes: flags.passes,
          replace: flags.replace,
          text: texts,
          license: manifest.license,
        }),
        bits: flags.bits,
        provenance: {
          teacher: manifest.name,
          ...omitUndefined({ teacherLicense: manifest.license }),
          texts: flags.text?.map((path) => basename(path)) ?? [],
        },
        notices: ["LICENSE", "NOTICE"].map((file) => join(manifest.directory, file)).filter((path) => existsSync(path)),
        signal: terminal.signal,
        onProgress: progressLine(terminal, flags),
      });
      writeLine(
        terminal.stdout,
        flags.json === true ? JSON.stringify({ name, output, ...report }) : summary(name, output, report),
      );
    });
  });
}

async function readAll(files: readonly string[] | undefined, terminal: Terminal): Promise<string[] | undefined> {
  if (files === undefined) return undefined;
  const lists = await Promise.all(files.map((input) => readTexts({ texts: [], input }, terminal)));
  const texts = lists.flat().filter((text) => text.trim() !== "");
  if (texts.length === 0) throw invalidInput(`${files.join(", ")} holds no text`, "give plain text, a sentence a line");
  return texts;
}

function progressLine(terminal: Terminal, flags: DistillFlags): (progress: DistillProgress) => void {
  const quiet = flags.quiet === true || terminal.stderr.isTTY !== true;
  return ({ stage, done, total, loss }) => {
    if (quiet) return;
    const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
    terminal.stderr.write(
      `\r\u001B[K${stage} ${percent} %${loss === undefined ? "" : `, loss ${loss.toFixed(5)}`}${stage === "write" && done === total ? "\r\u001B[K" : ""}`,
    );
  };
}

function summary(name: string, output: string, report: DistillReport): string {
  const { tokens, dimensions, bits, texts, explainedVariance, milliseconds } = report;
  const total = Object.values(milliseconds).reduce((sum, time) => sum + time, 0);
  return [
    `${name}   ${tokens} tokens x ${dimensions} dimensions, ${bits} bits, in ${output}`,
    `  components keep ${(explainedVariance * 100).toFixed(1)} % of the variance; ${texts === 0 ? "rows not fitted: give --text" : `rows fitted to ${texts} texts`}; ${formatMilliseconds(total)}`,
    `  try it: inferyard embed --model ${output.includes("/") ? output : `./${output}`} "a text"`,
  ].join("\n");
}
