import { type Command, Option } from "commander";
import { type OffsetUnit, offsetUnits } from "../../../tokenizers/index.ts";
import { positiveInteger } from "../../session.ts";
import { formatTable, printable } from "../../output/table.ts";
import { type TaskFlags, addTaskFlags, runTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";

interface AnswerFlags extends TaskFlags {
  readonly question: string;
  readonly topK?: number;
  readonly maxAnswerTokens?: number;
  /** false with --no-answer. */
  readonly answer: boolean;
  /** false with --no-align-to-words. */
  readonly alignToWords: boolean;
  readonly stride?: number;
  readonly offsets?: OffsetUnit;
}

const widestText = 40;

/** Adds the command `answer`. */
export function addAnswer(program: Command, terminal: Terminal): void {
  const command = program
    .command("answer")
    .description("find the answer to a question in texts")
    .argument("[contexts...]", "texts to search; or --input, or lines on stdin")
    .requiredOption("--question <text>", "the question")
    .option("--model <reference>", "model with a question-answering head: a path, hf:owner/name, or a name in the store")
    .addOption(new Option("--top-k <number>", "answers of each text, best first").argParser(positiveInteger))
    .addOption(new Option("--max-answer-tokens <number>", "longest answer in tokens").argParser(positiveInteger))
    .option("--no-answer", 'allow "no answer"')
    .option("--no-align-to-words", "align answers with tokens instead of words")
    .addOption(new Option("--offsets <unit>", "unit of positions").choices([...offsetUnits]))
    .addOption(new Option("--stride <tokens>", "tokens by which windows of long texts overlap").argParser(positiveInteger));
  addTaskFlags(command).action(async (contexts: string[], flags: AnswerFlags) => {
    const { question, topK, maxAnswerTokens, answer, alignToWords, stride, offsets } = flags;
    const options = { topK, maxAnswerTokens, noAnswer: !answer, alignToWords, stride, offsets };
    await runTask(
      { terminal, texts: contexts, flags, options },
      (runtime, all, request) => runtime.answer(question, all, request),
      ({ results }, all) => {
        const rows = results.flatMap((answers, index) =>
          (answers.length > 0 ? answers : [undefined]).map((found) => [
            printable(all[index] ?? "", widestText),
            found === undefined || found.answer === "" ? "(no answer)" : printable(found.answer, widestText),
            found === undefined || found.answer === "" ? "" : `${found.start}-${found.end}`,
            found?.score.toFixed(4) ?? "",
          ]),
        );
        return {
          results: results.map((answers) => answers.map(({ score, start, end, answer }) => ({ score, start, end, answer }))),
          body: rows.length > 0 ? formatTable(rows, ["text", "answer", "place", "score"]) : "",
          summary: plural(all.length, "text"),
        };
      },
    );
  });
}
