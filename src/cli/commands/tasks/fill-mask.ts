import type { Command } from "commander";
import type { FillTarget } from "../../../tasks/fill-mask/fill-mask.ts";
import { toHuggingFaceFills } from "../../../tasks/hugging-face-results.ts";
import { formatTable, printable } from "../../output/table.ts";
import { fillMaskOptions } from "../../../tasks/fill-mask/fill-mask-options.ts";
import { defineTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";

const widestText = 60;

/** Defines the command `fill-mask`. */
export function defineFillMask(command: Command, terminal: Terminal): void {
  command
    .argument("[texts...]", "texts with a mask token ([MASK], <mask>); or --input, or lines on stdin")
    .option("--model <reference>", "model with a masked-language-model head: a path, hf:owner/name, or a name in the store");
  defineTask(command, terminal, fillMaskOptions, () => ({
    run: (runtime, all, request) => runtime.fillMask(all, request),
    show: ({ results, targets, truncated }) => {
      const rows = results.flatMap((masks) =>
        masks.flatMap((fills) =>
          fills.map(({ tokenText, score, sequence }) => [
            printable(tokenText, widestText),
            score.toFixed(4),
            printable(sequence, widestText),
          ]),
        ),
      );
      const table = rows.length > 0 ? formatTable(rows, ["token", "score", "text"]) : "";
      return {
        results: results.map(toHuggingFaceFills),
        ...(targets === undefined ? {} : { extraFields: { targets: targets.map(namedTarget) } }),
        body: [table, ...(targets ?? []).flatMap(partNote)].join("\n"),
        summary: plural(results.length, "text"),
        truncated,
      };
    },
  }));
}

function namedTarget({ target, token, tokenText, whole }: FillTarget): object {
  return { target, token, token_str: tokenText, whole };
}

/** A note for a word that is more than one token. */
function partNote({ target, tokenText, whole }: FillTarget): string[] {
  return whole ? [] : [`"${printable(target)}" is more than one token: its first, "${printable(tokenText)}", was considered`];
}
