/**
 * The schema of Termite's model_manifest.json, versions 1 and 2, as antflydb/termite writes it (pkg/termite/lib/modelregistry/manifest.go).
 * docs/reference/foreign-manifests.md documents each field; a test compares the two.
 */
import * as z from "zod";
import type { TermiteFile, TermiteJson, TermiteVariant } from "./termite-json.ts";
import { isModelType, modelTypes } from "./model-types.ts";

const file = z.strictObject({
  name: z.string().min(1),
  digest: z.string().regex(/^sha256:[0-9a-fA-F]{64}$/, 'must be "sha256:" and 64 hexadecimal digits'),
  size: z.int().nonnegative().exactOptional(),
});

/** The schema of a list of files in Termite's manifest: `files` of the manifest, or the files of one variant. */
export const termiteFilesSchema: z.ZodType<readonly TermiteFile[]> = z.array(file).min(1, "must name at least one file");

/** A variant has one of three forms. Its files are checked separately, since a union would report every problem as "invalid input". */
const variant = z.custom<TermiteVariant>(
  (value) => typeof value === "object" && value !== null,
  'must be a file, a list of files, or { "files": [...] }',
);

const list = z.array(z.string()).exactOptional();

/** The schema of model_manifest.json, the manifest of Termite. Unknown fields are errors. */
export const termiteSchema: z.ZodType<TermiteJson> = z.strictObject({
  schemaVersion: z.union([z.literal(1), z.literal(2)], "must be 1 or 2: this version reads no other"),
  name: z.string().min(1),
  source: z.string().exactOptional(),
  owner: z.string().exactOptional(),
  type: z.string().refine(isModelType, `must be one of ${modelTypes.join(", ")}`),
  description: z.string().exactOptional(),
  capabilities: list,
  files: termiteFilesSchema,
  variants: z.record(z.string(), variant).exactOptional(),
  backends: list,
  session_options: z.unknown().exactOptional(),
  provenance: z.unknown().exactOptional(),
});
