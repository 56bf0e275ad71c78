/** Output of embeddings. */
import type { EmbedResult, QuantizedEmbedResult } from "../../api/task-requests.ts";
import { invalidInput } from "../../contract/errors.ts";
import { type NpyVector, getVectorType, writeNpy } from "../tensors/write-npy.ts";
import { displayWidth, printable } from "./table.ts";
import { type Terminal, writeLine } from "../terminal.ts";
import { plural, shortFloat } from "./units.ts";

/** The result of an embedding call, with float32 or with quantized vectors. */
export type EmbeddingResult = EmbedResult | QuantizedEmbedResult;

/** The result for --json. */
export function embeddingsJson(result: EmbeddingResult): string {
  const { model, target, dimensions, embeddings, decision } = result;
  const { precision, scales } = quantizedPart(result);
  const lists = scales && { per: scales.per, starts: numbers(scales.starts), steps: numbers(scales.steps) };
  return JSON.stringify({
    model,
    target,
    dimensions,
    precision,
    embeddings: embeddings.map((vector) => listed(result, vector)),
    scales: lists,
    decision,
  });
}

/** The line of --jsonl for one text. `number`: its index among all texts. */
export function embeddingLine(result: EmbeddingResult, text: string, index: number, number: number): string {
  const { scales } = quantizedPart(result);
  const scale = scales && { start: shortFloat(scales.starts[index] ?? 0), step: shortFloat(scales.steps[index] ?? 0) };
  return JSON.stringify({ index: number, text, embedding: listed(result, result.embeddings[index]), ...scale });
}

/** Writes the vectors as a NumPy matrix. Throws INPUT_INVALID for vectors per token. */
export async function writeMatrix(path: string, result: EmbeddingResult, terminal: Terminal): Promise<void> {
  const { embeddings, dimensions, pooling } = result;
  if (pooling === "none")
    throw invalidInput(
      "--npy needs one vector per text, and pooling none gives one per token",
      "choose another --pooling, or --json",
    );
  const columns = embeddings[0]?.length ?? dimensions;
  await writeNpy(path, embeddings, columns);
  writeLine(
    terminal.stderr,
    `${headline(result)}   ${embeddings.length} x ${columns} ${getVectorType(embeddings[0])} in ${path}`,
  );
  if (quantizedPart(result).scales !== undefined) writeLine(terminal.stderr, "the file has no scales; --json does");
}

/** The result as a table for people. */
export function describeEmbeddings(result: EmbeddingResult, texts: readonly string[]): string {
  const width = texts.reduce((max, text) => Math.max(max, displayWidth(printable(text, widestText))), 0);
  const rows = texts.map((text, index) => {
    const vector = result.embeddings[index] ?? new Float32Array();
    const row = tableRow(text, vector, width);
    return result.pooling === "none" ? `${row}   ${plural(vector.length / Math.max(result.dimensions, 1), "token")}` : row;
  });
  return `${[headline(result), ...rows].join("\n")}\n`;
}

/** Notes how many texts were read in several windows. */
export function noteWindows({ windows = [] }: EmbeddingResult, terminal: Terminal): void {
  const several = windows.filter((count) => count > 1);
  if (several.length === 0) return;
  const all = several.reduce((sum, count) => sum + count, 0);
  writeLine(terminal.stderr, `${plural(several.length, "text")} longer than the model reads, read in ${all} windows`);
}

function quantizedPart(result: EmbeddingResult): Partial<Pick<QuantizedEmbedResult, "precision" | "scales">> {
  return "precision" in result ? result : {};
}

function numbers(vector: NpyVector | undefined): number[] {
  return Array.from(vector ?? [], shortFloat);
}

/** The vector as a list of numbers; vectors per token as a list of lists. */
function listed({ pooling, dimensions }: EmbeddingResult, vector: NpyVector | undefined): number[] | number[][] {
  const all = numbers(vector);
  if (pooling !== "none") return all;
  return Array.from({ length: all.length / Math.max(dimensions, 1) }, (_token, index) =>
    all.slice(index * dimensions, (index + 1) * dimensions),
  );
}

function headline(result: EmbeddingResult): string {
  const { model, dimensions, target, decision } = result;
  const { variant } = decision.model;
  const { precision } = quantizedPart(result);
  const words = [model, model === "builtin" ? undefined : variant, `${dimensions} dimensions`, precision, target];
  return words.filter((word) => word !== undefined).join(" · ");
}

const widestText = 40;
const shownValues = 3;

function tableRow(text: string, vector: NpyVector, width: number): string {
  const label = printable(text, widestText);
  const shown = (value: number): string =>
    vector instanceof Float32Array ? value.toFixed(4).padStart(7) : String(value).padStart(4);
  const values = Array.from(vector.slice(0, shownValues), (value) => shown(value));
  return `${label}${" ".repeat(Math.max(0, width - displayWidth(label)))}   [${values.join(", ")}, … ]`;
}
