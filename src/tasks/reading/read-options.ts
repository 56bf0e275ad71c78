/** Options of the task that reads the text of pictures. */
import { type OptionTable, boolean, choice, positiveInteger, textOption, unchecked } from "../../runtime/options/option.ts";
import { type ReadingOrder, readingOrderNames } from "./reading-order.ts";

/** Options of `Runtime.read`. */
export interface ReadPageOptions {
  /** Order of the lines: "lines" goes from top to bottom over the whole width of the page, "columns" reads column by column. Default: "lines". */
  readonly order?: ReadingOrder;
  /** Smallest score of a line, from 0 to 1; lines below it are left out. Default: 0.5; 0 with a model that reads one line. */
  readonly minScore?: number;
  /** Whether each line has its words with their boxes. Default: false. */
  readonly words?: boolean;
  /** With a model that reads one line (TrOCR) or fields (Donut): the most tokens of its text. Default: what the model's files state, else 64. */
  readonly maxNewTokens?: number;
  /**
   * With a model that reads fields (Donut): how its answer begins, tokens with tags included, such as "<s_docvqa><s_question>Who signed?</s_question><s_answer>". Default: the first
   * token that the model's files state.
   */
  readonly prompt?: string;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}

/** All options of `read`. Any other name is refused. */
export const readPageOptions: OptionTable<ReadPageOptions> = {
  order: {
    type: choice(readingOrderNames),
    flag: ["--order <order>", "lines over the whole page, or column by column"],
    field: "Order of the lines: `lines` over the whole width of the page, or column by column with `columns`. Default: lines",
  },
  minScore: {
    type: { kind: "number", min: 0, max: 1 },
    flag: ["--min-score <score>", "smallest score of a line (default: 0.5)"],
    field: "Smallest score of a line. Default: 0.5",
  },
  words: {
    type: boolean,
    flag: ["--words", "words of each line, with boxes"],
    field: "Whether each line has its words with their boxes. Default: false",
  },
  maxNewTokens: {
    type: positiveInteger,
    flag: ["--max-new-tokens <number>", "with a model that reads one line: most tokens of its text"],
    field: "With a model that reads one line: most tokens of its text",
  },
  prompt: {
    type: textOption,
    flag: ["--prompt <text>", "with a model that reads fields (Donut): how its answer begins"],
    field: "With a model that reads fields (Donut): how its answer begins. Default: the first token that the model's files state",
  },
  signal: { type: unchecked },
};

/** Smallest score of a line where the caller names none. */
export const defaultMinScore = 0.5;
