/** What each setting of the section `server` takes and does; imported as `schema.ts` is. */
import * as z from "zod";
import { duration } from "./duration-schema.ts";
import { type ServerKey, type ServerSection, logLevels } from "./server-section.ts";

const count = z.int().positive();

const key = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/, "must be of letters, digits, _, . and -"),
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits: printf %s 'the-key' | sha256sum"),
  role: z.enum(["reader", "admin"]),
  requestsPerMinute: count.optional(),
});

export const keysSchema: z.ZodType<ServerKey[]> = z.array(key) as z.ZodType<ServerKey[]>;

const model = z.union([
  z.string(),
  z.strictObject({
    reference: z.string(),
    strategy: z.enum(["lazy", "eager", "pinned"]).optional(),
    maxConcurrentRequests: count.optional().describe("Requests of this model that run at once, besides the limit of all."),
    maxQueue: z.int().nonnegative().optional().describe("Requests of this model that wait at most, besides the limit of all."),
    requestTimeout: duration.optional().describe("In place of the server's."),
  }),
]);

/** One line per setting, in the order of the documentation. */
export const serverFields: Readonly<Record<keyof ServerSection, z.ZodType>> = {
  address: z
    .string()
    .describe("Where it listens. An address that others can reach is refused without keys, unless `allowAnonymous` is set."),
  port: z.int().min(0).max(65_535).describe("The port; `0` takes a free one, and the line on stdout says which."),
  allowAnonymous: z
    .boolean()
    .describe(
      "`true`: others may ask without a key. They may use the models that have a name here, and nothing that is for administrators.",
    ),
  keys: keysSchema.describe(
    "Keys, one of which a client must present: `name`, `sha256` (of the key, hexadecimal), `role` (`reader` or `admin`), and its own `requestsPerMinute` where it has one; maps, so they stand in files only.",
  ),
  keysFile: z.string().describe("A YAML or JSON file with a list of such keys, beside those of `keys`."),
  cors: z.array(z.string()).describe("Origins of web pages that may use the server, or `*`. Pages of other origins are refused."),
  allowedHosts: z
    .array(z.string())
    .describe(
      "Names in the header `Host` under which the server answers, without a port; `.example.com` allows the names below it too. Loopback names from this machine and the address it listens on need not be named. Not set: a server without keys that listens on loopback [answers under those alone](../guide/serving.md#safety), any other under every name.",
    ),
  trustProxy: z
    .boolean()
    .describe(
      "`true`: the last address of `x-forwarded-for` is the client's, for rates and fairness. For a server that only a proxy can reach.",
    ),
  models: z
    .record(z.string(), model)
    .describe(
      "Models by the name clients use: a reference, or `reference` with a `strategy` (`lazy`, `eager`: loaded at the start, leaves for room alone, `pinned`: stays) and limits of its own: `maxConcurrentRequests` and `maxQueue` hold besides those of the server, `requestTimeout` in place of it. They are the model's under each of its names. A map, so it stands in the file only.",
    ),
  preload: z
    .array(z.string())
    .describe("Models, by name or reference, that are loaded at the start. The server is ready when they have run."),
  maxConcurrentRequests: count.describe("Requests that run at once; the next ones wait."),
  maxQueue: z.int().nonnegative().describe("Requests that wait at most; those after them get 429 with `Retry-After`."),
  requestsPerMinute: count.describe("Requests of one client (its key, else its address) in a minute; those after them get 429."),
  maxBodyBytes: count.describe("The largest body of a request, binary tensors included; a larger one gets 413."),
  maxJsonBytes: count.describe(
    "The largest JSON body, and the largest JSON part of a body with binary tensors; a larger one gets 413.",
  ),
  maxJsonDepth: count.describe("How deep the lists and objects of a body may nest; a deeper one gets 413."),
  maxJsonValues: count.describe("Most values (scalars, lists, objects) of one JSON body; more get 413."),
  maxInFlightBodyBytes: count.describe(
    "Memory for the bodies of all requests that are being received or processed, in bytes, counted as they arrive; a request beyond it gets 429 with `Retry-After`. One client may hold as much as is free for others, so half of it at most. Not set, it is an eighth of the heap's limit, or twice the largest body if that is more.",
  ),
  maxTexts: count.describe("Most texts of one request; more get 413."),
  maxTextCharacters: z
    .int()
    .min(1000)
    .describe(
      "The most characters (UTF-16 units) of one text, and the most token ids of one that is decoded; more get 413. At least 1000: the known answers of models are texts too.",
    ),
  resultCacheBytes: z
    .int()
    .nonnegative()
    .describe(
      "Memory for answers that are kept and [given again](../guide/serving.md#the-same-asked-twice) to who asks the same, in bytes; the least recently used leave first. `0` keeps none.",
    ),
  maxLoads: count.describe("Models that are loaded at once for requests; further loads wait."),
  maxLoadsPerClient: count.describe("Models that are loaded at once for the requests of one client (its key, else its address)."),
  loadsPerMinute: count.describe(
    "Models that requests of one reader may load in a minute, those that others had to leave memory for included; requests that need one more get 429 with `Retry-After`. Admins are not counted.",
  ),
  requestTimeout: duration.describe(
    "The longest time from a request to its answer, waiting included; after it the answer is 504.",
  ),
  textTimeout: duration.describe(
    "The longest time a thread reads one text: tokens, chunks, or text of tokens; after it the answer is 413.",
  ),
  loadingWait: duration.describe(
    "The longest time a request waits for a model that is not in memory yet; after it the answer is 503 `MODEL_LOADING` with how far the load is, and the load goes on. `0` waits for none; not set, a request waits as long as it may take.",
  ),
  headersTimeout: duration.describe(
    "The longest time for a client to send the head of a request, at most `bodyTimeout`; after it the answer is 408. `0`: no limit.",
  ),
  bodyTimeout: duration.describe(
    "The longest time for a client to send a whole request; after it the answer is 408. `0`: no limit.",
  ),
  stallTimeout: duration.describe(
    "The longest time in which a client takes nothing of its answer; after it the connection is closed. `0`: no limit.",
  ),
  maxResponseBytes: count.describe(
    "Memory for answers that are being computed and written, in bytes. Requests wait for their share; one answer may take half of it, and so may one client. Default: an eighth of the memory, at most 1 GiB.",
  ),
  maxUnreadBytes: count.describe(
    "Bytes of answers that clients have not taken yet, in all. From half of it on, requests get 503 with `Retry-After`, and connections whose client is slow are closed. Default: an eighth of the memory, at most 1 GiB.",
  ),
  maxConnections: count.describe(
    "Connections in all. One more closes the connection that is idle for longest; where none is idle, it gets 503 or is closed.",
  ),
  maxConnectionsPerClient: count.describe(
    "Connections of one address (of IPv6: of one network of 64 bits). Not counted with `trustProxy`. Default: a quarter of `maxConnections`, and no limit for addresses of this machine.",
  ),
  drainTimeout: duration.describe("How long running requests are waited for when the server is told to end."),
  tlsCert: z.string().describe("File of the certificate chain (PEM). With `tlsKey` the server speaks HTTPS."),
  tlsKey: z.string().describe("File of the private key (PEM)."),
  logLevel: z
    .enum(logLevels)
    .describe(
      "What is logged to stderr: `silent`, `error` (requests that failed by the server's doing), `warn` (and refused ones), `info` (a line for each request, and for what happens to models), `debug` (and those that ask for health and metrics, and downloads as they go on).",
    ),
};

export const serverSchema: z.ZodType<ServerSection> = z.strictObject(serverFields).partial() as z.ZodType<ServerSection>;
