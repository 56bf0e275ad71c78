/** The lines of results as a table: the columns `id` and `result`. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { InferyardError } from "../../contract/errors.ts";

/** How the columns are written. */
export interface TableShape {
  /** "int64" if every id is a whole number that a float64 holds exactly, else "text". */
  readonly id: "int64" | "text";
  /** Length of the vectors; undefined: results are written as JSON. */
  readonly dimensions: number | undefined;
}

/** Some rows of the table. */
export interface TableRows {
  readonly ids: readonly (number | string)[];
  /** Vectors one after another, if the table has vectors. */
  readonly vectors: Float32Array;
  /** Results as JSON, if it has none. */
  readonly texts: readonly string[];
}

interface Line {
  readonly id: number | string;
  readonly result: unknown;
}

const linePattern = /^\{"id":(?<id>"(?:[^"\\]|\\.)*"|[^,]*),"result":(?<result>.*)\}$/s;

async function* getLines(path: string): AsyncGenerator<string, void> {
  // JSON.stringify escapes every line ending that readline splits at.
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) yield line;
}

function split(line: string): { readonly id: string; readonly result: string } {
  const { id, result } = linePattern.exec(line)?.groups ?? {};
  if (id === undefined || result === undefined)
    throw new InferyardError("RUN_FAILED", `a line of results is damaged: ${line.slice(0, 80)}`);
  return { id, result };
}

/** Reads how the columns are to be written: the ids of all lines, and the result of the first. */
export async function readShape(path: string): Promise<TableShape> {
  let id: TableShape["id"] | undefined;
  let dimensions: number | undefined;
  for await (const line of getLines(path)) {
    const { id: written, result } = split(line);
    if (id === undefined) dimensions = lengthOf(JSON.parse(result));
    id = id !== "text" && Number.isSafeInteger(Number(written)) && !written.startsWith('"') ? "int64" : "text";
    if (id === "text") break;
  }
  return { id: id ?? "text", dimensions };
}

function lengthOf(result: unknown): number | undefined {
  return Array.isArray(result) && result.length > 0 && result.every((each) => typeof each === "number")
    ? result.length
    : undefined;
}

/** The rows in groups of at most `size`. Throws RUN_FAILED for a vector of another length. */
export async function* readTable(
  path: string,
  { id: idType, dimensions }: TableShape,
  size: number,
): AsyncGenerator<TableRows, void> {
  let lines: string[] = [];
  const toRows = (): TableRows => {
    const parts = lines.map(split);
    const ids = parts.map(({ id }) => JSON.parse(id) as Line["id"]).map((id) => (idType === "text" ? String(id) : id));
    if (dimensions === undefined) return { ids, vectors: new Float32Array(), texts: parts.map(({ result }) => result) };
    const vectors = new Float32Array(parts.length * dimensions);
    for (const [row, { result }] of parts.entries()) {
      const vector = JSON.parse(result) as number[];
      if (vector.length !== dimensions)
        throw new InferyardError("RUN_FAILED", `a vector has ${vector.length} numbers, and the first one ${dimensions}`);
      vectors.set(vector, row * dimensions);
    }
    return { ids, vectors, texts: [] };
  };
  for await (const line of getLines(path)) {
    lines.push(line);
    if (lines.length < size) continue;
    yield toRows();
    lines = [];
  }
  if (lines.length > 0) yield toRows();
}
