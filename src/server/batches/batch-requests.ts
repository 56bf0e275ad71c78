/** The requests of a batch: how each is checked, sent to this server's own routes, and written in OpenAI's form. */
import { createHash } from "node:crypto";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { executeRows } from "../../jobs/work/execute-chunk.ts";
import type { ChunkExecutor } from "../../jobs/work/worker.ts";
import type { JobRow } from "../../jobs/queue/chunk.ts";
import type { FailedLine, RowFields } from "../../jobs/rows/row-fields.ts";
import type { Identity } from "../http/access/identity.ts";

/** Sends a request to the routes of this server, as the client that made the batch. */
export type Dispatch = (request: Request, identity: Identity) => Promise<Response>;

/** The fields of a line that count. */
export const requestFields: RowFields = { id: "custom_id", needsId: true, names: ["method", "url", "body"] };

/** Requests of a batch that run at once. */
const parallelRequests = 4;
/** Statuses after which the same request may succeed later. */
const retryableStatuses: ReadonlySet<number> = new Set([429, 503, 504]);

/** Throws INPUT_INVALID for a request that no batch of this endpoint can hold. */
export function checkRequest({ id, fields }: Pick<JobRow, "id" | "fields">, endpoint: string): void {
  const { method, url, body } = fields;
  if (typeof id !== "string") throw invalidInput("custom_id must be a text");
  if (method !== "POST") throw invalidInput("method must be POST");
  if (url !== endpoint) throw invalidInput(`url must be the endpoint of the batch, ${endpoint}`);
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw invalidInput("body must be an object");
  if ((body as { readonly stream?: unknown }).stream === true) throw invalidInput("a batch cannot stream: leave stream out");
}

/** Computes chunks of requests. */
export function requestExecutor(endpoint: string, identity: Identity, dispatch: Dispatch): ChunkExecutor {
  return async (lease, signal) =>
    await executeRows(
      lease,
      {
        retries: lease.chunk.work.retries,
        parallel: parallelRequests,
        failedLine: requestFailedLine,
        check: (row) => checkRequest(row, endpoint),
        run: async (rows) => await Promise.all(rows.map((row) => send(row, endpoint, identity, dispatch, signal))),
      },
      signal,
    );
}

/** The line of a response with status 200. Throws for others; the error has the response in its data. */
async function send(
  { id, fields }: JobRow,
  endpoint: string,
  identity: Identity,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<string> {
  const request = new Request(new URL(endpoint, "http://localhost"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields["body"]),
    signal,
  });
  const answer = await dispatch(request, identity);
  const [text, requestId] = [await answer.text(), answer.headers.get("x-request-id")];
  const response = { status_code: answer.status, request_id: requestId, body: toJson(text) };
  if (answer.status === 200) return toLine(id, response, null);
  const code = retryableStatuses.has(answer.status) ? "OVERLOADED" : "RUN_FAILED";
  throw new InferyardError(code, `the request ended with status ${answer.status}`, { data: { response } });
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A request that has no result: with its response, where there was one. */
export const requestFailedLine: FailedLine = ({ id }, { code, message, data }) =>
  data["response"] === undefined
    ? toLine(id ?? null, null, { code: code.toLowerCase(), message })
    : toLine(id ?? null, data["response"], null);

function toLine(id: string | number | null, response: unknown, error: object | null): string {
  const name = createHash("sha256").update(String(id)).digest("hex").slice(0, 24);
  return JSON.stringify({ id: `batch_req_${name}`, custom_id: id, response, error });
}
