/** How a decision looks to a client. */
import type { z } from "@hono/zod-openapi";
import { decisionJsonSchema } from "../../../runtime/decision/decision-schema.ts";
import type { Decision } from "../../../runtime/decision/decision.ts";
import { scrubAll } from "../../http/scrub.ts";
import type { Role } from "../../server-settings.ts";
import { documentedType } from "./documented-type.ts";

export const decisionBody: z.ZodType<Decision> = documentedType("Decision", decisionJsonSchema());

/** The model is called as the client called it, since its reference may be a path of this machine. Only admins read of other paths. */
export function publicDecision(decision: Decision, name: string, role: Role): Decision {
  const shown = role === "admin" ? decision : scrubAll(decision);
  return { ...shown, model: { ...shown.model, reference: name } };
}
