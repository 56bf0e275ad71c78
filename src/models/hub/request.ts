/** Sends one request to the hub or to a host that it redirects to: authorization, redirects, detection of stalled connections, and errors by status. */
import { omitUndefined } from "../../contract/checked.ts";
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { InferyardError, abortError, getMessage } from "../../contract/errors.ts";
import type { HttpResponse, FetchFunction } from "./proxy.ts";
import { TransientError, type RetryTiming, retryAfterMs } from "./retry.ts";

/** How requests to the hub are sent: the `fetch` function, the endpoint, the token and the retry times. */
export interface Network {
  readonly fetch: FetchFunction;
  /** URL of the hub. */
  readonly endpoint: string;
  /** Sent to the endpoint only. */
  readonly token?: string;
  /** Value of the header Authorization, which is sent only to the endpoint. Default: made from the token. */
  readonly authorization?: string;
  readonly timing: RetryTiming;
}

/** A request for a URL of the hub or of a file. */
export interface HubRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Name of the fetched file or model in messages: "hf:owner/name", "config.json of hf:owner/name". */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

const maxRedirects = 10;

/**
 * Sends one request, without retries, and passes the response with status 2xx or 416 to `use`, with its URL after redirects. The connection is closed when
 * `use` returns or throws, or when no data arrives for `stallMs` milliseconds. Throws TransientError for failures that a retry
 * may solve, ACCESS_DENIED, MODEL_NOT_FOUND or DOWNLOAD_FAILED for others, and ABORTED.
 */
export async function sendRequest<Result>(
  network: Network,
  question: HubRequest,
  use: (answer: HttpResponse, body: AsyncIterable<Uint8Array>, url: string) => Promise<Result>,
): Promise<Result> {
  const { signal } = question;
  const { stallMs } = network.timing;
  const control = new AbortController();
  const stop = (): void => control.abort();
  if (signal?.aborted === true) throw abortError(signal);
  addAbortListener(signal, stop);
  let stalled = false;
  const watch = setTimeout(() => {
    stalled = true;
    stop();
  }, stallMs);
  /** The error for a failed connection. */
  const toError = (error: unknown): Error => {
    if (signal?.aborted === true) return abortError(signal);
    if (stalled) return new TransientError(`nothing arrived for ${stallMs / 1000} s`);
    return new TransientError(connectionFailure(error), { cause: error });
  };
  try {
    const { answer, url } = await followRedirects(network, question, control.signal).catch((error: unknown) => {
      throw error instanceof InferyardError || error instanceof TransientError ? error : toError(error);
    });
    return await use(
      answer,
      withStallDetection(answer, () => watch.refresh(), toError),
      url,
    );
  } finally {
    clearTimeout(watch);
    removeAbortListener(signal, stop);
    stop(); // closes the connection if the body was not read to its end
  }
}

async function* withStallDetection(
  answer: HttpResponse,
  onActivity: () => void,
  toError: (error: unknown) => Error,
): AsyncGenerator<Uint8Array> {
  const chunks = answer.body?.[Symbol.asyncIterator]();
  for (;;) {
    onActivity(); // the time between two reads is spent by the caller, not by the server
    let next: IteratorResult<Uint8Array> | undefined;
    try {
      next = await chunks?.next();
    } catch (error) {
      throw toError(error);
    }
    if (next === undefined || next.done === true) return;
    yield next.value;
  }
}

/** Follows redirects here and not in `fetch`, so that the token is sent to the endpoint only. */
async function followRedirects(
  network: Network,
  question: HubRequest,
  signal: AbortSignal,
): Promise<{ readonly answer: HttpResponse; readonly url: string }> {
  let url = new URL(question.url);
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const answer = await network.fetch(url.href, { headers: headersFor(network, question, url), signal, redirect: "manual" });
    const location = answer.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(answer.status) || location === null)
      return { answer: checkStatus(network, question, url, answer), url: url.href };
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next === undefined || !/^https?:$/.test(next.protocol) || (url.protocol === "https:" && next.protocol === "http:")) {
      throw downloadFailed(question, `it was redirected to ${JSON.stringify(location)}, which is not followed`, answer.status);
    }
    url = next;
  }
  throw downloadFailed(question, `it was redirected more than ${maxRedirects} times`);
}

function headersFor({ token, endpoint, ...network }: Network, { headers = {} }: HubRequest, url: URL): Record<string, string> {
  const own = url.origin === new URL(endpoint).origin;
  const authorization = network.authorization ?? (token === undefined ? undefined : `Bearer ${token}`);
  return { "user-agent": "inferyard", ...headers, ...(own && authorization !== undefined ? { authorization } : {}) };
}

function checkStatus(network: Network, question: HubRequest, url: URL, answer: HttpResponse): HttpResponse {
  const { status, headers } = answer;
  if ((status >= 200 && status < 300) || status === 416) return answer;
  const own = url.origin === new URL(network.endpoint).origin;
  // URLs of storage hosts are signed and expire: a new request to the hub gives a new one.
  if ((status === 401 || status === 403) && !own && url.href !== question.url) {
    throw new TransientError(`${url.host} answered ${status}`, { status });
  }
  if (status === 401 || status === 403) throw accessDenied(network, question, answer);
  if (status === 404 || status === 410) throw notFound(question, answer);
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const wait = retryAfterMs(headers.get("retry-after"));
    throw new TransientError(`${url.host} answered ${status}`, { status, ...omitUndefined({ retryAfterMs: wait }) });
  }
  throw downloadFailed(question, `${url.host} answered ${status}`, status);
}

/** Without a token the hub answers 401 for a repository that does not exist, so that private ones cannot be guessed. */
function accessDenied(
  { token, endpoint }: Network,
  { what, url }: HubRequest,
  { status, headers }: HttpResponse,
): InferyardError {
  const data = { url, status };
  const code = headers.get("x-error-code");
  if (code === "RepoNotFound") return noRepository(what, data);
  const pages = `accept the model's conditions on its page at ${new URL(endpoint).host}`;
  const remedy =
    token === undefined
      ? `set HF_TOKEN to a token of ${endpoint}/settings/tokens`
      : "check that the token of HF_TOKEN may read it";
  return new InferyardError("ACCESS_DENIED", `${what} may not be read without permission (${status})`, {
    remedy: code === "GatedRepo" ? `${remedy}, and ${pages}` : remedy,
    data,
  });
}

function notFound({ what, url }: HubRequest, { status, headers }: HttpResponse): InferyardError {
  const data = { url, status };
  if (headers.get("x-error-code") === "RepoNotFound") return noRepository(what, data);
  const message =
    headers.get("x-error-code") === "RevisionNotFound" ? `${what} has no such revision` : `${what} is not there (${status})`;
  return new InferyardError("MODEL_NOT_FOUND", message, { remedy: "check the spelling of the reference", data });
}

function noRepository(what: string, data: Readonly<Record<string, unknown>>): InferyardError {
  return new InferyardError("MODEL_NOT_FOUND", `there is no public model ${what}`, {
    remedy: "check the spelling; for a private model set HF_TOKEN to a token that may read it",
    data,
  });
}

function downloadFailed({ what, url }: HubRequest, reason: string, status?: number): InferyardError {
  return new InferyardError("DOWNLOAD_FAILED", `${what} could not be fetched: ${reason}`, {
    remedy: "check the reference and HF_ENDPOINT",
    data: { url, ...omitUndefined({ status }) },
  });
}

/** The reason of a failed connection. It is the cause of the error "fetch failed", or the first of several if several addresses were tried. */
function connectionFailure(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [cause];
  return getMessage(first) || ((first as NodeJS.ErrnoException).code ?? "the connection failed");
}
