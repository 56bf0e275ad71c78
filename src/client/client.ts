/** Calls the routes of a server with `fetch`. The routes and their types come from the OpenAPI document. */
import type {
  ResponseDataOf,
  CallOptions,
  CommonOptions,
  DefaultMedia,
  MediaOf,
  Method,
  ClientOperation,
  PathOf,
} from "./operations.ts";
import { type ErrorBody, ServerError } from "./server-error.ts";

/** Address of a server, and options of requests. */
export interface ClientOptions {
  /** Base URL of the server, such as "http://localhost:8080". */
  readonly url: string;
  /** API key, sent as `Authorization: Bearer`. Default: none. */
  readonly key?: string;
  /** Headers of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** A successful response. */
export interface ApiResponse<Data> {
  readonly data: Data;
  /** The response itself. Its headers report the target that computed the result: x-inferyard-target, x-inferyard-decision, server-timing. */
  readonly response: Response;
}

/** The options may be omitted where the route requires none. */
type Arguments<Options, Media> =
  Partial<Options> extends Options ? [options?: Options & Accept<Media>] : [options: Options & Accept<Media>];

interface Accept<Media> {
  /** Media type of the response. Default: JSON if the route has it. */
  readonly accept?: Media;
}

/**
 * Calls the routes of a server, with the types of its OpenAPI document. Each call rejects with `ServerError` for an error response, and with the
 * error of `fetch` if there is no response.
 */
export interface Client {
  /** Calls a GET route. */
  get<
    Path extends PathOf<"get">,
    Media extends MediaOf<ClientOperation<"get", Path>> = DefaultMedia<ClientOperation<"get", Path>>,
  >(
    path: Path,
    ...options: Arguments<CallOptions<ClientOperation<"get", Path>>, Media>
  ): Promise<ApiResponse<ResponseDataOf<ClientOperation<"get", Path>, Media>>>;
  /** Calls a POST route. */
  post<
    Path extends PathOf<"post">,
    Media extends MediaOf<ClientOperation<"post", Path>> = DefaultMedia<ClientOperation<"post", Path>>,
  >(
    path: Path,
    ...options: Arguments<CallOptions<ClientOperation<"post", Path>>, Media>
  ): Promise<ApiResponse<ResponseDataOf<ClientOperation<"post", Path>, Media>>>;
}

/** Creates a client of one server. */
export function createClient(options: ClientOptions): Client {
  const caller =
    (method: Method) =>
    async (path: string, call: Call = {}): Promise<ApiResponse<never>> => {
      const request = toRequest(options, method, path, call);
      const response = await (options.fetch ?? fetch)(request);
      if (!response.ok) throw new ServerError(response, await toErrorBody(response));
      // The types are those of the document; the data is not validated.
      return { data: (await getData(response)) as never, response };
    };
  return { get: caller("get"), post: caller("post") };
}

/** Options that any call may have. */
interface Call extends CommonOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly accept?: string;
}

function toRequest({ url, key, headers }: ClientOptions, method: Method, path: string, call: Call): Request {
  const { body, accept = "application/json", signal } = call;
  return new Request(getAddress(url, path, call), {
    method: method.toUpperCase(),
    headers: {
      accept,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
      ...call.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

function getAddress(url: string, path: string, { path: names = {}, query = {} }: Call): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = names[name];
    if (value === undefined) throw new TypeError(`${path} needs path.${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, value);
  const queryString = search.toString();
  return `${url.replace(/\/+$/, "")}${filled}${queryString === "" ? "" : `?${queryString}`}`;
}

async function getData(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) return response.json();
  if (type.startsWith("application/octet-stream")) return response.arrayBuffer();
  if (type.startsWith("text/event-stream")) return response.body;
  return type === "" ? undefined : response.text();
}

/** Undefined if the body is not a JSON object, since an intermediary may respond in the server's place. */
async function toErrorBody(response: Response): Promise<ErrorBody | undefined> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? (body as ErrorBody) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
