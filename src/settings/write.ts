/** Writes settings into inferyard.yaml. All other lines stay as they are, including comments and spacing. */
import { randomUUID } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar, parseDocument, stringify } from "yaml";
import { InferyardError } from "../contract/errors.ts";
import { writeAtomically } from "../platform/node/atomic-write.ts";
import { checkYaml } from "./check.ts";
import { readSettingsFile } from "./read.ts";
import type { Settings } from "./settings.ts";
import { withOutputErrors } from "../platform/node/output-errors.ts";

/**
 * Changes settings in the file, which is created if it does not exist. Throws CONFIG_INVALID for a file that cannot be changed safely,
 * OUTPUT_FAILED if it cannot be written.
 */
export async function writeSettings(path: string, values: Settings): Promise<void> {
  const before = (await readSettingsFile(path, true)) ?? "";
  const wanted = { ...checkYaml(before, path), ...values };
  const after = [inPlace(before, values), rewritten(before, values)].find(
    (text) => text !== undefined && holds(text, path, wanted),
  );
  if (after === undefined) {
    throw new InferyardError("CONFIG_INVALID", `${path} is written in a way that cannot be changed safely`, {
      remedy: `put these into it by hand: ${lines(values).join(", ")}`,
    });
  }
  const target = await realpath(path).catch(() => path); // a symbolic link stays one
  await withOutputErrors(path, () => replaceFile(target, after));
}

/** Replaces the content of the file at once, or creates it: readers see the old text or the new one, also after a crash. Its permissions do not change. */
async function replaceFile(path: string, text: string): Promise<void> {
  const before = await stat(path).catch(() => undefined); // undefined for a new file
  await writeAtomically(
    path,
    async (file) => {
      if (before !== undefined) await file.chmod(before.mode);
      await file.writeFile(text);
    },
    `.${randomUUID()}.part`, // remains if the process is killed
  );
}

/** The source with only the values replaced; undefined unless the file is a plain map with one line per setting. */
function inPlace(source: string, values: Settings): string | undefined {
  const document = parseDocument(source);
  const { contents } = document;
  if (contents !== null && !(isMap(contents) && contents.flow !== true)) return undefined;
  let text = source;
  const added: string[] = [];
  const changes: { readonly from: number; readonly to: number; readonly value: string }[] = [];
  for (const [name, value] of Object.entries(values)) {
    const node: unknown = document.get(name, true);
    if (node === undefined) added.push(...lines({ [name]: value }));
    else if (isScalar(node) && node.range) changes.push({ from: node.range[0], to: node.range[1], value: spell(value) });
    else return undefined;
  }
  for (const { from, to, value } of changes.toSorted((a, b) => b.from - a.from)) {
    text = text.slice(0, from) + value + text.slice(to);
  }
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return added.length === 0 ? text : `${text}${gap}${added.join("\n")}\n`;
}

/** The source as the YAML library writes it, with comments but possibly other spacing: for files in flow style and the like. */
function rewritten(source: string, values: Settings): string {
  const document: Document = parseDocument(source);
  for (const [name, value] of Object.entries(values)) document.set(name, value);
  return document.toString({ lineWidth: 0 });
}

function holds(text: string, path: string, wanted: Settings): boolean {
  try {
    return isDeepStrictEqual(checkYaml(text, path), wanted);
  } catch {
    return false; // the next way of writing is tried, then the error names the settings
  }
}

function lines(values: Settings): string[] {
  return Object.entries(values).map(([name, value]) => `${name}: ${spell(value)}`);
}

function spell(value: unknown): string {
  return stringify(value, { lineWidth: 0, collectionStyle: "flow" }).trimEnd();
}
