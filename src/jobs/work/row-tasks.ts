/** The tasks of jobs: what each reads of a row, and how its results are computed. */
import { getMessage, InferyardError, invalidInput } from "../../contract/errors.ts";
import type { Runtime } from "../../api/runtime.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { Options } from "../../runtime/options/option.ts";
import { embedOptions } from "../../tasks/embedding/embed-options.ts";
import { chatOptions } from "../../tasks/generation/chat/chat-options.ts";
import type { ChatMessage } from "../../tasks/generation/chat/messages.ts";
import { generateOptions } from "../../tasks/generation/generate-options.ts";
import { rerankOptions } from "../../tasks/reranking/rerank-options.ts";
import { floatsToJson } from "../rows/float-text.ts";
import type { JobRow } from "../queue/chunk.ts";

/** One call of a task. */
export interface TaskCall {
  readonly runtime: Runtime;
  readonly model: ModelHandle;
  readonly options: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** A task of jobs. */
export interface RowTask {
  /** Fields of a row that the task reads. */
  readonly fields: readonly string[];
  /** Options of the task by name. */
  readonly options: Options;
  /** Interface of the model that it runs. */
  readonly kind: "tensor" | "language";
  /** Default of the maximum number of rows of a chunk. */
  readonly chunkRows: number;
  /** Rows that are computed at once, each in a call of its own. Default: all rows of a chunk in one call. */
  readonly parallel?: number;
  /** Throws INPUT_INVALID for a row that the task cannot read. */
  readonly check: (fields: JobRow["fields"]) => void;
  /** Computes rows that were checked: of each the JSON of its result, or its vector. Throws the error of the first row that fails. */
  readonly run: (rows: readonly JobRow["fields"][], call: TaskCall) => Promise<readonly (string | Float32Array)[]>;
}

const embed: RowTask = {
  fields: ["input"],
  options: embedOptions,
  kind: "tensor",
  chunkRows: 512,
  check: ({ input }) => requireText(input, "input"),
  run: async (rows, { runtime, ...request }) => {
    const texts = rows.map(({ input }) => input as string);
    const { embeddings, pooling, dimensions, ...others } = await runtime.embed(texts, toRequest(request));
    if (pooling === "none") return embeddings.map((vector) => matrixToJson(vector, dimensions));
    if (!("scales" in others) && !("precision" in others)) return embeddings;
    return (embeddings as readonly ArrayLike<number>[]).map((codes) => JSON.stringify(Array.from(codes)));
  },
};

const rerank: RowTask = {
  fields: ["input", "documents"],
  options: rerankOptions,
  kind: "tensor",
  chunkRows: 32,
  parallel: 1, // a call has many pairs of texts
  check: ({ input, documents }) => {
    requireText(input, "input");
    if (!Array.isArray(documents) || documents.length === 0 || !documents.every((each) => typeof each === "string"))
      throw invalidInput(
        "documents must be a list of texts",
        'a row of rerank is { "input": "the query", "documents": ["...", ...] }',
      );
  },
  run: (rows, { runtime, ...request }) =>
    each(rows, async ({ input, documents }) => {
      const { results } = await runtime.rerank(input as string, documents as readonly string[], toRequest(request));
      return JSON.stringify(results.map(({ index, score }) => ({ index, score })));
    }),
};

const generate: RowTask = {
  fields: ["input"],
  options: { ...generateOptions, ...chatOptions },
  kind: "language",
  chunkRows: 16,
  parallel: 16, // sequences of one batch
  check: ({ input }) => {
    if (Array.isArray(input) && input.length > 0) return; // the conversation is checked by `chat`
    requireText(input, "input");
  },
  run: (rows, { runtime, ...request }) =>
    each(rows, async ({ input }) => {
      if (typeof input === "string") return generatedJson((await runtime.generate(input, toRequest(request))).results);
      const { results } = await runtime.chat(input as readonly ChatMessage[], toRequest(request));
      return generatedJson(results.map(({ message, finishReason, tokens }) => ({ text: message.content, finishReason, tokens })));
    }),
};

/** The tasks by name. */
export const rowTasks: Readonly<Record<string, RowTask>> = { embed, rerank, generate };

/** The task with a name. Throws INPUT_INVALID if there is none. */
export function getRowTask(name: string): RowTask {
  const task = Object.hasOwn(rowTasks, name) ? rowTasks[name] : undefined;
  if (task !== undefined) return task;
  throw invalidInput(
    `there are no jobs of the task ${JSON.stringify(name)}`,
    `the tasks are ${Object.keys(rowTasks).join(", ")}`,
  );
}

function requireText(value: unknown, field: string): void {
  if (typeof value === "string") return;
  throw invalidInput(value === undefined ? `the row has no ${field}` : `${field} must be a text`);
}

/** The request of a call. Options of jobs are checked against the table of the task when the job is created. */
function toRequest({ model, options, signal }: Omit<TaskCall, "runtime">): {
  readonly model: ModelHandle;
  readonly signal: AbortSignal;
} {
  return { ...options, model, signal };
}

function matrixToJson(vector: ArrayLike<number>, columns: number): string {
  const all = Float32Array.from(vector);
  const rows = Array.from({ length: all.length / columns }, (_, row) =>
    floatsToJson(all.subarray(row * columns, (row + 1) * columns)),
  );
  return `[${rows.join(",")}]`;
}

interface Generated {
  readonly text: string | null;
  readonly finishReason: string;
  readonly tokens: readonly number[];
}

/** The text of a row with the reason for its end and its length in tokens; a list of them if the option `n` asks for several. */
function generatedJson(results: readonly Generated[]): string {
  const all = results.map(({ text, finishReason, tokens }) => ({ text, finishReason, tokens: tokens.length }));
  return JSON.stringify(all.length === 1 ? all[0] : all);
}

async function each<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  return await Promise.all(items.map(work));
}

/** The error of a row as an InferyardError: what a task throws without a code is a defect of the row's computation. */
export function rowError(thrown: unknown): InferyardError {
  return thrown instanceof InferyardError ? thrown : new InferyardError("RUN_FAILED", getMessage(thrown), { cause: thrown });
}
