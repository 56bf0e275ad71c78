import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { type ExtractSchema, parseSchema } from "../../../tasks/extraction/extract-schema.ts";
import type { ExtractedFields, ExtractedValue } from "../../../tasks/extraction/extract.ts";
import { formatTable, printable } from "../../output/table.ts";
import { extractOptions } from "../../../tasks/extraction/extract-options.ts";
import { type TaskFlags, defineTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";
import { parseGivenJson, readGivenText } from "../../input/given-file.ts";

interface ExtractFlags extends TaskFlags {
  readonly schema: string;
  readonly questionModel?: string;
}

const widestText = 40;

/** Defines the command `extract`. */
export function defineExtract(command: Command, terminal: Terminal): void {
  command
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .requiredOption("--schema <fields>", "a JSON file, or the JSON itself: fields with their entity or question")
    .option(
      "--model <reference>",
      "token-classification model for fields that are entities: a path, hf:owner/name, or a name in the store",
    )
    .option("--question-model <reference>", "question-answering model for fields that are questions");
  defineTask(command, terminal, extractOptions, async (flags: ExtractFlags) => {
    const schema = await readSchema(flags.schema);
    const { entities } = parseSchema(schema);
    return {
      run: (runtime, all, { model, ...request }) => {
        // Settings may name a model for everything; builtin, which is meant where nothing does, has no labels.
        const named = flags.model ?? (entities.length > 0 && model !== "builtin" ? model : undefined);
        const { questionModel } = flags;
        return runtime.extract(all, {
          ...request,
          schema,
          ...omitUndefined({ model: named, questionModel }),
        });
      },
      show: ({ results, questionRun }, all) => {
        const rows = results.flatMap((fields, index) => getRows(fields, printable(all[index] ?? "", widestText)));
        return {
          results,
          ...(questionRun === undefined ? {} : { extraFields: { question: questionRun } }),
          ...(questionRun === undefined ? {} : { title: `${questionRun.model} · ${questionRun.target}` }),
          body: rows.length > 0 ? formatTable(rows, ["text", "field", "value", "place", "score"]) : "",
          summary: plural(all.length, "text"),
        };
      },
    };
  });
}

function getRows(fields: ExtractedFields, text: string): string[][] {
  return Object.entries(fields).flatMap(([name, found]) => {
    const values: readonly (ExtractedValue | null)[] = isList(found) ? (found.length > 0 ? found : [null]) : [found];
    return values.map((value) =>
      value === null
        ? [text, printable(name), "(not found)", "", ""]
        : [text, printable(name), printable(value.value, widestText), `${value.start}-${value.end}`, value.score.toFixed(4)],
    );
  });
}

function isList(found: ExtractedFields[string]): found is readonly ExtractedValue[] {
  return Array.isArray(found);
}

/** The task checks the content. */
async function readSchema(given: string): Promise<ExtractSchema> {
  const isInline = given.trimStart().startsWith("{");
  const text = isInline ? given : await readGivenText(given, "name a JSON file, or give the JSON itself");
  return parseGivenJson(text, isInline ? "--schema" : given, 'for example {"person":{"entity":"PER"}}') as ExtractSchema;
}
