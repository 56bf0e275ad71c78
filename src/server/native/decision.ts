/** Decisions as clients see them. */
import { z } from "@hono/zod-openapi";
import type { Decision } from "../../runtime/decision.ts";
import { scrubAll } from "../scrub.ts";
import type { Role } from "../server-settings.ts";

export const decisionBody: z.ZodType<Decision> = z
  .custom<Decision>()
  .openapi("Decision", { type: "object", description: "As docs/reference/decision.md describes it" });

/** The model is called as the client called it, since its reference may be a path of this machine. Only admins read of other paths. */
export function shownDecision(decision: Decision, name: string, role: Role): Decision {
  const shown = role === "admin" ? decision : scrubAll(decision);
  return { ...shown, model: { ...shown.model, reference: name } };
}
