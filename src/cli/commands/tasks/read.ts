import { basename, resolve } from "node:path";
import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";

import { formatHocr } from "../../../tasks/reading/hocr.ts";
import { type ReadPageOptions, readPageOptions } from "../../../tasks/reading/read-options.ts";
import type { ReadResult } from "../../../api/task-requests.ts";
import { addOptionFlags, optionsFromFlags } from "../../option-flags.ts";
import { type CommandSession, type GlobalFlags, addLoadFlags, withNotice, withSession } from "../../session.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { formatMilliseconds, plural } from "../../output/units.ts";

const formats = ["text", "json", "hocr"] as const;

interface ReadFlags extends GlobalFlags {
  readonly model?: string;
  readonly format: (typeof formats)[number];
}

/** A page with the picture it was read from. */
interface NamedResult extends ReadResult {
  readonly name: string;
}

/** Defines the command `read`. */
export function defineRead(command: Command, terminal: Terminal): void {
  command
    .argument("<pictures...>", "pictures of pages: PNG, JPEG, WebP, GIF, TIFF, AVIF")
    .option("--model <reference>", "folder with the networks of PP-OCR: a path, hf:owner/name, or a name in the store")
    .addOption(
      new Option("--format <format>", "text of the lines, JSON with boxes, or an hOCR page").choices(formats).default("text"),
    );
  addLoadFlags(addOptionFlags(command, readPageOptions)).action(async (pictures: string[], flags: ReadFlags) => {
    const format = flags.json === true ? "json" : flags.format;
    const given = optionsFromFlags(readPageOptions, flags);
    // hOCR is for programs that place words on a page.
    const options = format === "hocr" ? { words: true, ...given } : given;
    await withSession(terminal, flags, flags.model, async (session) => {
      const pages: NamedResult[] = [];
      for (const [index, picture] of pictures.entries()) {
        const page = await readOne(session, terminal, picture, options);
        if (format === "json") await writeAll(terminal.stdout, `${JSON.stringify(toJson(page, pictures.length > 1))}\n`);
        if (format === "text") await writeAll(terminal.stdout, `${index > 0 ? "\f" : ""}${toText(page)}`);
        pages.push(page);
      }
      const [first] = pages;
      if (first === undefined) return;
      if (format === "hocr") await writeAll(terminal.stdout, formatHocr(pages, `inferyard ${basename(first.model)}`));
      if (flags.quiet !== true) writeLine(terminal.stderr, summarize(pages, first, format));
    });
  });
}

async function readOne(
  { runtime, model, notice, settings }: CommandSession,
  terminal: Terminal,
  picture: string,
  options: Partial<ReadPageOptions>,
): Promise<NamedResult> {
  const request = { ...options, ...omitUndefined({ variant: settings.variant }), model, signal: terminal.signal };
  const path = picture.startsWith("data:") ? picture : resolve(terminal.directory, picture);
  const page = await withNotice(terminal, notice(`reading ${picture.slice(0, 60)}`), runtime.read(path, request));
  return { ...page, name: picture };
}

/** The lines of a page, or its fields as JSON. */
function toText({ lines, fields }: NamedResult): string {
  return fields === undefined ? lines.map(({ text }) => `${text}\n`).join("") : `${JSON.stringify(fields, undefined, 2)}\n`;
}

function toJson({ name, model, target, width, height, lines, fields, decision }: NamedResult, isOneOfSeveral: boolean): object {
  const read = { width, height, lines, ...omitUndefined({ fields }) };
  return { ...(isOneOfSeveral ? { file: name } : {}), model, target, ...read, decision };
}

function summarize(pages: readonly NamedResult[], { model, target }: NamedResult, format: ReadFlags["format"]): string {
  const lines = pages.reduce((sum, page) => sum + page.lines.length, 0);
  const milliseconds = pages.reduce((sum, page) => sum + page.milliseconds, 0);
  const counts = `${plural(pages.length, "page")}, ${plural(lines, "line")} in ${formatMilliseconds(milliseconds)}`;
  const hint = format === "text" ? " · --format json for boxes and scores, hocr for a page" : "";
  return `${model} · ${target} · ${counts}${hint}`;
}
