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

const selectionStage = z
  .enum(["constraints", "manifest", "package", "probe", "device", "capability", "requirement", "circuit", "load", "verify"])
  .describe("The step that gave a candidate its verdict. `docs/reference/decision.md` explains each.");

const verdict = z
  .enum(["selected", "would-run", "refused", "failed", "not-tried"])
  .describe('Result for one candidate. "would-run" occurs only in `explain`, which loads nothing.');

const candidate = z
  .strictObject({
    target: z.string().describe("backend:device[:index]"),
    variant: z.string().optional().describe("Variant that was tried, where the target was tried with several."),
    verdict,
    stage: selectionStage,
    reason: z.string().describe("A sentence for the user, without a full stop."),
    remedy: z.string().optional().describe("A command or a setting that would change the verdict."),
    note: z
      .string()
      .optional()
      .describe('Under the policy "fastest", for candidates that can run: the measured speed, or why no measurement applies.'),
    milliseconds: z
      .number()
      .optional()
      .describe("Milliseconds spent loading and verifying. Absent if the candidate was not tried."),
  })
  .describe("One target that was considered, with its verdict and the reason.");

const selected = z
  .strictObject({
    target: z.string(),
    device: z.string(),
    library,
    host: z.string(),
    evidence: z.array(z.string()).describe("The engine's own report about where it computed."),
    unproven: z.string().optional().describe("Why the engine's evidence does not prove where it computed. Absent if it does."),
    givenUp: z
      .string()
      .optional()
      .describe(
        "What the load reduced so that the model fits into the memory: the length of the context, and why. Absent if nothing.",
      ),
  })
  .describe("The selected target, its engine, its host, and the engine's own evidence.");

const decision = z
  .strictObject({
    id: z.uuid(),
    at: z.iso.datetime().describe("Time of the decision, ISO 8601 in UTC."),
    model: z.strictObject({
      reference: z.string(),
      format: z.string(),
      variant: z.string().optional(),
      packedFrom: z
        .string()
        .optional()
        .describe(
          "The variant of the files whose weights were packed to `variant` while loading. Absent if they run as they are in the file.",
        ),
      unreadable: z
        .array(z.strictObject({ variant: z.string(), reason: z.string() }))
        .optional()
        .describe("Variants that could not be read and were left out, with the reason. Absent if all could be read."),
      digest: z.string().optional().describe(`Digest, "sha256:…", of the variant's main file. Absent if nothing was loaded.`),
    }),
    constraints: z.strictObject({
      policy: z.enum(policies),
      preferred: z.array(z.string()),
      required: z.array(z.string()),
      excluded: z.array(z.string()),
    }),
    candidates: z.array(candidate).describe("All targets considered, in the order of preference."),
    selected: selected.nullable().describe("The selected target and engine; null if nothing was loaded."),
  })
  .describe("The record of one selection. Plain data that survives JSON.");

/** The schemas of decisions by the names of their types. */
export const decisionTypes: Readonly<Record<string, z.ZodType>> = {
  SelectionStage: selectionStage,
  Verdict: verdict,
  Candidate: candidate,
  Selected: selected,
  Decision: decision,
};

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
