/** Checks the input of a batch before it runs, as OpenAI does: one faulty line fails the batch. */
import { InferyardError } from "../../contract/errors.ts";
import { createYielder } from "../../tasks/encoding/yielding.ts";
import { IdSet } from "../../jobs/rows/id-set.ts";
import { jsonlReader } from "../../jobs/rows/jsonl-reader.ts";
import { toRow } from "../../jobs/rows/row-fields.ts";
import type { BatchError } from "./batch-record.ts";
import { checkRequest, requestFields } from "./batch-requests.ts";

/** Requests of a batch, at most. */
export const maxRequests = 50_000;
/** Time on the server's thread between two yields, in milliseconds: clients do not wait for batches. */
const sliceMs = 1;
/** Faults that a batch names. */
const maxErrors = 20;

/** The number of requests, and what is wrong with them. */
export async function validateInput(
  path: string,
  endpoint: string,
): Promise<{ readonly total: number; readonly errors: readonly BatchError[] }> {
  const [ids, errors]: [IdSet, BatchError[]] = [new IdSet(), []];
  let total = 0;
  const fail = (code: string, message: string, line: number | null): void => {
    if (errors.length < maxErrors) errors.push({ code, message, line, param: null });
  };
  const maybeYield = createYielder(sliceMs);
  for await (const group of jsonlReader(path).read({ offset: 0, number: 0 })) {
    for (const read of group) {
      await maybeYield();
      if (errors.length === maxErrors) return { total, errors };
      total += 1;
      const row = toRow(read, requestFields, ids, (_row, { message }) => message);
      if ("line" in row) {
        fail(row.line.includes("earlier row") ? "duplicate_custom_id" : "invalid_request", row.line, row.number);
        continue;
      }
      try {
        checkRequest(row, endpoint);
      } catch (error) {
        if (!(error instanceof InferyardError)) throw error;
        fail("invalid_request", error.message, row.number);
      }
    }
    if (total > maxRequests) break;
  }
  if (total === 0) fail("empty_file", "the input has no requests", null);
  if (total > maxRequests) fail("too_many_tasks", `the input has more than ${maxRequests} requests`, null);
  return { total: Math.min(total, maxRequests), errors };
}
