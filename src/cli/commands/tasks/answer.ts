import type { Command } from "commander";
import { formatTable, printable } from "../../output/table.ts";
import { answerOptions } from "../../../tasks/question-answering/answer-options.ts";
import { type TaskFlags, defineTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";

interface AnswerFlags extends TaskFlags {
  readonly question: string;
}

const widestText = 40;

/** Defines the command `answer`. */
export function defineAnswer(command: Command, terminal: Terminal): void {
  command
    .argument("[contexts...]", "texts to search; or --input, or lines on stdin")
    .requiredOption("--question <text>", "the question")
    .option("--model <reference>", "model with a question-answering head: a path, hf:owner/name, or a name in the store");
  defineTask(command, terminal, answerOptions, ({ question }: AnswerFlags) => ({
    run: (runtime, all, request) => runtime.answer(question, all, request),
    show: ({ results }, all) => {
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
  }));
}
