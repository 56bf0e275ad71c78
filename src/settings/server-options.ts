/**
 * The settings of the server: one row for each, in the order of the documentation. From it come the section `server` of inferyard.yaml, variables, flags
 * of `serve`, types (`generated-server-settings.ts`), the JSON schema, and the tables of docs/reference/configuration.md.
 *
 * A new setting needs a row here, and `npm run schemas`.
 */
import {
  type DescribedOption,
  boolean,
  bytes,
  choice,
  duration,
  getDefaults,
  listOption,
  positiveInteger,
  textOption,
  unchecked,
  zeroOrMore,
} from "../runtime/options/option.ts";
import type { ServerDefaults, ServerSection } from "./generated-server-settings.ts";

/** Which part of the server obeys a setting: the handler of requests, the socket, or the program around both. */
export type ServerPart = "handler" | "socket" | "program";

/** A setting of the server. */
export interface ServerOption extends DescribedOption {
  /** Default: "handler". */
  readonly part?: ServerPart;
}

/** All settings of the server. */
export const serverOptions: Readonly<Record<keyof ServerSection, ServerOption>> = {
  address: {
    type: textOption,
    part: "socket",
    default: "127.0.0.1",
    flag: ["--address <address>", "where to listen"],
    description:
      "Address to listen on. One that other machines can reach is refused without keys, unless `allowAnonymous` is set.",
  },
  port: {
    type: { kind: "integer", min: 0, max: 65_535 },
    part: "socket",
    default: 8080,
    flag: ["--port <number>", "port to listen on; 0 takes a free one"],
    description: "Port to listen on; `0` chooses a free one, which the line on stdout shows.",
  },
  allowAnonymous: {
    type: boolean,
    part: "socket",
    default: false,
    flag: ["--allow-anonymous", "listen without keys on an address that other machines can reach"],
    description:
      "Whether other machines may use the server without a key. They may use the models that have a name on the server, and no admin route.",
  },
  keys: {
    type: unchecked,
    typescript: "readonly ServerKey[]",
    description:
      "API keys, one of which a client must present: `name`, `sha256` (of the key, hexadecimal), `role` (`reader` or `admin`), and optionally its own `requestsPerMinute`. Maps, which only files can have.",
  },
  keysFile: {
    type: textOption,
    part: "program",
    flag: ["--keys-file <file>", "keys clients must present one of, as a YAML or JSON list"],
    description: "A YAML or JSON file with more such keys.",
  },
  cors: {
    type: listOption,
    flag: ["--cors <origins>", "origins of web pages that may use the server"],
    description: "Origins of web pages that may use the server, or `*`. Requests of other pages are refused.",
  },
  allowedHosts: {
    type: listOption,
    flag: ["--allowed-hosts <names>", "values of the header Host that the server accepts"],
    description:
      "Values of the header `Host` that the server accepts, without port; `.example.com` also allows the names below it. Loopback names from this machine and the address it listens on are always accepted. Not set: a server without keys that listens on loopback [accepts only those](../guide/serving.md#safety), any other server every name.",
  },
  trustProxy: {
    type: boolean,
    default: false,
    flag: ["--trust-proxy", "take the client's address from x-forwarded-for"],
    description:
      "Whether the last address of `x-forwarded-for` is the client's, for rate limits and fairness. For servers that only a proxy can reach.",
  },
  models: {
    type: unchecked,
    typescript: "Readonly<Record<string, string | ServerModel>>",
    part: "program",
    description:
      "Models by the name that clients use: a reference, or `reference` with a `strategy` (`lazy`; `eager`: loaded at the start, and evicted only for memory; `pinned`: never evicted) and limits: `maxConcurrentRequests` and `maxQueue` apply besides those of the server, `requestTimeout` in place of it, under each name of the model. A map, which only the file can have.",
  },
  preload: {
    type: listOption,
    flag: ["--preload <models>", "models to load at the start"],
    description: "Models, by name or reference, that are loaded at the start. The server is ready when a probe has run on them.",
  },
  maxConcurrentRequests: {
    type: positiveInteger,
    default: 256,
    flag: ["--max-concurrent-requests <number>", "maximum requests that run at once"],
    description: "Maximum number of requests that run at once; further ones wait.",
  },
  maxQueue: {
    type: zeroOrMore,
    default: 1024,
    flag: ["--max-queue <number>", "maximum requests that wait"],
    description: "Maximum number of requests that wait; further ones get 429 with `Retry-After`.",
  },
  requestsPerMinute: {
    type: positiveInteger,
    flag: ["--requests-per-minute <number>", "maximum requests per minute of one client"],
    description: "Maximum requests per minute of one client (its key, else its address); further ones get 429.",
  },
  maxBodyBytes: {
    type: bytes,
    default: 33_554_432,
    flag: ["--max-body-bytes <number>", "maximum size of a request body"],
    description: "Maximum size of a request body in bytes, binary tensors included; a larger one gets 413.",
  },
  maxJsonBytes: {
    type: bytes,
    default: 4_194_304,
    flag: ["--max-json-bytes <number>", "maximum size of a JSON body"],
    description:
      "Maximum size of a JSON body, and of the JSON part of a body with binary tensors, in bytes; a larger one gets 413.",
  },
  maxJsonDepth: {
    type: positiveInteger,
    default: 64,
    flag: ["--max-json-depth <number>", "maximum nesting depth of a JSON body"],
    description: "Maximum nesting depth of arrays and objects in a JSON body; a deeper one gets 413.",
  },
  maxJsonValues: {
    type: positiveInteger,
    default: 4_194_304,
    flag: ["--max-json-values <number>", "maximum number of values of a JSON body"],
    description: "Maximum number of values (scalars, arrays, objects) of a JSON body; more get 413.",
  },
  maxInFlightBodyBytes: {
    type: bytes,
    flag: ["--max-in-flight-body-bytes <number>", "memory for the bodies of all requests in flight"],
    description:
      "Memory in bytes for the bodies of all requests that are being received or processed, counted as they arrive; a request beyond it gets 429 with `Retry-After`. One client may hold as much as remains free for others, at most half of it. Not set: an eighth of V8's heap limit, or twice the maximum body if that is more.",
  },
  maxFilesBytes: {
    type: bytes,
    default: 1_073_741_824,
    flag: ["--max-files-bytes <number>", "maximum size of all files that clients have uploaded"],
    description:
      "Maximum size in bytes of all [files](../guide/jobs.md#files-and-batches-over-http) of clients together, those that batches write included; an upload beyond it gets 413. One file is bounded by `maxBodyBytes`.",
  },
  maxTexts: {
    type: positiveInteger,
    default: 4096,
    flag: ["--max-texts <number>", "maximum texts of one request"],
    description: "Maximum number of texts of one request; more get 413.",
  },
  maxTextCharacters: {
    type: { kind: "integer", min: 1000 },
    part: "program",
    default: 1_000_000,
    flag: ["--max-text-characters <number>", "maximum characters of one text"],
    description:
      "Maximum length of one text in UTF-16 units, and of one text to decode in token ids; more get 413. At least 1000, since the known answers that verify a model are texts too.",
  },
  tokenIds: {
    type: choice(["own", "cl100k", "o200k"]),
    flag: ["--token-ids <source>", "whose token ids OpenAI's clients send in place of texts"],
    description:
      "Whose token ids OpenAI's clients [send in place of texts](../guide/serving.md#openai): `own`: those of the model's tokenizer; `cl100k`, `o200k`: those of OpenAI's, as LangChain sends them, read back to text by the optional package `js-tiktoken`. Not set: only ids between the special tokens of the model's tokenizer are accepted.",
  },
  longTexts: {
    type: choice(["cut", "error"]),
    default: "cut",
    flag: ["--long-texts <what>", "what TEI's routes do with texts that are too long"],
    description:
      "What the [routes of text-embeddings-inference](../guide/serving.md#text-embeddings-inference) do with texts longer than the model reads where the request says nothing: `cut` reads their beginning, as that server does unless started with `--auto-truncate false`; `error` refuses them with 413.",
  },
  strictFields: {
    type: boolean,
    default: false,
    flag: ["--strict-fields", "refuse fields that a route does not know in place of naming them in x-inferyard-ignored"],
    description:
      "Whether requests of the protocols of others may have no fields that their routes do not know. `false`: such fields are left out, [named](../guide/serving.md#fields-that-are-not-known) in the response header `x-inferyard-ignored` and the log, and counted; `true`: they are refused with 400, as the routes of our own API do in any case.",
  },
  resultCacheBytes: {
    type: { kind: "integer", min: 0, unit: "bytes" },
    default: 0,
    flag: ["--result-cache-bytes <number>", "memory for results that are returned to equal requests; 0: disabled"],
    description:
      "Memory in bytes for results that are kept and [returned to equal requests](../guide/serving.md#the-same-asked-twice), the least recently used evicted first. `0` disables the cache.",
  },
  maxLoads: {
    type: positiveInteger,
    default: 4,
    flag: ["--max-loads <number>", "maximum models that load at once"],
    description: "Maximum number of models that requests load at once; further loads wait.",
  },
  maxLoadsPerClient: {
    type: positiveInteger,
    default: 2,
    flag: ["--max-loads-per-client <number>", "maximum of these for one client"],
    description: "Maximum number of models that the requests of one client (its key, else its address) load at once.",
  },
  loadsPerMinute: {
    type: positiveInteger,
    default: 30,
    flag: ["--loads-per-minute <number>", "maximum loads per minute of one reader"],
    description:
      "Maximum number of models that the requests of one reader may load per minute, reloads after eviction included; requests that need another load get 429 with `Retry-After`. Admins are exempt.",
  },
  requestTimeout: {
    type: duration,
    default: "120s",
    flag: ["--request-timeout <time>", "maximum time from request to response"],
    description: "Maximum time from a request to its response, including waiting; after it the response is 504.",
  },
  textTimeout: {
    type: duration,
    part: "program",
    default: "30s",
    flag: ["--text-timeout <time>", "maximum time to tokenize one text"],
    description: "Maximum time to tokenize, chunk or decode one text; after it the response is 413.",
  },
  templateTimeout: {
    type: duration,
    part: "program",
    default: "10s",
    flag: ["--template-timeout <time>", "maximum time to render a chat template"],
    description:
      "Maximum time to render a model's [chat template](../guide/chatting.md#the-model-s-template); after it the response is 422, and so are the model's conversations for the next minute.",
  },
  constraintTimeout: {
    type: duration,
    part: "program",
    default: "30s",
    flag: ["--constraint-timeout <time>", "maximum time to compile one constraint"],
    description:
      "Maximum time to compile one [constraint](../guide/structured-output.md#limits) (a JSON Schema, a regular expression, a grammar, choices, tools), and to find the tokens that may follow once; after it the response is 400.",
  },
  constraintTimePerMinute: {
    type: duration,
    part: "program",
    default: "60s",
    flag: ["--constraint-time-per-minute <time>", "maximum time for the constraints of one client in a minute"],
    description:
      "Maximum time in a minute that the constraints of one client (its key, else its address) may take; further ones get 429 with `Retry-After`.",
  },
  constraintCacheBytes: {
    type: bytes,
    part: "program",
    default: 33_554_432,
    flag: ["--constraint-cache-bytes <number>", "memory for the compiled constraints of one model"],
    description:
      "Memory in bytes for the compiled constraints of one model, the least recently used evicted first. Refused ones are not kept.",
  },
  maxConstraintStates: {
    type: positiveInteger,
    part: "program",
    default: 500_000,
    flag: ["--max-constraint-states <number>", "maximum states of one constraint"],
    description: "Maximum number of states of automata, and of parts of grammars, of one constraint; more get 400.",
  },
  maxConstraintBytes: {
    type: bytes,
    part: "program",
    default: 67_108_864,
    flag: ["--max-constraint-bytes <number>", "maximum memory of one constraint"],
    description: "Maximum estimated memory in bytes of one constraint; more get 400.",
  },
  maxConstraintSteps: {
    type: positiveInteger,
    part: "program",
    default: 5_000_000,
    flag: ["--max-constraint-steps <number>", "maximum work of one constraint"],
    description: "Maximum work to compile one constraint, such as transitions of automata; more get 400.",
  },
  loadingWait: {
    type: duration,
    flag: ["--loading-wait <time>", "maximum time a request waits for a model to load; 0: does not wait"],
    description:
      "Maximum time a request waits for a model that is not in memory; after it the response is 503 `MODEL_LOADING` with the progress of the load, which continues. `0`: does not wait. Not set: waits as long as the request may take.",
  },
  headersTimeout: {
    type: duration,
    part: "socket",
    default: "10s",
    flag: ["--headers-timeout <time>", "maximum time for a client to send the head of a request"],
    description:
      "Maximum time for a client to send the head of a request, at most `bodyTimeout`; after it the response is 408. `0`: no limit.",
  },
  bodyTimeout: {
    type: duration,
    part: "socket",
    default: "60s",
    flag: ["--body-timeout <time>", "maximum time for a client to send a whole request"],
    description: "Maximum time for a client to send a whole request; after it the response is 408. `0`: no limit.",
  },
  stallTimeout: {
    type: duration,
    part: "socket",
    default: "30s",
    flag: ["--stall-timeout <time>", "maximum time in which a client takes nothing of its response"],
    description:
      "Maximum time in which a client takes nothing of its response; after it the connection is closed. `0`: no limit.",
  },
  maxResponseBytes: {
    type: bytes,
    flag: ["--max-response-bytes <number>", "memory for responses being computed (default: 1/8 of the memory)"],
    description:
      "Memory in bytes for the responses that are being computed and serialized. Requests wait for their share; one response may take at most half of it, and so may one client. Default: an eighth of the memory, at most 1 GiB.",
  },
  maxUnreadBytes: {
    type: bytes,
    part: "socket",
    flag: ["--max-unread-bytes <number>", "bytes of responses that clients have not taken (default: 1/8 of the memory)"],
    description:
      "Maximum bytes of responses that clients have not taken yet. A client may leave as many unread as remain free; above that its requests get 503 with `Retry-After`, and slow connections are closed. Default: an eighth of the memory, at most 1 GiB.",
  },
  maxConnections: {
    type: positiveInteger,
    part: "socket",
    default: 1024,
    flag: ["--max-connections <number>", "maximum number of connections"],
    description:
      "Maximum number of connections. A further one closes the connection that is idle for longest; if none is idle, it gets 503 or is closed.",
  },
  maxConnectionsPerClient: {
    type: positiveInteger,
    part: "socket",
    flag: ["--max-connections-per-client <number>", "maximum connections of one address (default: a quarter of all)"],
    description:
      "Maximum number of connections per IPv4 address or IPv6 /64 network. Not applied with `trustProxy`. Default: a quarter of `maxConnections`, and no limit for loopback addresses.",
  },
  drainTimeout: {
    type: duration,
    default: "30s",
    flag: ["--drain-timeout <time>", "maximum time that running requests have at shutdown"],
    description: "Maximum time that running requests have to finish when the server shuts down.",
  },
  tlsCert: {
    type: textOption,
    part: "program",
    flag: ["--tls-cert <file>", "certificate chain (PEM)"],
    description: "File with the certificate chain (PEM). With `tlsKey`, the server uses HTTPS.",
  },
  tlsKey: {
    type: textOption,
    part: "program",
    flag: ["--tls-key <file>", "private key (PEM)"],
    description: "File with the private key (PEM).",
  },
  logLevel: {
    type: choice(["silent", "error", "warn", "info", "debug"]),
    part: "program",
    default: "info",
    flag: ["--log-level <level>", "what is logged"],
    description:
      "What is logged to stderr: `silent`; `error`: internal errors; `warn`: also refused requests; `info`: also every request, and events of models; `debug`: also requests for health and metrics, and the progress of downloads.",
  },
};

/** The defaults, for `inferyard serve` and for the server as a library. */
export const serverDefaults: ServerDefaults = getDefaults(serverOptions) as ServerDefaults;
