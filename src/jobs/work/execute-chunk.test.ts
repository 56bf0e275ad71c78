import { describe, expect, it } from "vitest";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { type JobRow, createChunk } from "../queue/chunk.ts";
import { type ChunkHistory, noHistory } from "../queue/chunk-queue.ts";
import { jobFailedLine } from "../rows/row-fields.ts";
import { executeRows } from "./execute-chunk.ts";

const rows: readonly JobRow[] = Array.from({ length: 32 }, (_, index) => ({
  number: index + 1,
  id: index,
  fields: { input: index },
}));
const chunk = createChunk("j", 0, { task: "embed", model: "m", options: {}, retries: 2 }, rows);

/** Executes the chunk, and notes the rows of each call. */
async function execute(fails: (row: JobRow, attempt: number) => Error | undefined, history: ChunkHistory = noHistory) {
  const [calls, marks, attempts]: [number[], (number | undefined)[], Map<number, number>] = [[], [], new Map()];
  const run = async (given: readonly JobRow[]): Promise<readonly string[]> => {
    calls.push(given.length);
    for (const row of given) {
      const attempt = (attempts.get(row.number) ?? 0) + (given.length === 1 ? 1 : 0);
      attempts.set(row.number, attempt);
      const error = fails(row, attempt);
      if (error !== undefined) throw error;
    }
    return given.map(({ id }) => `line ${id}`);
  };
  const mark = async (row: number | undefined): Promise<void> => void marks.push(row);
  const work = { check: () => {}, run, failedLine: jobFailedLine, retries: 2 };
  const result = await executeRows({ chunk, history, mark }, work, new AbortController().signal);
  return { result, calls, marks };
}

describe("the rows of a chunk", () => {
  it("are computed in one call", async () => {
    const { result, calls } = await execute(() => undefined);
    expect(calls).toEqual([32]);
    expect(result).toMatchObject({ failed: [] });
    expect(result.output).toHaveLength(32);
    expect(result.output.slice(0, 2)).toEqual(["line 0", "line 1"]);
  });

  it("are halved until the failing ones are alone", async () => {
    const { result, calls } = await execute(({ id }) => (id === 5 || id === 20 ? invalidInput("no") : undefined));
    expect(result.output).toHaveLength(30);
    expect(result.failed).toMatchObject([{ number: 6 }, { number: 21 }]);
    expect(JSON.parse(result.failed[0]!.line)).toEqual({
      id: 5,
      input: 5,
      row: 6,
      error: { code: "INPUT_INVALID", message: "no" },
    });
    expect(calls.length).toBeLessThan(24);
  });

  it("are tried again after errors that may pass, and set aside when these do not", async () => {
    const overloaded = new InferyardError("OVERLOADED", "later", { retryAfterMs: 1 });
    const { result } = await execute(({ id }, attempt) => ((id === 3 && attempt < 3) || id === 9 ? overloaded : undefined));
    expect(result.output).toHaveLength(31);
    expect(result.failed).toMatchObject([{ number: 10 }]);
  });

  it("are computed one by one after workers died, without those that were the cause", async () => {
    const { result, calls, marks } = await execute(() => undefined, { deaths: 2, rowDeaths: { 4: 3, 5: 2 } });
    expect(calls).toHaveLength(31);
    expect(marks.slice(0, 5)).toEqual([1, 2, 3, 5, 6]);
    expect(marks.at(-1)).toBeUndefined();
    expect(result.failed.map(({ line }) => (JSON.parse(line) as { error: object }).error)).toEqual([
      { code: "HOST_DIED", message: "3 workers died while computing this row" },
    ]);
  });
});
