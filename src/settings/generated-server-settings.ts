/** Written by `npm run schemas`; the table of options is the source. */
import type { ServerKey, ServerModel } from "./server-maps.ts";

/** Settings of the handler of requests. */
export interface HandlerSettings {
  /** API keys, one of which a client must present: `name`, `sha256` (of the key, hexadecimal), `role` (`reader` or `admin`), and optionally its own `requestsPerMinute`. Maps, which only files can have. */
  readonly keys?: readonly ServerKey[];
  /** Origins of web pages that may use the server, or `*`. Requests of other pages are refused. */
  readonly cors?: readonly string[];
  /** Values of the header `Host` that the server accepts, without port; `.example.com` also allows the names below it. Loopback names from this machine and the address it listens on are always accepted. Not set: a server without keys that listens on loopback accepts only those, any other server every name. */
  readonly allowedHosts?: readonly string[];
  /** Whether the last address of `x-forwarded-for` is the client's, for rate limits and fairness. For servers that only a proxy can reach. Default: false. */
  readonly trustProxy?: boolean;
  /** Models, by name or reference, that are loaded at the start. The server is ready when a probe has run on them. */
  readonly preload?: readonly string[];
  /** Maximum number of requests that run at once; further ones wait. Default: 256. */
  readonly maxConcurrentRequests?: number;
  /** Maximum number of requests that wait; further ones get 429 with `Retry-After`. Default: 1024. */
  readonly maxQueue?: number;
  /** Maximum requests per minute of one client (its key, else its address); further ones get 429. */
  readonly requestsPerMinute?: number;
  /** Maximum size of a request body in bytes, binary tensors included; a larger one gets 413. Default: 33554432. */
  readonly maxBodyBytes?: number;
  /** Maximum size of a JSON body, and of the JSON part of a body with binary tensors, in bytes; a larger one gets 413. Default: 4194304. */
  readonly maxJsonBytes?: number;
  /** Maximum nesting depth of arrays and objects in a JSON body; a deeper one gets 413. Default: 64. */
  readonly maxJsonDepth?: number;
  /** Maximum number of values (scalars, arrays, objects) of a JSON body; more get 413. Default: 4194304. */
  readonly maxJsonValues?: number;
  /** Memory in bytes for the bodies of all requests that are being received or processed, counted as they arrive; a request beyond it gets 429 with `Retry-After`. One client may hold as much as remains free for others, at most half of it. Not set: an eighth of V8's heap limit, or twice the maximum body if that is more. */
  readonly maxInFlightBodyBytes?: number;
  /** Maximum size in bytes of all files of clients together, those that batches write included; an upload beyond it gets 413. One file is bounded by `maxBodyBytes`. Default: 1073741824. */
  readonly maxFilesBytes?: number;
  /** Maximum number of texts of one request; more get 413. Default: 4096. */
  readonly maxTexts?: number;
  /** Whose token ids OpenAI's clients send in place of texts: `own`: those of the model's tokenizer; `cl100k`, `o200k`: those of OpenAI's, as LangChain sends them, read back to text by the optional package `js-tiktoken`. Not set: only ids between the special tokens of the model's tokenizer are accepted. */
  readonly tokenIds?: "own" | "cl100k" | "o200k";
  /** What the routes of text-embeddings-inference do with texts longer than the model reads where the request says nothing: `cut` reads their beginning, as that server does unless started with `--auto-truncate false`; `error` refuses them with 413. Default: "cut". */
  readonly longTexts?: "cut" | "error";
  /** Whether requests of the protocols of others may have no fields that their routes do not know. `false`: such fields are left out, named in the response header `x-inferyard-ignored` and the log, and counted; `true`: they are refused with 400, as the routes of our own API do in any case. Default: false. */
  readonly strictFields?: boolean;
  /** Memory in bytes for results that are kept and returned to equal requests, the least recently used evicted first. `0` disables the cache. Default: 0. */
  readonly resultCacheBytes?: number;
  /** Maximum number of models that requests load at once; further loads wait. Default: 4. */
  readonly maxLoads?: number;
  /** Maximum number of models that the requests of one client (its key, else its address) load at once. Default: 2. */
  readonly maxLoadsPerClient?: number;
  /** Maximum number of models that the requests of one reader may load per minute, reloads after eviction included; requests that need another load get 429 with `Retry-After`. Admins are exempt. Default: 30. */
  readonly loadsPerMinute?: number;
  /** Maximum time from a request to its response, including waiting; after it the response is 504. Default: "120s". */
  readonly requestTimeout?: number | string;
  /** Maximum time a request waits for a model that is not in memory; after it the response is 503 `MODEL_LOADING` with the progress of the load, which continues. `0`: does not wait. Not set: waits as long as the request may take. */
  readonly loadingWait?: number | string;
  /** Memory in bytes for the responses that are being computed and serialized. Requests wait for their share; one response may take at most half of it, and so may one client. Default: an eighth of the memory, at most 1 GiB. */
  readonly maxResponseBytes?: number;
  /** Maximum time that running requests have to finish when the server shuts down. Default: "30s". */
  readonly drainTimeout?: number | string;
}

/** Where the server listens, and the limits on its connections. */
export interface SocketSettings {
  /** Address to listen on. One that other machines can reach is refused without keys, unless `allowAnonymous` is set. Default: "127.0.0.1". */
  readonly address?: string;
  /** Port to listen on; `0` chooses a free one, which the line on stdout shows. Default: 8080. */
  readonly port?: number;
  /** Whether other machines may use the server without a key. They may use the models that have a name on the server, and no admin route. Default: false. */
  readonly allowAnonymous?: boolean;
  /** Maximum time for a client to send the head of a request, at most `bodyTimeout`; after it the response is 408. `0`: no limit. Default: "10s". */
  readonly headersTimeout?: number | string;
  /** Maximum time for a client to send a whole request; after it the response is 408. `0`: no limit. Default: "60s". */
  readonly bodyTimeout?: number | string;
  /** Maximum time in which a client takes nothing of its response; after it the connection is closed. `0`: no limit. Default: "30s". */
  readonly stallTimeout?: number | string;
  /** Maximum bytes of responses that clients have not taken yet. A client may leave as many unread as remain free; above that its requests get 503 with `Retry-After`, and slow connections are closed. Default: an eighth of the memory, at most 1 GiB. */
  readonly maxUnreadBytes?: number;
  /** Maximum number of connections. A further one closes the connection that is idle for longest; if none is idle, it gets 503 or is closed. Default: 1024. */
  readonly maxConnections?: number;
  /** Maximum number of connections per IPv4 address or IPv6 /64 network. Not applied with `trustProxy`. Default: a quarter of `maxConnections`, and no limit for loopback addresses. */
  readonly maxConnectionsPerClient?: number;
}

/** Settings of the program that runs the server. */
export interface ServerProgramSettings {
  /** A YAML or JSON file with more such keys. */
  readonly keysFile?: string;
  /** Models by the name that clients use: a reference, or `reference` with a `strategy` (`lazy`; `eager`: loaded at the start, and evicted only for memory; `pinned`: never evicted) and limits: `maxConcurrentRequests` and `maxQueue` apply besides those of the server, `requestTimeout` in place of it, under each name of the model. A map, which only the file can have. */
  readonly models?: Readonly<Record<string, string | ServerModel>>;
  /** Maximum length of one text in UTF-16 units, and of one text to decode in token ids; more get 413. At least 1000, since the known answers that verify a model are texts too. Default: 1000000. */
  readonly maxTextCharacters?: number;
  /** Maximum time to tokenize, chunk or decode one text; after it the response is 413. Default: "30s". */
  readonly textTimeout?: number | string;
  /** Maximum time to render a model's chat template; after it the response is 422, and so are the model's conversations for the next minute. Default: "10s". */
  readonly templateTimeout?: number | string;
  /** Maximum time to compile one constraint (a JSON Schema, a regular expression, a grammar, choices, tools), and to find the tokens that may follow once; after it the response is 400. Default: "30s". */
  readonly constraintTimeout?: number | string;
  /** Maximum time in a minute that the constraints of one client (its key, else its address) may take; further ones get 429 with `Retry-After`. Default: "60s". */
  readonly constraintTimePerMinute?: number | string;
  /** Memory in bytes for the compiled constraints of one model, the least recently used evicted first. Refused ones are not kept. Default: 33554432. */
  readonly constraintCacheBytes?: number;
  /** Maximum number of states of automata, and of parts of grammars, of one constraint; more get 400. Default: 500000. */
  readonly maxConstraintStates?: number;
  /** Maximum estimated memory in bytes of one constraint; more get 400. Default: 67108864. */
  readonly maxConstraintBytes?: number;
  /** Maximum work to compile one constraint, such as transitions of automata; more get 400. Default: 5000000. */
  readonly maxConstraintSteps?: number;
  /** File with the certificate chain (PEM). With `tlsKey`, the server uses HTTPS. */
  readonly tlsCert?: string;
  /** File with the private key (PEM). */
  readonly tlsKey?: string;
  /** What is logged to stderr: `silent`; `error`: internal errors; `warn`: also refused requests; `info`: also every request, and events of models; `debug`: also requests for health and metrics, and the progress of downloads. Default: "info". */
  readonly logLevel?: "silent" | "error" | "warn" | "info" | "debug";
}

/** The section `server` of inferyard.yaml. */
export interface ServerSection extends HandlerSettings, SocketSettings, ServerProgramSettings {}

/** Those that have a default. */
export type ServerDefaults = Required<
  Pick<
    ServerSection,
    | "address"
    | "port"
    | "allowAnonymous"
    | "trustProxy"
    | "maxConcurrentRequests"
    | "maxQueue"
    | "maxBodyBytes"
    | "maxJsonBytes"
    | "maxJsonDepth"
    | "maxJsonValues"
    | "maxFilesBytes"
    | "maxTexts"
    | "maxTextCharacters"
    | "longTexts"
    | "strictFields"
    | "resultCacheBytes"
    | "maxLoads"
    | "maxLoadsPerClient"
    | "loadsPerMinute"
    | "requestTimeout"
    | "textTimeout"
    | "templateTimeout"
    | "constraintTimeout"
    | "constraintTimePerMinute"
    | "constraintCacheBytes"
    | "maxConstraintStates"
    | "maxConstraintBytes"
    | "maxConstraintSteps"
    | "headersTimeout"
    | "bodyTimeout"
    | "stallTimeout"
    | "maxConnections"
    | "drainTimeout"
    | "logLevel"
  >
>;
