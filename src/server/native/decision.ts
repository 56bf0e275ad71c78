/** How a decision looks to a client. */
import type { z } from "@hono/zod-openapi";
import { decisionJsonSchema } from "../../runtime/decision-schema.ts";
import type { Decision } from "../../runtime/decision.ts";
import { described } from "./described.ts";

export const decisionBody: z.ZodType<Decision> = described("Decision", decisionJsonSchema());

/** The model is called as the client called it: its reference may be a path of this machine. */
export function shownDecision(decision: Decision, name: string): Decision {
  return { ...decision, model: { ...decision.model, reference: name } };
}
