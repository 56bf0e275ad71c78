/** Calls of a server's routes with `fetch`. Which routes there are, and what each takes and gives, are types alone. */
import type {
  ResponseDataOf,
  CallOptions,
  CommonOptions,
  DefaultMedia,
  MediaOf,
  Method,
  Operation,
  PathOf,
} from "./operations.ts";
import { type ErrorBody, ServerError } from "./server-error.ts";

export interface ClientOptions {
  /** Where the server is: "http://localhost:8080". */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. Default: none. */
  readonly key?: string;
  /** Of every call. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch;
}

export interface ApiResponse<Data> {
  readonly data: Data;
  /** Its headers say where the answer was computed: x-inferyard-target, x-inferyard-decision, server-timing. */
  readonly response: Response;
}

/** Options may be left out where the route needs none. */
type Arguments<Options, Media> =
  Partial<Options> extends Options ? [options?: Options & Accept<Media>] : [options: Options & Accept<Media>];

interface Accept<Media> {
  /** The form of the answer. Default: JSON where there is one. */
  readonly accept?: Media;
}

/** Every call rejects with `ServerError` where the server refuses, and with the error of `fetch` where there is no answer. */
export interface Client {
  get<Path extends PathOf<"get">, Media extends MediaOf<Operation<"get", Path>> = DefaultMedia<Operation<"get", Path>>>(
    path: Path,
    ...options: Arguments<CallOptions<Operation<"get", Path>>, Media>
  ): Promise<ApiResponse<ResponseDataOf<Operation<"get", Path>, Media>>>;
  post<Path extends PathOf<"post">, Media extends MediaOf<Operation<"post", Path>> = DefaultMedia<Operation<"post", Path>>>(
    path: Path,
    ...options: Arguments<CallOptions<Operation<"post", Path>>, Media>
  ): Promise<ApiResponse<ResponseDataOf<Operation<"post", Path>, Media>>>;
}

export function createClient(options: ClientOptions): Client {
  const calling =
    (method: Method) =>
    async (path: string, call: Call = {}): Promise<ApiResponse<never>> => {
      const request = requestOf(options, method, path, call);
      const response = await (options.fetch ?? fetch)(request);
      if (!response.ok) throw new ServerError(response, await errorBodyOf(response));
      // What the types say of it is what the document says; here it is what came.
      return { data: (await dataOf(response)) as never, response };
    };
  return { get: calling("get"), post: calling("post") };
}

/** What any call may bring. */
interface Call extends CommonOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly accept?: string;
}

function requestOf({ url, key, headers }: ClientOptions, method: Method, path: string, call: Call): Request {
  const { body, accept = "application/json", signal } = call;
  return new Request(addressOf(url, path, call), {
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

function addressOf(url: string, path: string, { path: names = {}, query = {} }: Call): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = names[name];
    if (value === undefined) throw new TypeError(`${path} needs path.${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, value);
  const asked = search.toString();
  return `${url.replace(/\/+$/, "")}${filled}${asked === "" ? "" : `?${asked}`}`;
}

async function dataOf(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) return response.json();
  if (type.startsWith("application/octet-stream")) return response.arrayBuffer();
  if (type.startsWith("text/event-stream")) return response.body;
  return type === "" ? undefined : response.text();
}

/** Undefined where it is no JSON object: something between here and the server may answer in its place. */
async function errorBodyOf(response: Response): Promise<ErrorBody | undefined> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? (body as ErrorBody) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
