import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { readManifest } from "../../../models/index.ts";
import { textSettings } from "../../../tasks/encoding/text-settings.ts";
import {
  type EncodeOptions,
  type Encoding,
  type OffsetUnit,
  convertOffsets,
  loadTokenizer,
  offsetUnits,
} from "../../../tokenizers/index.ts";
import { parsePositiveInteger } from "../../option-flags.ts";
import { addSettingFlags, withSession } from "../../session.ts";
import { formatTable, printable } from "../../output/table.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { readTexts } from "../../input/texts.ts";
import { plural } from "../../output/units.ts";

interface TokenizeFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly pair?: string;
  readonly offsets: OffsetUnit;
  readonly maxTokens?: number;
  readonly specialTokens: boolean;
}

/** Defines the command `tokenize`. */
export function defineTokenize(command: Command, terminal: Terminal): void {
  command
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", 'model: "builtin", a path, hf:owner/name, or a name in the store')
    .option("--input <file>", "texts from a file: .txt a line each, .jsonl strings or objects with `text`; - is stdin")
    .option("--pair <text>", "a second text for each, for models that take two")
    .addOption(new Option("--offsets <unit>", "unit of offsets").choices(offsetUnits).default("utf16"))
    .addOption(
      new Option("--max-tokens <number>", "longest text in tokens, instead of the model's own").argParser(parsePositiveInteger),
    )
    .option("--no-special-tokens", "do not add special tokens");
  addSettingFlags(command, ["offline"]).action(async (texts: string[], flags: TokenizeFlags) => {
    await withSession(terminal, flags, flags.model, async (session) => {
      const all = await readTexts({ texts, ...omitUndefined({ input: flags.input }) }, terminal);
      const fetch = (reference: string): Promise<void> => session.fetch(reference, terminal.signal);
      const manifest = await readManifest(session.model, { fetch });
      const { name } = manifest;
      const tokenizer = await loadTokenizer(textSettings(manifest));
      const encodings = all.map((one) => ({ text: one, encoding: tokenizer.encode(one, toOptions(flags)) }));
      await writeAll(terminal.stdout, flags.json === true ? toJson(name, encodings, flags) : toTables(name, encodings, flags));
      const cut = encodings.filter(({ encoding }) => encoding.truncated).length;
      if (cut > 0 && flags.quiet !== true)
        writeLine(terminal.stderr, `${plural(cut, "text")} longer than the limit, cut; --max-tokens raises it`);
    });
  });
}

function toOptions({ pair, maxTokens, specialTokens }: TokenizeFlags): EncodeOptions {
  return {
    ...omitUndefined({ pair, maxTokens }),
    ...(specialTokens ? {} : { addSpecialTokens: false }),
  };
}

interface Tokenized {
  readonly text: string;
  readonly encoding: Encoding;
}

/** Start and end of each token, in the unit asked for. */
function getRanges({ text, encoding }: Tokenized, { pair = "", offsets: unit }: TokenizeFlags): [start: number, end: number][] {
  const first = convertOffsets(encoding.offsets, text, unit);
  const second = convertOffsets(encoding.offsets, pair, unit);
  return encoding.sequenceIds.map((sequence, index) => {
    const offsets = sequence === 1 ? second : first;
    return [offsets[2 * index] ?? 0, offsets[2 * index + 1] ?? 0];
  });
}

function toJson(model: string, tokenized: readonly Tokenized[], flags: TokenizeFlags): string {
  const results = tokenized.map((one) => {
    const { ids, tokens, typeIds, sequenceIds, wordIds, specialTokensMask, wholeLength, truncated } = one.encoding;
    const offsets = getRanges(one, flags);
    return { text: one.text, ids, tokens, offsets, typeIds, sequenceIds, wordIds, specialTokensMask, wholeLength, truncated };
  });
  const asked = { ...omitUndefined({ pair: flags.pair }), offsetUnit: flags.offsets };
  return `${JSON.stringify({ model, target: null, ...asked, results, decision: null })}\n`;
}

function toTables(model: string, tokenized: readonly Tokenized[], flags: TokenizeFlags): string {
  return tokenized.map((one) => `${toTable(model, one, flags)}\n`).join("\n");
}

function toTable(model: string, one: Tokenized, flags: TokenizeFlags): string {
  const { ids, tokens, sequenceIds, offsets } = one.encoding;
  const ranges = getRanges(one, flags);
  const rows = ids.map((id, index) => {
    const [start, end] = ranges[index] ?? [0, 0];
    const sequence = sequenceIds[index];
    const whole = sequence === 1 ? (flags.pair ?? "") : one.text;
    const place =
      sequence === null
        ? ["", ""]
        : [`${start}-${end}`, printable(JSON.stringify(whole.slice(offsets[2 * index], offsets[2 * index + 1])))];
    return [String(id), printable(tokens[index] ?? ""), ...place];
  });
  return [`${model} · ${plural(ids.length, "token")}`, formatTable(rows, ["id", "token", flags.offsets, "text"])].join("\n");
}
