/** Schema of the section `server`; loaded like `schema.ts`. */
import * as z from "zod";
import type { ServerSection } from "./generated-server-settings.ts";
import { count, durationSchema, optionSchemas } from "./option-schema.ts";
import type { ServerKey } from "./server-maps.ts";
import { serverOptions } from "./server-options.ts";

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
    requestTimeout: durationSchema.optional().describe("Request timeout in place of the server's."),
  }),
]);

const schemas = optionSchemas(serverOptions, { keys: keysSchema, models: z.record(z.string(), model) });

/** Schema of the section `server` of the settings. */
export const serverSchema: z.ZodType<ServerSection> = z.strictObject(schemas).partial() as z.ZodType<ServerSection>;
