/**
 * The zod schema of a decision, from which `npm run schemas` makes `schemas/decision.json`, for programs that read decisions
 * from `--json`, logs or HTTP.
 */
import * as z from "zod";
import { policies } from "../targets/constraints.ts";

const library = z.strictObject({
  name: z.string(),
  version: z.string(),
  files: z
    .array(z.strictObject({ name: z.string(), sha256: z.string() }))
    .optional()
    .describe("All files of native code that compute: the library and what it loads. Absent if the engine does not say."),
});

const candidate = z.strictObject({
  target: z.string().describe("backend:device[:index]"),
  variant: z.string().optional().describe("Variant that was tried, where the target was tried with several."),
  verdict: z.enum(["selected", "would-run", "refused", "failed", "not-tried"]),
  stage: z
    .enum(["constraints", "manifest", "package", "probe", "device", "capability", "requirement", "circuit", "load", "verify"])
    .describe("The step that gave the candidate its verdict."),
  reason: z.string(),
  remedy: z.string().optional().describe("A command or a setting that would change the verdict."),
  note: z.string().optional().describe('Under the policy "fastest": the measured speed, or why no measurement applies.'),
  milliseconds: z.number().optional().describe("Time spent loading and verifying."),
});

const decision = z.strictObject({
  id: z.uuid(),
  at: z.iso.datetime(),
  model: z.strictObject({
    reference: z.string(),
    format: z.string(),
    variant: z.string().optional(),
    packedFrom: z.string().optional().describe("The variant of the files whose weights were packed to `variant` while loading."),
    unreadable: z
      .array(z.strictObject({ variant: z.string(), reason: z.string() }))
      .optional()
      .describe("Variants that could not be read and were left out; absent if all could be read."),
    digest: z.string().optional().describe("sha256:… of the variant's main file."),
  }),
  constraints: z.strictObject({
    policy: z.enum(policies),
    preferred: z.array(z.string()),
    required: z.array(z.string()),
    excluded: z.array(z.string()),
  }),
  candidates: z.array(candidate).describe("In the order of preference."),
  selected: z
    .strictObject({
      target: z.string(),
      device: z.string(),
      library,
      host: z.string(),
      evidence: z.array(z.string()).describe("What the engine itself reported."),
      unproven: z.string().optional().describe("Why the engine's evidence does not prove where it computed; absent if it does."),
      givenUp: z.string().optional().describe("What the load gave up so that the model fits into the memory; absent if nothing."),
    })
    .nullable(),
});

/** The schema of a decision, for schemas of objects that contain one. */
export function decisionSchema(): z.ZodType {
  return decision;
}

/** Throws a ZodError if `value` is not a decision. */
export function checkDecision(value: unknown): void {
  decision.parse(value);
}

/** The JSON schema of a decision. */
export function decisionJsonSchema(): Record<string, unknown> {
  return { title: "Decision", ...z.toJSONSchema(decision) };
}
