import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aimodSchema } from "./aimod/schema.ts";
import * as vocabulary from "./aimod/vocabulary.ts";
import { termiteSchema } from "./termite/schema.ts";
import { modelTypes } from "./termite/model-types.ts";
import { variantClaims } from "./termite/termite-json.ts";

const page = readFileSync(new URL("../../docs/reference/foreign-manifests.md", import.meta.url), "utf8");
const section = (title: string): string => page.split(/^## /m).find((part) => part.startsWith(title)) ?? "";

/** The rows of the section's first table: field -> the rest of its row. */
function rows(title: string): Map<string, string> {
  const [table = ""] = /(^\|.*\n)+/m.exec(section(title)) ?? [];
  const found = table.split("\n").flatMap((line) => {
    const [, field, rest] = /^\| `([^`]+)` \|(.*)$/.exec(line) ?? [];
    return field === undefined ? [] : [[field, rest ?? ""] as const];
  });
  return new Map(found);
}

/** Every field of a schema, with the path a person would write. */
function fieldsOf(schema: z.ZodType, prefix = ""): string[] {
  if (schema instanceof z.ZodExactOptional || schema instanceof z.ZodOptional)
    return fieldsOf(schema.unwrap() as z.ZodType, prefix);
  if (schema instanceof z.ZodArray) return fieldsOf(schema.element as z.ZodType, `${prefix}[]`);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([key, inner]) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    return [path, ...fieldsOf(inner as z.ZodType, path)];
  });
}

describe("docs/reference/foreign-manifests.md", () => {
  it.each([
    ["Termite", termiteSchema, 15],
    ["Kapsl", aimodSchema, 26],
  ])("has a row for every field of %s, in order, and for no other", (title, schema, count) => {
    const fields = fieldsOf(schema);
    expect([...rows(title).keys()]).toEqual(fields);
    expect(fields).toHaveLength(count);
  });

  it.each([
    ["framework", [...vocabulary.formatOfFramework.keys()]],
    ["task", [...vocabulary.tasksByKapslTask.keys()]],
    ["hardware_requirements.required_precision", vocabulary.kapslPrecisions],
    ["hardware_requirements.graph_optimization_level", [...vocabulary.optimizationOfLevel.keys()]],
    ["hardware_requirements.strategy", [...vocabulary.strategies.keys()]],
  ])("names every value of %s", (field, words: readonly string[]) => {
    const row = rows("Kapsl").get(field) ?? "";
    for (const word of words) expect(row).toContain(`\`${word}\``);
  });

  it.each(["Termite", "Kapsl"])("quotes the refusals of %s as the code says them", (title) => {
    const folder = new URL(title === "Termite" ? "termite/" : "aimod/", import.meta.url);
    const files = readdirSync(folder).filter((file) => !file.endsWith(".test.ts"));
    const code = files.map((file) => readFileSync(new URL(file, folder), "utf8")).join("\n");
    const refusals = [...rows(title).values()].map((row) => row.split("|")[1] ?? "");
    const quoted = refusals.flatMap((refusal) => [...refusal.matchAll(/`([^`]{12,})`/g)].map(([, text = ""]) => text));
    // "…" stands for what differs; "MODEL_..." is a code.
    const pieces = quoted
      .filter((text) => !text.startsWith("MODEL_"))
      .flatMap((text) => text.split("…").map((part) => part.trim()));
    expect(pieces.length).toBeGreaterThan(10);
    for (const piece of pieces) expect(code).toContain(piece);
  });

  it("names every provider, mode, type and variant", () => {
    const kapsl = [...vocabulary.kapslProviders, ...vocabulary.isolationModes];
    for (const word of kapsl) expect(section("Kapsl"), word).toContain(`\`${word}\``);
    for (const word of [...modelTypes, ...variantClaims.keys()]) expect(section("Termite"), word).toContain(`| \`${word}\``);
  });
});
