/** Folders with the networks of PP-OCR, as rapidocr ships them: a detector, a recognizer and perhaps a classifier of directions, each an ONNX file. */
import { InferyardError } from "../contract/errors.ts";
import { readOnnxMetadata } from "../formats/onnx/onnx-metadata.ts";
import { listFolder, readText } from "../platform/node/files.ts";
import { basename, join } from "../platform/node/paths.ts";
import type { Manifest, Variant } from "./manifest.ts";

/** Name of the task that these folders serve; Hugging Face has none. */
export const readingTaskName = "optical-character-recognition";

/** Names of the variants that are the networks of a page reader. */
export interface PageReaderParts {
  readonly detector: string;
  readonly recognizer: string;
  /** Absent: the folder has none, and lines upside down are not recognized. */
  readonly classifier?: string;
}

/** The networks among the ONNX files of a folder, by their names: `det`, `rec` and `cls` as words of their own, as in PP-OCRv6_det_small. Undefined if it is no page reader. */
export function findPageReader(variants: readonly Pick<Variant, "name" | "format" | "path">[]): PageReaderParts | undefined {
  const named = (word: string): string | undefined =>
    variants.find(
      ({ format, path }) => format === "onnx" && new RegExp(`(?:^|[^a-z])${word}(?:[^a-z]|$)`, "i").test(basename(path)),
    )?.name;
  const [detector, recognizer, classifier] = [named("det"), named("rec"), named("cls")];
  if (detector === undefined || recognizer === undefined) return undefined;
  return { detector, recognizer, ...(classifier === undefined ? {} : { classifier }) };
}

/** The tasks of a folder by its ONNX files: reading pages, or none. */
export function pageReaderTasks(variants: Parameters<typeof findPageReader>[0]): readonly string[] {
  return findPageReader(variants) === undefined ? [] : [readingTaskName];
}

/**
 * The characters of the recognizer's classes from 1: the lines of `character` in its file's metadata, else the lines of the one text file in the folder whose name
 * has `dict` or `keys` in it. Throws MODEL_INVALID if there is neither.
 */
export async function readDictionary(
  { directory, reference, variants }: Manifest,
  { recognizer }: PageReaderParts,
): Promise<readonly string[]> {
  const file = variants.find(({ name }) => name === recognizer);
  const embedded = file && (await readOnnxMetadata(file.path, basename(file.path), "character"));
  if (embedded !== undefined) return splitLines(embedded);
  const names = (await listFolder(directory)).map(({ name }) => name).filter((name) => /(?:dict|keys).*\.txt$/i.test(name));
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw new InferyardError(
      "MODEL_INVALID",
      name === undefined
        ? `the recognizer of ${reference} has no dictionary: neither "character" in its metadata nor a text file beside it`
        : `${reference} has several dictionaries: ${names.join(", ")}`,
      { remedy: "put the dictionary of the recognizer into the folder, one character a line, as keys.txt" },
    );
  return splitLines(await readText(join(directory, name)));
}

function splitLines(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
