import { type Command, Option } from "commander";
import type { ClassifyRequest } from "../../task-runtime.ts";
import { type Activation, activations } from "../../tasks/labels.ts";
import { addLoadFlags, list, openSession, positiveInteger, withNotice } from "../session.ts";
import { clip, formatTable } from "../table.ts";
import { type Terminal, writeAll, writeLine } from "../terminal.ts";
import { addLimitFlags, inputOption, noteCut } from "../text-commands.ts";
import { readTexts } from "../texts.ts";
import { formatMilliseconds, plural, shortFloat } from "../units.ts";

interface ClassifyFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly topK?: number;
  readonly labels?: readonly string[];
  readonly template?: string;
  readonly multiLabel?: boolean;
  readonly activation?: Activation;
  readonly maxTokens?: number;
  readonly truncate?: "cut" | "error";
}

/** Labels shown of each text where nobody asks for more. */
const shownLabels = 3;
const widestText = 60;

export function addClassify(program: Command, terminal: Terminal): void {
  const command = program
    .command("classify")
    .description("the labels of texts, with scores")
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", "model with a classification head: a path, hf:owner/name, or a name in the store")
    .addOption(inputOption())
    .addOption(new Option("--top-k <number>", "labels of each text, best first").argParser(positiveInteger))
    .addOption(new Option("--labels <labels>", "labels of your own, for a natural-language-inference model").argParser(list))
    .option("--template <sentence>", "with --labels: what is asked, with {} where the label stands")
    .option("--multi-label", "with --labels: judge each label by itself")
    .addOption(new Option("--activation <how>", "how logits become scores, instead of the model's own way").choices(activations));
  addLoadFlags(addLimitFlags(command)).action(async (texts: string[], flags: ClassifyFlags) => {
    const session = await openSession(terminal, { ...flags }, flags.model);
    try {
      const {
        json,
        quiet,
        input,
        topK,
        activation,
        labels,
        template: hypothesisTemplate,
        multiLabel,
        maxTokens,
        truncate,
      } = flags;
      const all = await readTexts({ texts, ...(input === undefined ? {} : { input }) }, terminal);
      const { variant, batchTokens } = session.settings;
      const options = {
        variant,
        batchTokens,
        topK,
        activation,
        labels,
        hypothesisTemplate,
        multiLabel,
        maxTokens,
        truncate,
        signal: terminal.signal,
      };
      const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      const request: ClassifyRequest = { model: session.model, ...set };
      const work = session.runtime.classify(all, request);
      const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), work);
      const { model, target, decision, results, truncated, milliseconds } = result;
      if (json === true) {
        const rounded = results.map((labels) => labels.map(({ label, score }) => ({ label, score: shortFloat(score) })));
        await writeAll(terminal.stdout, `${JSON.stringify({ model, target, results: rounded, decision })}\n`);
      } else {
        writeLine(terminal.stdout, `${model} · ${target}`);
        const rows = all.map((text, index) => [
          clip(text, widestText),
          (results[index] ?? [])
            .slice(0, topK ?? shownLabels)
            .map(({ label, score }) => `${label} ${score.toFixed(4)}`)
            .join("  "),
        ]);
        writeLine(terminal.stdout, formatTable(rows));
      }
      if (quiet === true) return;
      noteCut(truncated, 0, terminal);
      if (json !== true) writeLine(terminal.stderr, `${plural(all.length, "text")} in ${formatMilliseconds(milliseconds)}`);
    } finally {
      await session.runtime.dispose();
    }
  });
}
