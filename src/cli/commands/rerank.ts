import { type Command, Option } from "commander";
import type { RerankRequest } from "../../task-runtime.ts";
import { addLoadFlags, openSession, positiveInteger, withNotice } from "../session.ts";
import { clip, formatTable } from "../table.ts";
import { type Terminal, writeAll, writeLine } from "../terminal.ts";
import { addLimitFlags, inputOption, noteCut } from "../text-commands.ts";
import { readTexts } from "../texts.ts";
import { formatMilliseconds, plural, shortFloat } from "../units.ts";

interface RerankFlags {
  readonly query: string;
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly topN?: number;
  readonly raw?: boolean;
  readonly maxTokens?: number;
  readonly truncate?: "cut" | "error";
}

const widestText = 80;

export function addRerank(program: Command, terminal: Terminal): void {
  const command = program
    .command("rerank")
    .description("documents in the order of how well they answer a query")
    .argument("[documents...]", "documents; or --input, or lines on stdin")
    .requiredOption("--query <text>", "what is asked")
    .option("--model <reference>", "cross-encoder or embedding model: a path, hf:owner/name, or a name in the store")
    .addOption(inputOption())
    .addOption(new Option("--top-n <number>", "documents to give, best first").argParser(positiveInteger))
    .option("--raw", "the model's own numbers, with no activation");
  addLoadFlags(addLimitFlags(command)).action(async (documents: string[], flags: RerankFlags) => {
    const session = await openSession(terminal, { ...flags }, flags.model);
    try {
      const { query, json, quiet, input, topN, raw, maxTokens, truncate } = flags;
      const all = await readTexts({ texts: documents, ...(input === undefined ? {} : { input }) }, terminal);
      const { variant, batchTokens } = session.settings;
      const options = { variant, batchTokens, topN, raw, maxTokens, truncate, signal: terminal.signal };
      const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      const request: RerankRequest = { model: session.model, ...set };
      const work = session.runtime.rerank(query, all, request);
      const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), work);
      const { model, target, decision, scoring, truncated, milliseconds } = result;
      const results = result.results.map(({ index, score, text }) => ({ index, score: shortFloat(score), text }));
      if (json === true) {
        await writeAll(terminal.stdout, `${JSON.stringify({ model, target, scoring, results, decision })}\n`);
      } else {
        writeLine(
          terminal.stdout,
          `${model} · ${target} · ${scoring === "cosine" ? "cosine of embeddings" : `score: ${scoring}`}`,
        );
        const rows = results.map(({ index, score, text }) => [String(index), score.toFixed(4), clip(text, widestText)]);
        writeLine(terminal.stdout, formatTable(rows, ["index", "score", "text"]));
      }
      if (quiet === true) return;
      noteCut(truncated, 0, terminal);
      if (json !== true) writeLine(terminal.stderr, `${plural(all.length, "document")} in ${formatMilliseconds(milliseconds)}`);
    } finally {
      await session.runtime.dispose();
    }
  });
}
