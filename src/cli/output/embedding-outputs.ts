/** `inferyard embed --outputs`: runs the command and prints embeddings in several forms. */
import type { EmbedOutputsRequest, EmbedOutputsResult } from "../../api/task-requests.ts";
import { embedOptions } from "../../tasks/embedding/embed-options.ts";
import { type EmbedOutputsOptions, checkEmbeddingOutputs } from "../../tasks/embedding/output-options.ts";
import { optionsFromFlags } from "../option-flags.ts";
import { type GlobalFlags, type CommandSession, withNotice } from "../session.ts";
import { configured, printResult } from "../task-command.ts";
import type { Terminal } from "../terminal.ts";
import { formatTable, printable } from "./table.ts";
import { formatMilliseconds, plural, shortFloat } from "./units.ts";

/** Flags of the command. */
export interface OutputFlags extends GlobalFlags {
  /** The forms, separated by commas. */
  readonly outputs: string;
}

/** Runs the command and prints the result. */
export async function embedInForms(
  texts: readonly string[],
  flags: OutputFlags,
  { runtime, model, notice, ...session }: CommandSession,
  terminal: Terminal,
): Promise<void> {
  const outputs = flags.outputs.split(",").map((form) => form.trim()) as EmbedOutputsOptions["outputs"]; // checked next
  const options: EmbedOutputsOptions = { ...optionsFromFlags(embedOptions, flags), outputs };
  checkEmbeddingOutputs(options);
  const request: EmbedOutputsRequest = {
    ...options,
    ...configured({ runtime, model, notice, ...session }),
    model,
    signal: terminal.signal,
  };
  const result = await withNotice(terminal, notice(`loading and running ${model}`), runtime.embed(texts, request));
  await printResult(flags, terminal, {
    json: () => toJson(result),
    text: () => describe(result, texts),
    summary: `${plural(texts.length, "text")} in ${formatMilliseconds(result.milliseconds)} · --json for all numbers`,
    truncated: result.truncated,
  });
}

const numbers = (values: Float32Array): number[] => Array.from(values, shortFloat);

function toJson({ model, target, dimensions, dense, sparse, multiVector, tokens, decision }: EmbedOutputsResult): string {
  const size = Math.max(dimensions.multiVector ?? 1, 1);
  return JSON.stringify({
    model,
    target,
    dimensions,
    dense: dense?.map(numbers),
    sparse: sparse?.map(({ indices, values }) => ({ indices: [...indices], values: numbers(values) })),
    multiVector: multiVector?.map((rows) =>
      Array.from({ length: rows.length / size }, (_row, index) => numbers(rows.subarray(index * size, (index + 1) * size))),
    ),
    tokens,
    decision,
  });
}

const widestText = 40;
const shownValues = 3;

function describe(result: EmbedOutputsResult, texts: readonly string[]): string {
  const { model, target, dimensions, dense, sparse, multiVector, decision } = result;
  const ordered = { dense: dimensions.dense, sparse: dimensions.sparse, "multi-vector": dimensions.multiVector };
  const sizes = Object.entries(ordered).flatMap(([form, size]) => (size === undefined ? [] : [`${form} ${size}`]));
  const title = [model, decision.model.variant, ...sizes, target].filter((word) => word !== undefined).join(" · ");
  const rows = texts.map((text, index) => {
    const vector = dense?.[index];
    const vectors = multiVector?.[index];
    const cells = [
      vector && `[${Array.from(vector.subarray(0, shownValues), (value) => value.toFixed(4)).join(", ")}, … ]`,
      sparse && plural(sparse[index]?.indices.length ?? 0, "weight"),
      vectors && plural(vectors.length / Math.max(dimensions.multiVector ?? 1, 1), "vector"),
    ];
    return [printable(text, widestText), ...cells.filter((cell) => cell !== undefined)];
  });
  return [title, ...(rows.length === 0 ? [] : [formatTable(rows)])].join("\n");
}
