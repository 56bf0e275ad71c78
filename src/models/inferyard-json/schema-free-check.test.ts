import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "../../../test/fixtures/slow.ts";
import { isPlainInferyardJson } from "./schema-free-check.ts";
import { inferyardSchema } from "./schema.ts";

const builtin = JSON.parse(readFileSync(new URL("../../../builtin/inferyard.json", import.meta.url), "utf8")) as object;

/** Values near the limits of the schema, and of every type. */
const leaf = fc.oneof(
  fc.constantFrom<unknown>("", "a", "onnx", "fp32", "mean", "hf:a/b", "AA==", "AAA=", "AAAA", "A===", "====", "AAA\n", "int8\n"),
  fc.constantFrom<unknown>(0, -0, 1, -1, 0.5, 512, 2 ** 53, Infinity, null, true, false),
  fc.stringMatching(/^[0-9a-fA-F]{63,65}$/),
);
const names = fc.constantFrom(
  "$schema",
  "name",
  "tasks",
  "variants",
  "tokenizer",
  "pooling",
  "normalize",
  "maxTokens",
  "specialTokens",
  "dropUnknown",
  "prompts",
  "defaultPrompt",
  "backends",
  "preferred",
  "fallbacks",
  "requirements",
  "license",
  "provenance",
  "probe",
  "texts",
  "inputs",
  "text",
  "embedding",
  "tolerance",
  "file",
  "format",
  "precision",
  "sha256",
  "size",
  "architecture",
  "aliases",
  "",
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4 }),
  ),
}));

/** A valid file with one value, at any depth, replaced or removed. */
const altered = fc.tuple(fc.nat(), fc.option(anyValue, { nil: undefined })).map(([seed, value]) => {
  const copy: unknown = structuredClone({ ...builtin, prompts: { query: "q: " }, provenance: undefined });
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const visit = (holder: Record<string, unknown>): void => {
    for (const [key, child] of Object.entries(holder)) {
      places.push([holder, key]);
      if (typeof child === "object" && child !== null) visit(child as Record<string, unknown>);
    }
  };
  visit(copy as Record<string, unknown>);
  const [holder, key] = places[seed % places.length]!;
  if (value === undefined && !Array.isArray(holder)) delete holder[key];
  else holder[key] = value;
  return JSON.parse(JSON.stringify(copy)) as unknown;
});

describe("the check of inferyard.json that needs no schema library", () => {
  it("accepts the file of the built-in model", () => expect(isPlainInferyardJson(builtin)).toBe(true));

  it("accepts nothing that the schema refuses", () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(altered, fc.dictionary(names, anyValue)), (value) => {
        if (!isPlainInferyardJson(value)) return;
        accepted++;
        expect(inferyardSchema.safeParse(value).success).toBe(true);
      }),
      { numRuns: amount(5000, 1000) },
    );
    expect(accepted).toBeGreaterThan(amount(500, 50));
  });
});
