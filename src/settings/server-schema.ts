/** Type and description of each setting of the section `server`; loaded like `schema.ts`. */
import * as z from "zod";
import { duration } from "./duration-schema.ts";
import { type ServerKey, type ServerSection, logLevels, longTextModes, tokenIdSources } from "./server-section.ts";

const count = z.int().positive();

const key = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/, "must be of letters, digits, _, . and -"),
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits: printf %s 'the-key' | sha256sum"),
  role: z.enum(["reader", "admin"]),
  requestsPerMinute: count.optional(),
});

/** Schema of a list of API keys. */
export const keysSchema: z.ZodType<ServerKey[]> = z.array(key) as z.ZodType<ServerKey[]>;

const model = z.union([
  z.string(),
  z.strictObject({
    reference: z.string(),
    strategy: z.enum(["lazy", "eager", "pinned"]).optional(),
    maxConcurrentRequests: count
      .optional()
      .describe("Maximum number of requests of this model that run at once, besides the limit of the server."),
    maxQueue: z
      .int()
      .nonnegative()
      .optional()
      .describe("Maximum number of requests of this model that wait, besides the limit of the server."),
    requestTimeout: duration.optional().describe("Request timeout in place of the server's."),
  }),
]);

/** Schema of each setting, in the order of the documentation. */
export const serverFields: Readonly<Record<keyof ServerSection, z.ZodType>> = {
  address: z
    .string()
    .describe("Address to listen on. One that other machines can reach is refused without keys, unless `allowAnonymous` is set."),
  port: z.int().min(0).max(65_535).describe("Port to listen on; `0` chooses a free one, which the line on stdout shows."),
  allowAnonymous: z
    .boolean()
    .describe(
      "Whether other machines may use the server without a key. They may use the models that have a name on the server, and no admin route.",
    ),
  keys: keysSchema.describe(
    "API keys, one of which a client must present: `name`, `sha256` (of the key, hexadecimal), `role` (`reader` or `admin`), and optionally its own `requestsPerMinute`. Maps, which only files can have.",
  ),
  keysFile: z.string().describe("A YAML or JSON file with more such keys."),
  cors: z
    .array(z.string())
    .describe("Origins of web pages that may use the server, or `*`. Requests of other pages are refused."),
  allowedHosts: z
    .array(z.string())
    .describe(
      "Values of the header `Host` that the server accepts, without port; `.example.com` also allows the names below it. Loopback names from this machine and the address it listens on are always accepted. Not set: a server without keys that listens on loopback [accepts only those](../guide/serving.md#safety), any other server every name.",
    ),
  trustProxy: z
    .boolean()
    .describe(
      "Whether the last address of `x-forwarded-for` is the client's, for rate limits and fairness. For servers that only a proxy can reach.",
    ),
  models: z
    .record(z.string(), model)
    .describe(
      "Models by the name that clients use: a reference, or `reference` with a `strategy` (`lazy`; `eager`: loaded at the start, and evicted only for memory; `pinned`: never evicted) and limits: `maxConcurrentRequests` and `maxQueue` apply besides those of the server, `requestTimeout` in place of it, under each name of the model. A map, which only the file can have.",
    ),
  preload: z
    .array(z.string())
    .describe("Models, by name or reference, that are loaded at the start. The server is ready when a probe has run on them."),
  maxConcurrentRequests: count.describe("Maximum number of requests that run at once; further ones wait."),
  maxQueue: z.int().nonnegative().describe("Maximum number of requests that wait; further ones get 429 with `Retry-After`."),
  requestsPerMinute: count.describe(
    "Maximum requests per minute of one client (its key, else its address); further ones get 429.",
  ),
  maxBodyBytes: count.describe("Maximum size of a request body in bytes, binary tensors included; a larger one gets 413."),
  maxJsonBytes: count.describe(
    "Maximum size of a JSON body, and of the JSON part of a body with binary tensors, in bytes; a larger one gets 413.",
  ),
  maxJsonDepth: count.describe("Maximum nesting depth of arrays and objects in a JSON body; a deeper one gets 413."),
  maxJsonValues: count.describe("Maximum number of values (scalars, arrays, objects) of a JSON body; more get 413."),
  maxInFlightBodyBytes: count.describe(
    "Memory in bytes for the bodies of all requests that are being received or processed, counted as they arrive; a request beyond it gets 429 with `Retry-After`. One client may hold as much as remains free for others, at most half of it. Not set: an eighth of V8's heap limit, or twice the maximum body if that is more.",
  ),
  maxTexts: count.describe("Maximum number of texts of one request; more get 413."),
  maxTextCharacters: z
    .int()
    .min(1000)
    .describe(
      "Maximum length of one text in UTF-16 units, and of one text to decode in token ids; more get 413. At least 1000, since the known answers that verify a model are texts too.",
    ),
  tokenIds: z
    .enum(tokenIdSources)
    .describe(
      "Whose token ids OpenAI's clients [send in place of texts](../guide/serving.md#openai): `own`: those of the model's tokenizer; `cl100k`, `o200k`: those of OpenAI's, as LangChain sends them, read back to text by the optional package `js-tiktoken`. Not set: only ids between the special tokens of the model's tokenizer are accepted.",
    ),
  longTexts: z
    .enum(longTextModes)
    .describe(
      "What the [routes of text-embeddings-inference](../guide/serving.md#text-embeddings-inference) do with texts longer than the model reads where the request says nothing: `cut` reads their beginning, as that server does unless started with `--auto-truncate false`; `error` refuses them with 413.",
    ),
  strictFields: z
    .boolean()
    .describe(
      "Whether requests of the protocols of others may have no fields that their routes do not know. `false`: such fields are left out, [named](../guide/serving.md#fields-that-are-not-known) in the response header `x-inferyard-ignored` and the log, and counted; `true`: they are refused with 400, as the routes of our own API do in any case.",
    ),
  resultCacheBytes: z
    .int()
    .nonnegative()
    .describe(
      "Memory in bytes for results that are kept and [returned to equal requests](../guide/serving.md#the-same-asked-twice), the least recently used evicted first. `0` disables the cache.",
    ),
  maxLoads: count.describe("Maximum number of models that requests load at once; further loads wait."),
  maxLoadsPerClient: count.describe(
    "Maximum number of models that the requests of one client (its key, else its address) load at once.",
  ),
  loadsPerMinute: count.describe(
    "Maximum number of models that the requests of one reader may load per minute, reloads after eviction included; requests that need another load get 429 with `Retry-After`. Admins are exempt.",
  ),
  requestTimeout: duration.describe(
    "Maximum time from a request to its response, including waiting; after it the response is 504.",
  ),
  textTimeout: duration.describe("Maximum time to tokenize, chunk or decode one text; after it the response is 413."),
  templateTimeout: duration.describe(
    "Maximum time to render a model's [chat template](../guide/chatting.md#the-model-s-template); after it the response is 422, and so are the model's conversations for the next minute.",
  ),
  constraintTimeout: duration.describe(
    "Maximum time to compile one [constraint](../guide/structured-output.md#limits) (a JSON Schema, a regular expression, a grammar, choices, tools), and to find the tokens that may follow once; after it the response is 400.",
  ),
  constraintTimePerMinute: duration.describe(
    "Maximum time in a minute that the constraints of one client (its key, else its address) may take; further ones get 429 with `Retry-After`.",
  ),
  constraintCacheBytes: count.describe(
    "Memory in bytes for the compiled constraints of one model, the least recently used evicted first. Refused ones are not kept.",
  ),
  maxConstraintStates: count.describe(
    "Maximum number of states of automata, and of parts of grammars, of one constraint; more get 400.",
  ),
  maxConstraintBytes: count.describe("Maximum estimated memory in bytes of one constraint; more get 400."),
  maxConstraintSteps: count.describe("Maximum work to compile one constraint, such as transitions of automata; more get 400."),
  loadingWait: duration.describe(
    "Maximum time a request waits for a model that is not in memory; after it the response is 503 `MODEL_LOADING` with the progress of the load, which continues. `0`: does not wait. Not set: waits as long as the request may take.",
  ),
  headersTimeout: duration.describe(
    "Maximum time for a client to send the head of a request, at most `bodyTimeout`; after it the response is 408. `0`: no limit.",
  ),
  bodyTimeout: duration.describe(
    "Maximum time for a client to send a whole request; after it the response is 408. `0`: no limit.",
  ),
  stallTimeout: duration.describe(
    "Maximum time in which a client takes nothing of its response; after it the connection is closed. `0`: no limit.",
  ),
  maxResponseBytes: count.describe(
    "Memory in bytes for the responses that are being computed and serialized. Requests wait for their share; one response may take at most half of it, and so may one client. Default: an eighth of the memory, at most 1 GiB.",
  ),
  maxUnreadBytes: count.describe(
    "Maximum bytes of responses that clients have not taken yet. A client may leave as many unread as remain free; above that its requests get 503 with `Retry-After`, and slow connections are closed. Default: an eighth of the memory, at most 1 GiB.",
  ),
  maxConnections: count.describe(
    "Maximum number of connections. A further one closes the connection that is idle for longest; if none is idle, it gets 503 or is closed.",
  ),
  maxConnectionsPerClient: count.describe(
    "Maximum number of connections per IPv4 address or IPv6 /64 network. Not applied with `trustProxy`. Default: a quarter of `maxConnections`, and no limit for loopback addresses.",
  ),
  drainTimeout: duration.describe("Maximum time that running requests have to finish when the server shuts down."),
  tlsCert: z.string().describe("File with the certificate chain (PEM). With `tlsKey`, the server uses HTTPS."),
  tlsKey: z.string().describe("File with the private key (PEM)."),
  logLevel: z
    .enum(logLevels)
    .describe(
      "What is logged to stderr: `silent`; `error`: internal errors; `warn`: also refused requests; `info`: also every request, and events of models; `debug`: also requests for health and metrics, and the progress of downloads.",
    ),
};

/** Schema of the section `server` of the settings. */
export const serverSchema: z.ZodType<ServerSection> = z.strictObject(serverFields).partial() as z.ZodType<ServerSection>;
