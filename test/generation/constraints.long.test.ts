/**
 * What a model with random weights writes under constraints: it knows nothing, so that only the constraint makes its text fit. Schemas are validated by
 * ajv, expressions by JavaScript's own, grammars by a recognizer of their trees.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type ModelHandle, type Runtime, type TextConstraint, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

const [skip, title] = needsData("constrained texts");

/** Random choices that are the same in every run. */
class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2_654_435_761 + 1;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((this.#state ^ (this.#state >>> 13)) >>> 0) % limit;
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}

const formats = ["date", "time", "date-time", "uuid", "ipv4", "ipv6", "duration"];
const patterns = ["^[a-z]{2,5}$", "^\\d{3}-\\d{4}$", "^(yes|no)$", "a+b", "^[A-Z][a-z]*$", "^é{1,3}$", "^$|^x"];

/** A schema that some values are valid for. */
function randomSchema(choices: Choices, depth: number): object | boolean {
  const leaves: (() => object | boolean)[] = [
    () => ({ type: "null" }),
    () => ({ type: "boolean" }),
    () => ({ type: "integer", minimum: -choices.below(100), maximum: choices.below(2000) }),
    () => ({ type: "integer", exclusiveMinimum: choices.below(50), multipleOf: choices.of([1, 2, 5, 10]) }),
    () => ({ type: "number", minimum: -1.5, exclusiveMaximum: choices.below(30) }),
    () => ({ type: "string", minLength: choices.below(3), maxLength: 3 + choices.below(6) }),
    () => ({ type: "string", pattern: choices.of(patterns), maxLength: 12 }),
    () => ({ type: "string", format: choices.of(formats) }),
    () => ({ enum: [1, 'a"b', null, { k: [1, "é"] }, ["x"]].slice(choices.below(4)) }),
    () => ({ const: choices.of([0, "", "tab\t", { a: { b: false } }, [[], {}]]) }),
    () => ({ type: ["integer", "string"], maximum: 20, maxLength: 4 }),
  ];
  const inner = (): object | boolean => randomSchema(choices, depth - 1);
  const nodes: (() => object | boolean)[] = [
    () => {
      const names = ["id", "name", "a b", "é", "$x", "tags"].slice(0, 1 + choices.below(5));
      return {
        type: "object",
        properties: Object.fromEntries(names.map((name) => [name, inner()])),
        required: names.filter(() => choices.below(2) === 0),
        additionalProperties: choices.of([false, false, inner()]),
        maxProperties: names.length + 1,
      };
    },
    () => ({ type: "array", items: inner(), minItems: choices.below(3), maxItems: 2 + choices.below(3) }),
    () => ({ type: "array", prefixItems: [inner(), inner()], items: false, minItems: 2 }),
    () => ({ anyOf: [inner(), inner()] }),
    () => ({
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "a" }, value: inner() },
          required: ["kind", "value"],
          additionalProperties: false,
        },
        { type: "object", properties: { kind: { const: "b" } }, required: ["kind"], additionalProperties: false },
      ],
    }),
    () => ({ allOf: [{ type: "integer", minimum: 3 }, { maximum: 3 + choices.below(90) }] }),
    () => ({ $ref: "#/$defs/node" }),
  ];
  return depth === 0 ? choices.of(leaves)() : choices.below(4) === 0 ? choices.of(leaves)() : choices.of(nodes)();
}

function randomDocument(seed: number): object {
  const choices = new Choices(seed);
  const root = randomSchema(choices, 1 + (seed % 3));
  const node = {
    type: "object",
    properties: {
      value: { type: "integer", minimum: 0, maximum: 9 },
      next: { anyOf: [{ type: "null" }, { $ref: "#/$defs/node" }] },
    },
    required: ["value", "next"],
    additionalProperties: false,
  };
  return { $defs: { node }, ...(typeof root === "object" ? root : {}) };
}

/** An expression, each part of which JavaScript and the engine read. */
function randomExpression(choices: Choices, depth: number): string {
  const inner = (): string => randomExpression(choices, depth - 1);
  const atoms = ["a", "[b-f]", "\\d", "é", "[^x\\n]", "\\w", "ab", "😀", "\\.", "\\s", "[\\u0400-\\u040f]"];
  if (depth === 0) return choices.of(atoms);
  const forms: (() => string)[] = [
    () => inner() + inner(),
    () => `(?:${inner()}|${inner()})`,
    () => `(?:${inner()}){1,3}`,
    () => `(?:${inner()})?${inner()}`,
    () => `(?:${inner()})+`,
    () => `(${inner()})*${choices.of(atoms)}`,
  ];
  return choices.of(forms)();
}

/** A grammar as a tree. Rules refer to later ones, and to any behind a terminal. */
type Tree =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "class"; readonly from: string; readonly to: string }
  | { readonly kind: "rule"; readonly rule: number }
  | { readonly kind: "all"; readonly items: readonly Tree[] }
  | { readonly kind: "any"; readonly items: readonly Tree[] }
  | { readonly kind: "times"; readonly item: Tree; readonly mark: "?" | "*" | "+" };

function randomGrammar(seed: number): readonly Tree[] {
  const choices = new Choices(seed);
  const count = 2 + choices.below(4);
  const terminal = (): Tree =>
    choices.of<() => Tree>([
      () => ({ kind: "text", text: choices.of(["x", "if ", "é", "(", "\n", '"'] as const) }),
      () => ({ kind: "class", from: "a", to: choices.of(["c", "z"] as const) }),
    ])();
  const tree = (rule: number, depth: number): Tree => {
    const inner = (): Tree => tree(rule, depth - 1);
    if (depth === 0)
      return rule + 1 < count && choices.below(2) === 0
        ? { kind: "rule", rule: rule + 1 + choices.below(count - rule - 1) }
        : terminal();
    return choices.of<() => Tree>([
      () => ({ kind: "all", items: [inner(), inner()] }),
      () => ({ kind: "any", items: [inner(), inner()] }),
      // Recursion, behind a terminal, with a way out.
      () => ({
        kind: "any",
        items: [
          terminal(),
          {
            kind: "all",
            items: [
              { kind: "text", text: "(" },
              { kind: "rule", rule: choices.below(count) },
              { kind: "text", text: ")" },
            ],
          },
        ],
      }),
      () => ({ kind: "times", item: terminal(), mark: choices.of(["?", "*", "+"] as const) }),
    ])();
  };
  return Array.from({ length: count }, (_, rule) => tree(rule, 2));
}

function gbnfOf(tree: Tree): string {
  if (tree.kind === "text") return JSON.stringify(tree.text);
  if (tree.kind === "class") return `[${tree.from}-${tree.to}]`;
  if (tree.kind === "rule") return tree.rule === 0 ? "root" : `r${tree.rule}`;
  if (tree.kind === "times") return `(${gbnfOf(tree.item)})${tree.mark}`;
  return `(${tree.items.map(gbnfOf).join(tree.kind === "all" ? " " : " | ")})`;
}

/** Whether the first rule reads all of a text: by the ends that each part may have from each place. */
function reads(rules: readonly Tree[], text: string): boolean {
  const known = new Map<Tree, Map<number, ReadonlySet<number>>>();
  const endsOf = (tree: Tree, start: number): ReadonlySet<number> => {
    const own = known.get(tree) ?? new Map<number, ReadonlySet<number>>();
    known.set(tree, own);
    const ends = own.get(start) ?? compute(tree, start);
    own.set(start, ends);
    return ends;
  };
  const compute = (tree: Tree, start: number): ReadonlySet<number> => {
    if (tree.kind === "text") return new Set(text.startsWith(tree.text, start) ? [start + tree.text.length] : []);
    if (tree.kind === "class")
      return new Set(text.charAt(start) >= tree.from && text.charAt(start) <= tree.to && start < text.length ? [start + 1] : []);
    if (tree.kind === "rule") return endsOf(rules[tree.rule]!, start);
    if (tree.kind === "any") return new Set(tree.items.flatMap((item) => [...endsOf(item, start)]));
    if (tree.kind === "all") {
      let ends = new Set([start]);
      for (const item of tree.items) ends = new Set(Array.from(ends).flatMap((end) => [...endsOf(item, end)]));
      return ends;
    }
    const ends = new Set(tree.mark === "+" ? [] : [start]);
    const open = [start];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      for (const end of endsOf(tree.item, place)) {
        if (!ends.has(end)) open.push(end);
        ends.add(end);
        if (tree.mark === "?") open.length = 0;
      }
    }
    return ends;
  };
  return endsOf(rules[0]!, 0).has(text.length);
}

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "constraints-"));
  let runtime: Runtime;
  const models: ModelHandle[] = [];
  const biases: Readonly<Record<number, number>>[] = [];

  beforeAll(async () => {
    runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    for (const name of ["tiny-random-llama", "tiny-random-qwen2", "tiny-random-gemma"]) {
      const own = join(folder, name);
      cpSync(`${sharedData}${name}`, own, { recursive: true });
      const config = JSON.parse(readFileSync(join(own, "config.json"), "utf8")) as Record<string, unknown>;
      writeFileSync(join(own, "config.json"), JSON.stringify({ ...config, max_position_embeddings: 1024 }));
      const model = await runtime.load(own, { kind: "language" });
      const tokenizer = await runtime.tokenizer(model);
      // Strings and lists come to an end.
      const closing = Array.from({ length: tokenizer.vocabularySize }, (_, id) => id).filter((id) =>
        /["}\]]/.test(tokenizer.idToToken(id) ?? ""),
      );
      models.push(model);
      biases.push(Object.fromEntries(closing.map((id) => [id, 4])));
    }
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  /** The finished texts, and the share of texts that did not finish. */
  async function textsOf(constraints: readonly TextConstraint[]): Promise<readonly (string | undefined)[]> {
    const all: (string | undefined)[] = [];
    for (let start = 0; start < constraints.length; start += 10) {
      const part = constraints.slice(start, start + 10).map(async (constraint, index) => {
        const seed = start + index;
        const place = seed % models.length;
        const { results } = await runtime.generate("Hello", {
          model: models[place]!,
          constraint,
          seed,
          temperature: 1,
          maxNewTokens: 400,
          logitBias: biases[place]!,
        });
        return results[0]!.finishReason === "stop" ? results[0]!.text : undefined;
      });
      all.push(...(await Promise.all(part)));
    }
    return all;
  }

  const counts = { schemas: amount(500, 60), expressions: amount(200, 30), grammars: amount(50, 20) };

  it(`${counts.schemas} random schemas: every finished text is valid`, async () => {
    const schemas = Array.from({ length: counts.schemas }, (_, seed) => randomDocument(seed));
    const texts = await textsOf(schemas.map((schema) => ({ type: "schema", schema })));
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const wrong = schemas.flatMap((schema, index) => {
      const text = texts[index];
      const isValid = text === undefined || ajv.validate(schema, JSON.parse(text));
      return isValid ? [] : [{ schema: JSON.stringify(schema), text, errors: ajv.errorsText() }];
    });
    expect(wrong).toEqual([]);
    expect(texts.filter((text) => text !== undefined).length).toBeGreaterThan(0.9 * counts.schemas);
  });

  it(`${counts.expressions} random expressions: every finished text matches`, async () => {
    const patterns = Array.from({ length: counts.expressions }, (_, seed) => randomExpression(new Choices(seed), 1 + (seed % 3)));
    const texts = await textsOf(patterns.map((pattern) => ({ type: "regex", pattern })));
    const wrong = patterns.flatMap((pattern, index) => {
      const text = texts[index];
      return text === undefined || new RegExp(`^(?:${pattern})$`, "u").test(text) ? [] : [{ pattern, text }];
    });
    expect(wrong).toEqual([]);
    expect(texts.filter((text) => text !== undefined).length).toBeGreaterThan(0.75 * counts.expressions);
  });

  it(`${counts.grammars} random grammars: every finished text is read by them`, async () => {
    const grammars = Array.from({ length: counts.grammars }, (_, seed) => randomGrammar(seed));
    const written = grammars.map((rules) =>
      rules.map((tree, rule) => `${rule === 0 ? "root" : `r${rule}`} ::= ${gbnfOf(tree)}`).join("\n"),
    );
    const texts = await textsOf(written.map((grammar) => ({ type: "grammar", grammar })));
    const wrong = grammars.flatMap((rules, index) => {
      const text = texts[index];
      return text === undefined || reads(rules, text) ? [] : [{ grammar: written[index], text }];
    });
    expect(wrong).toEqual([]);
    expect(texts.filter((text) => text !== undefined).length).toBeGreaterThan(0.8 * counts.grammars);
  });
});
