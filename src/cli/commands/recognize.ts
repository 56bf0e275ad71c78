import { type Command, Option } from "commander";
import type { RecognizeRequest } from "../../task-runtime.ts";
import { type Aggregation, aggregations } from "../../tasks/entities.ts";
import type { Entity } from "../../tasks/recognize.ts";
import { type OffsetUnit, offsetUnits } from "../../tokenizers/index.ts";
import { addLoadFlags, openSession, positiveInteger, withNotice } from "../session.ts";
import { clip, formatTable } from "../table.ts";
import { type Terminal, writeAll, writeLine } from "../terminal.ts";
import { addLimitFlags, inputOption } from "../text-commands.ts";
import { readTexts } from "../texts.ts";
import { formatMilliseconds, plural, shortFloat } from "../units.ts";

interface RecognizeFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly aggregation?: Aggregation;
  readonly offsets?: OffsetUnit;
  readonly stride?: number;
  readonly maxTokens?: number;
  readonly truncate?: "cut" | "error";
}

const widestText = 40;

export function addRecognize(program: Command, terminal: Terminal): void {
  const command = program
    .command("recognize")
    .description("the names in texts, with their places")
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", "model with a token-classification head: a path, hf:owner/name, or a name in the store")
    .addOption(inputOption())
    .addOption(new Option("--aggregation <how>", "how tokens become entities").choices(aggregations))
    .addOption(new Option("--offsets <unit>", "what positions count").choices([...offsetUnits]))
    .addOption(new Option("--stride <tokens>", "how far the windows of long texts overlap").argParser(positiveInteger));
  addLoadFlags(addLimitFlags(command)).action(async (texts: string[], flags: RecognizeFlags) => {
    const session = await openSession(terminal, { ...flags }, flags.model);
    try {
      const { json, quiet, input, aggregation, offsets, stride, maxTokens, truncate } = flags;
      const all = await readTexts({ texts, ...(input === undefined ? {} : { input }) }, terminal);
      const { variant, batchTokens } = session.settings;
      const options = { variant, batchTokens, aggregation, offsets, stride, maxTokens, truncate, signal: terminal.signal };
      const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      const request: RecognizeRequest = { model: session.model, ...set };
      const work = session.runtime.recognize(all, request);
      const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), work);
      const { model, target, decision, results, milliseconds } = result;
      if (json === true) {
        const named = results.map((entities) => entities.map(asPipelineNames));
        await writeAll(terminal.stdout, `${JSON.stringify({ model, target, results: named, decision })}\n`);
      } else {
        writeLine(terminal.stdout, `${model} · ${target}`);
        const rows = results.flatMap((entities, index) =>
          entities.map((entity) => [
            clip(all[index] ?? "", widestText),
            entity.entityGroup ?? entity.entity ?? "",
            clip(entity.word, widestText),
            `${entity.start}-${entity.end}`,
            entity.score.toFixed(4),
          ]),
        );
        if (rows.length > 0) writeLine(terminal.stdout, formatTable(rows, ["text", "kind", "word", "place", "score"]));
      }
      if (quiet === true || json === true) return;
      const found = results.reduce((sum, entities) => sum + entities.length, 0);
      const counted = found === 1 ? "1 entity" : `${found} entities`;
      writeLine(terminal.stderr, `${counted} in ${plural(all.length, "text")}, ${formatMilliseconds(milliseconds)}`);
    } finally {
      await session.runtime.dispose();
    }
  });
}

/** The field names of Hugging Face's pipeline. */
function asPipelineNames({ entity, entityGroup, score, index, word, start, end }: Entity): object {
  const kind = entityGroup === undefined ? { entity } : { entity_group: entityGroup };
  return { ...kind, score: shortFloat(score), ...(index === undefined ? {} : { index }), word, start, end };
}
