/** Fields of texts with tags against transformers: scripts/goldens/images/donut.py makes them. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readTokenFields } from "./token-fields.ts";

interface Goldens {
  readonly added: readonly string[];
  readonly cases: readonly { readonly text: string; readonly fields: unknown }[];
}

const { added, cases } = JSON.parse(readFileSync(new URL("token-fields-goldens.json", import.meta.url), "utf8")) as Goldens;

describe("fields in a text with tags", () => {
  it.each(cases.map(({ text, fields }) => [text, fields] as const))("of %j are those of transformers", (text, fields) => {
    expect(JSON.stringify(readTokenFields(text, new Set(added)))).toBe(JSON.stringify(fields));
  });
});
