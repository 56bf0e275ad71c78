import { type Command, Option } from "commander";
import type { EmbedRequest, EmbedResult } from "../../task-runtime.ts";
import { InferyardError } from "../../errors.ts";
import type { Pooling } from "../../models/manifest.ts";
import { poolings, truncations } from "../../tasks/embed-settings.ts";
import { checkWritable, writeNpy } from "../npy.ts";
import { type Session, addLoadFlags, openSession, positiveInteger, withNotice, zeroOrMore } from "../session.ts";
import { clip, displayWidth } from "../table.ts";
import { type Terminal, writeAll, writeLine } from "../terminal.ts";
import { addLimitFlags, inputOption, noteCut } from "../text-commands.ts";
import { readTexts } from "../texts.ts";
import { formatMilliseconds, plural, shortFloat } from "../units.ts";

interface EmbedFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly npy?: string;
  readonly quiet?: boolean;
  readonly pooling?: Pooling;
  readonly normalize?: boolean;
  readonly prompt?: string;
  readonly dimensions?: number;
  readonly maxTokens?: number;
  readonly truncate?: "cut" | "error" | "windows";
  readonly stride?: number;
  readonly batchTokens?: number;
}

export function addEmbed(program: Command, terminal: Terminal): void {
  const command = program
    .command("embed")
    .description("texts to vectors")
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", 'model: "builtin", a path, hf:owner/name, or a name in the store')
    .addOption(inputOption())
    .option("--jsonl", "print one JSON object per text, as the texts are done")
    .option("--npy <file>", "write the vectors as a NumPy matrix")
    .addOption(
      new Option("--pooling <pooling>", "how token vectors become one, instead of the model's own way").choices(poolings),
    )
    .option("--normalize", "scale vectors to unit length")
    .option("--no-normalize", "leave vectors as they are")
    .option("--prompt <name>", "prompt of the model put before every text: query, document, ...")
    .addOption(new Option("--dimensions <number>", "keep only the first dimensions").argParser(positiveInteger))
    .addOption(
      new Option("--stride <tokens>", "with --truncate windows: how far they overlap (default: 0)").argParser(zeroOrMore),
    );
  addLoadFlags(addLimitFlags(command, truncations)).action(async (texts: string[], flags: EmbedFlags) => {
    refuseTwoFormats(flags);
    if (flags.npy !== undefined) await checkWritable(flags.npy);
    const session = await openSession(terminal, { ...flags }, flags.model);
    try {
      const all = await readTexts({ texts, ...(flags.input === undefined ? {} : { input: flags.input }) }, terminal);
      if (flags.jsonl === true) await embedInParts(all, flags, session, terminal);
      else await embedAtOnce(all, flags, session, terminal);
    } finally {
      await session.runtime.dispose();
    }
  });
}

function refuseTwoFormats({ json, jsonl, npy }: EmbedFlags): void {
  const asked = [json === true && "--json", jsonl === true && "--jsonl", npy !== undefined && "--npy"].filter(
    (flag) => flag !== false,
  );
  if (asked.length > 1)
    throw new InferyardError("INPUT_INVALID", `${asked.join(" and ")} exclude each other`, {
      remedy: "choose one form of output",
    });
}

function requestOf(flags: EmbedFlags, { model, settings }: Session, terminal: Terminal): EmbedRequest {
  const { pooling, normalize, prompt, dimensions, maxTokens, truncate, stride } = flags;
  const { variant, batchTokens } = settings;
  const request = {
    model,
    variant,
    batchTokens,
    pooling,
    normalize,
    prompt,
    dimensions,
    maxTokens,
    truncate,
    stride,
    signal: terminal.signal,
  };
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
}

async function embedAtOnce(texts: readonly string[], flags: EmbedFlags, session: Session, terminal: Terminal): Promise<void> {
  const embedding = session.runtime.embed(texts, requestOf(flags, session, terminal));
  const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), embedding);
  if (flags.npy !== undefined) {
    if (flags.pooling === "none")
      throw new InferyardError("INPUT_INVALID", "--npy needs one vector per text, and --pooling none gives one per token");
    await writeNpy(flags.npy, result.embeddings, result.dimensions);
    writeLine(terminal.stderr, `${headline(result)}   ${texts.length} x ${result.dimensions} float32 in ${flags.npy}`);
  } else if (flags.json === true) {
    await writeAll(terminal.stdout, `${toJson(result)}\n`);
  } else {
    writeLine(terminal.stdout, headline(result));
    const width = texts.reduce((most, text) => Math.max(most, displayWidth(clip(text, widestText))), 0);
    for (const [index, text] of texts.entries())
      writeLine(terminal.stdout, tableRow(text, result.embeddings[index] ?? new Float32Array(), width));
  }
  if (flags.quiet === true) return;
  noteCut(result.truncated, 0, terminal);
  noteWindows(result, terminal);
  const plain = flags.json !== true && flags.npy === undefined;
  if (plain)
    writeLine(
      terminal.stderr,
      `${plural(texts.length, "text")} in ${formatMilliseconds(result.milliseconds)} · --json for all numbers`,
    );
}

/** Texts per part of --jsonl: enough to sort by length, few enough that results come as they are made. */
const partSize = 1024;

async function embedInParts(texts: readonly string[], flags: EmbedFlags, session: Session, terminal: Terminal): Promise<void> {
  const { signal: _signal, ...request } = requestOf(flags, session, terminal);
  const { variant, ...options } = request;
  const loading = session.runtime.load(session.model, {
    ...(variant === undefined ? {} : { variant }),
    signal: terminal.signal,
  });
  const handle = await withNotice(terminal, session.notice(`loading ${session.model}`), loading);
  const { model: _model, ...perCall } = options;
  for (let first = 0; first < texts.length; first += partSize) {
    const part = texts.slice(first, first + partSize);
    const result = await session.runtime.embed(part, { ...perCall, signal: terminal.signal, model: handle });
    const lines = part.map((text, index) =>
      JSON.stringify({ index: first + index, text, embedding: numbers(result.embeddings[index]) }),
    );
    await writeAll(terminal.stdout, `${lines.join("\n")}\n`);
    if (flags.quiet !== true) {
      noteCut(result.truncated, first, terminal);
      noteWindows(result, terminal);
    }
  }
}

/** Says how many texts did not fit in one window. */
function noteWindows({ windows = [] }: EmbedResult, terminal: Terminal): void {
  const several = windows.filter((count) => count > 1);
  if (several.length === 0) return;
  const all = several.reduce((sum, count) => sum + count, 0);
  writeLine(terminal.stderr, `${plural(several.length, "text")} longer than the model reads, read in ${all} windows`);
}

function toJson({ model, target, dimensions, embeddings, decision }: EmbedResult): string {
  return JSON.stringify({ model, target, dimensions, embeddings: embeddings.map(numbers), decision });
}

function numbers(vector: Float32Array | undefined): number[] {
  return Array.from(vector ?? [], shortFloat);
}

function headline({ model, dimensions, target, decision }: EmbedResult): string {
  const { variant } = decision.model;
  return [model, ...(variant === undefined || model === "builtin" ? [] : [variant]), `${dimensions} dimensions`, target].join(
    " · ",
  );
}

const widestText = 40;
const shownValues = 3;

function tableRow(text: string, vector: Float32Array, width: number): string {
  const label = clip(text, widestText);
  const values = Array.from(vector.slice(0, shownValues), (value) => value.toFixed(4).padStart(7));
  return `${label}${" ".repeat(Math.max(0, width - displayWidth(label)))}   [${values.join(", ")}, … ]`;
}
