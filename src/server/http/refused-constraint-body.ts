/** What of a constraint was refused, in the error bodies of every protocol. */
import { z } from "@hono/zod-openapi";
import { ellipsize } from "./ellipsize.ts";
import { requestLimits } from "./request-limits.ts";

/** Schema of the part that was refused, and of the limit that it exceeds, where it is one. */
export const refusedConstraintSchema: z.ZodType = z
  .object({
    keyword: z.string().optional().openapi({ description: "Keyword of JSON Schema" }),
    pointer: z.string().optional().openapi({ description: "JSON pointer of the schema that has the keyword" }),
    line: z.number().optional().openapi({ description: "Line of a grammar" }),
    tool: z.string().optional().openapi({ description: "Name of the tool whose parameters it is about" }),
    unit: z.string().optional().openapi({ description: "What is limited: states, bytes, steps or milliseconds" }),
    number: z.number().optional().openapi({ description: "How much it was when it was refused" }),
    limit: z.number().optional(),
  })
  .openapi("RefusedConstraint", { description: "Of a constraint that is not supported or too large" });

const [texts, numbers] = [
  ["keyword", "pointer", "tool", "unit"],
  ["line", "number", "limit"],
] as const;

/** The part as a response has it. Undefined for errors that are not about a constraint. */
export function refusedConstraintBody(data: Readonly<Record<string, unknown>>): object | undefined {
  if (data["refused"] !== true) return undefined;
  const given = [
    ...texts.map((name) => [name, shortText(data[name])] as const),
    ...numbers.map((name) => [name, typeof data[name] === "number" ? data[name] : undefined] as const),
  ];
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Names of schemas and tools are the client's, and may be long. */
function shortText(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return ellipsize(value.slice(0, 2 * requestLimits.nameCharacters), requestLimits.nameCharacters);
}
