/** Decisions in responses. */
import type { z } from "@hono/zod-openapi";
import { decisionJsonSchema } from "../../../runtime/decision/decision-schema.ts";
import type { Decision } from "../../../runtime/decision/decision.ts";
import { scrubAll } from "../../http/scrub.ts";
import type { Role } from "../../server-settings.ts";
import { documentedType } from "./documented-type.ts";

/** Schema of a decision. */
export const decisionBody: z.ZodType<Decision> = documentedType("Decision", decisionJsonSchema());

/**
 * The decision as a client may see it: the model has the name the client used, since its reference may be a path of this machine, and only admins
 * see other paths.
 */
export function publicDecision(decision: Decision, name: string, role: Role): Decision {
  const shown = role === "admin" ? decision : scrubAll(decision);
  return { ...shown, model: { ...shown.model, reference: name } };
}
