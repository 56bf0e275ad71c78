import type { Command } from "commander";
import { invalidInput } from "../../../contract/errors.ts";
import { formatTable, printable } from "../../output/table.ts";
import { similarityOptions } from "../../../tasks/similarity/similarity-options.ts";
import { type TaskFlags, defineTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { readTexts } from "../../input/texts.ts";
import { plural } from "../../output/units.ts";

interface SimilarityFlags extends TaskFlags {
  readonly to?: readonly string[];
  readonly with?: string;
}

const widestText = 40;
const widestHead = 20;
/** Maximum columns of the matrix; with more texts, the most similar ones of each text are shown instead. */
const maxColumns = 6;
const shownAlike = 3;

/** Defines the command `similarity`. */
export function defineSimilarity(command: Command, terminal: Terminal): void {
  command
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--to <texts...>", "texts to compare with; by default all texts are compared with each other")
    .option("--with <file>", "the same from a file, as --input takes it")
    .option("--model <reference>", "embedding model: a path, hf:owner/name, or a name in the store");
  defineTask(command, terminal, similarityOptions, async (flags: SimilarityFlags, texts) => {
    const given = await getOthers(flags, texts, terminal);
    return {
      run: (runtime, all, request) => runtime.similarity(all, given ?? all, request),
      show: ({ scores, metric, truncated }, all) => ({
        results: scores.map((row) => Array.from(row)),
        extraFields: { metric },
        title: metric,
        body: matrixTable(scores, all, given ?? all),
        summary: `${plural(all.length, "text")} with ${plural((given ?? all).length, "text")}`,
        truncated,
      }),
    };
  });
}

/** Undefined: the texts themselves. */
async function getOthers(
  { to, with: file, input }: SimilarityFlags,
  texts: readonly string[],
  terminal: Terminal,
): Promise<readonly string[] | undefined> {
  if (to !== undefined && file !== undefined) {
    throw invalidInput("--to and --with both say what to compare with", "leave one of the two out");
  }
  if (file === undefined) return to;
  if (file === "-" && texts.length === 0 && (input === undefined || input === "-")) {
    throw invalidInput("stdin cannot be both lists of texts", "give one of them as a file");
  }
  return readTexts({ texts: [], input: file }, terminal);
}

function matrixTable(scores: readonly Float32Array[], texts: readonly string[], others: readonly string[]): string {
  if (texts.length === 0 || others.length === 0) return "";
  const named = (index: number): string => printable(texts[index] ?? "", widestText);
  if (others.length <= maxColumns) {
    const rows = scores.map((row, index) => [named(index), ...Array.from(row, (score) => score.toFixed(4))]);
    return formatTable(rows, ["text", ...others.map((other) => printable(other, widestHead))]);
  }
  const rows = scores.flatMap((row, index) => {
    const order = [...row.keys()]
      .sort((a, b) => (row[b] ?? 0) - (row[a] ?? 0))
      .filter((other) => texts !== others || other !== index);
    return order
      .slice(0, shownAlike)
      .map((other) => [named(index), (row[other] ?? 0).toFixed(4), printable(others[other] ?? "", widestText)]);
  });
  return formatTable(rows, ["text", "score", "most alike"]);
}
