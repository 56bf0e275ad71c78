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
  address: z.string().describe("Where the server listens; an address that others can reach needs keys, or allowAnonymous."),
  port: z.int().min(0).max(65_535).describe("The port; 0 takes a free one."),
  allowAnonymous: z.boolean().describe("Whether an address that others can reach may be listened on without keys."),
  keys: keysSchema.describe(
    'Keys, one of which a client must present: a name, the sha256 of the key, the role "reader" or "admin".',
  ),
  keysFile: z.string().describe("A YAML or JSON file with a list of keys, beside those of keys."),
  cors: z.array(z.string()).describe('Origins of web pages that may use the server, or "*".'),
  trustProxy: z.boolean().describe("Whether the last address of x-forwarded-for is the client's."),
  models: z.record(z.string(), model).describe("Models by the name clients use, beside builtin and those of the store."),
  preload: z.array(z.string()).describe("Models to load at the start; the server is ready when they have run."),
  maxConcurrentRequests: count.describe("Requests that run at once; the next ones wait."),
  maxQueue: z.int().nonnegative().describe("Requests that wait at most; those after them are refused with 429."),
  requestsPerMinute: count.describe("Requests of one client in a minute, told apart by key, else by address."),
  maxBodyBytes: count.describe("Largest body of a request in bytes."),
  maxJsonDepth: count.describe("Deepest nesting of a JSON body."),
  maxTexts: count.describe("Most texts of one request."),
  resultCacheBytes: z
    .int()
    .nonnegative()
    .describe("Memory for answers that are kept and given again to who asks the same, in bytes; 0 keeps none."),
  requestTimeout: duration.describe("Longest time from a request to its answer, waiting included."),
  headersTimeout: duration.describe("Longest time for a client to send the head of a request."),
  bodyTimeout: duration.describe("Longest time for a client to send a whole request."),
  drainTimeout: duration.describe("Longest time running requests are waited for when the server ends."),
  tlsCert: z.string().describe("File of the certificate chain (PEM); with tlsKey the server speaks HTTPS."),
  tlsKey: z.string().describe("File of the private key (PEM)."),
  logLevel: z.enum(logLevels).describe("What is logged: info is a line for each request."),
};

export const serverSchema: z.ZodType<ServerSection> = z.strictObject(serverFields).partial() as z.ZodType<ServerSection>;
