/**
 * Reads known answers (reference embeddings) from a JSON file: `{ "items": [{ "text", "embedding" or "embedding_normalized" }] }`, where an
 * embedding is base64 of little-endian float32 values.
 */
import * as z from "zod";
import { InferyardError, getMessage, invalidInput } from "../../contract/errors.ts";
import type { ManifestKnownAnswer } from "../../models/manifest.ts";
import { schemaProblems } from "../../models/validation/schema-problems.ts";

const item = z.object({ text: z.string(), embedding: z.string().optional(), embedding_normalized: z.string().optional() });
const file = z.object({ items: z.array(item).min(1) });

/** Default maximum difference of a component. Two correct fp32 engines differ by less (measured: 2.4e-7 on MiniLM). */
const defaultTolerance = 1e-5;

/**
 * Parses the text of a known-answer file. `embedding_normalized` is preferred to `embedding`. `path` is for error messages; `tolerance` is the
 * maximum absolute difference of a component. Throws INPUT_INVALID for a file that does not have this form.
 */
export function readAnswers(text: string, path: string, tolerance: number = defaultTolerance): ManifestKnownAnswer[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${path} is not JSON: ${getMessage(error)}`, { cause: error });
  }
  const problems = schemaProblems(file, json);
  if (problems.length > 0) {
    throw invalidInput(
      `${path} is not a file of known answers: ${problems.join("; ")}`,
      "docs/guide/verifying.md shows the form",
    );
  }
  return file.parse(json).items.map(({ text: input, embedding_normalized: normalized, embedding = normalized }, index) => {
    const encoded = normalized ?? embedding;
    if (encoded === undefined) throw invalidInput(`${path}: item ${index} has no embedding`);
    return { text: input, embedding: toFloats(encoded, `${path}: item ${index}`), tolerance };
  });
}

function toFloats(encoded: string, where: string): Float32Array {
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.length === 0 || bytes.length % 4 !== 0) throw invalidInput(`${where}: the embedding is not base64 of float32 values`);
  return Float32Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(index * 4));
}
