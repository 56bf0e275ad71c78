import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { ChunkResult } from "../../../api/task-requests.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { loadSettingNames } from "../../../runtime/options/load-options.ts";
import { constraintNames } from "../../../runtime/options/runtime-options.ts";
import { flagName } from "../../../settings/settings.ts";
import type { Chunk, ChunkedText } from "../../../tasks/text-threads/chunked-text.ts";
import { chunkOptions, runsModel } from "../../../tasks/chunking/chunk-options.ts";
import type { ChunkStrategy } from "../../../tasks/text-threads/chunked-text.ts";
import { addOptionFlags, optionsFromFlags } from "../../option-flags.ts";
import { type DocumentInput, readDocuments } from "../../input/documents.ts";
import { addBulkLoadFlags, withNotice, withSession } from "../../session.ts";
import { formatTable, printable } from "../../output/table.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { formatMilliseconds, plural, shortFloat } from "../../output/units.ts";

interface ChunkFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly strategy?: ChunkStrategy;
  readonly maxChunks?: number;
}

/** Defines the command `chunk`. */
export function defineChunk(command: Command, terminal: Terminal): void {
  command
    .argument("[documents...]", "files, or texts with a space in them; - or nothing is stdin")
    .option("--model <reference>", "model whose tokens are counted; the one that a strategy runs")
    .option("--input <file>", "one file; .jsonl has a document per line");
  addBulkLoadFlags(addOptionFlags(command, chunkOptions)).action(async (args: string[], flags: ChunkFlags) => {
    refusePlacing(flags);
    await withSession(terminal, flags, flags.model, async (session) => {
      const documents = await readDocuments({ args, ...omitUndefined({ input: flags.input }) }, terminal);
      const { variant } = session.settings;
      const request = {
        ...optionsFromFlags(chunkOptions, flags),
        ...omitUndefined({ variant }),
        model: session.model,
        signal: terminal.signal,
      };
      const chunking = session.runtime.chunk(
        documents.map(({ text }) => text),
        request,
      );
      const result = await withNotice(terminal, session.notice(`reading ${session.model}, chunking`), chunking);
      if (flags.json === true) await writeAll(terminal.stdout, `${toJson(result)}\n`);
      else await writeAll(terminal.stdout, describe(documents, result));
      if (flags.quiet !== true) note(result, flags, terminal);
    });
  });
}

/**
 * Throws INPUT_INVALID for a flag that places a model if the strategy runs none. Settings of the same name are ignored, since they are for other
 * commands.
 */
function refusePlacing({ strategy = "fixed", ...flags }: ChunkFlags): void {
  if (runsModel(strategy)) return;
  const placing: ReadonlySet<string> = new Set([...constraintNames, ...loadSettingNames, "host", "replicas", "maxMemory"]);
  const name = Object.keys(flags).find((flag) => placing.has(flag));
  if (name === undefined) return;
  const flag = flagName(name);
  throw invalidInput(
    `${flag} has no effect with the strategy ${strategy}, which loads no model`,
    `leave ${flag} out, or choose a strategy that does: semantic, late or token-classification`,
  );
}

function toJson({ model, target, results, decision }: ChunkResult): string {
  const listed = results.map(({ chunks, truncated }) => ({ chunks: chunks.map(withNumbers), truncated }));
  return JSON.stringify({ model, target: target ?? null, results: listed, decision: decision ?? null });
}

/** JSON writes a typed array as an object. */
function withNumbers({ embedding, ...chunk }: Chunk): object {
  return embedding === undefined ? chunk : { ...chunk, embedding: Array.from(embedding, shortFloat) };
}

const widestText = 60;
/** UTF-16 units of a chunk shown in the table. */
const shownUnits = 200;

function describe(documents: readonly DocumentInput[], { model, target, results }: ChunkResult): string {
  const parts = results.map((result, index) => {
    const { path } = documents[index] ?? {};
    const name = path ?? (results.length > 1 ? `text ${index + 1}` : undefined);
    const title = [name, model, target, plural(result.chunks.length, "chunk")].filter((word) => word !== undefined);
    return [title.join(" · "), ...rows(result)].join("\n");
  });
  return `${parts.join("\n")}\n`;
}

function rows({ chunks }: ChunkedText): string[] {
  if (chunks.length === 0) return [];
  return [
    formatTable(
      chunks.map(({ id, start, end, tokens, text }) => [
        String(id),
        `${start}-${end}`,
        plural(tokens, "token"),
        printable(text.slice(0, shownUnits).trim(), widestText),
      ]),
    ),
  ];
}

function note({ results, milliseconds }: ChunkResult, { json, maxChunks }: ChunkFlags, terminal: Terminal): void {
  const cut = results.flatMap(({ truncated }, index) => (truncated ? [index + 1] : []));
  if (cut.length > 0) {
    const shown = `${cut.slice(0, 5).join(", ")}${cut.length > 5 ? ", …" : ""}`;
    const words = `${plural(cut.length, "document")} cut after ${plural(maxChunks ?? 0, "chunk")} (number ${shown})`;
    writeLine(terminal.stderr, `${words}; --max-chunks says how many`);
  }
  if (json !== true)
    writeLine(
      terminal.stderr,
      `${plural(results.length, "document")} in ${formatMilliseconds(milliseconds)} · --json for whole chunks`,
    );
}
