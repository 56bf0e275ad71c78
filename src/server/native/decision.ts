/** Decisions as clients see them. */
import { z } from "@hono/zod-openapi";
import type { Decision } from "../../runtime/decision.ts";

export const decisionBody: z.ZodType<Decision> = z
  .custom<Decision>()
  .openapi("Decision", { type: "object", description: "As docs/reference/decision.md describes it" });

/** The model is called as the client called it: its reference may be a path of this machine. */
export function shownDecision(decision: Decision, name: string): Decision {
  return { ...decision, model: { ...decision.model, reference: name } };
}
