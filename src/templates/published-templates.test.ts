/** Published chat templates, and corners of the language that they use, held against what Jinja2 makes of them. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Template, parseTemplate, renderTemplate } from "./template.ts";

const folder = fileURLToPath(new URL("../../../shared/data/chat-templates/", import.meta.url));

interface Expectation {
  readonly name: string;
  readonly expected?: string;
}

interface PublishedTemplate {
  readonly name: string;
  readonly template: string;
  readonly cases: readonly (Expectation & { readonly context: object })[];
}

interface Snippets {
  readonly snippets: readonly (Expectation & { readonly template: string })[];
}

const refused = Symbol("refused");
const now = new Date(2026, 10, 26, 12, 0);

/** The text, or that there is none. */
function outcome(template: Template, variables: string): string | symbol {
  try {
    return renderTemplate(template, variables, { now });
  } catch {
    return refused;
  }
}

describe.skipIf(!existsSync(folder))("Jinja2 and this interpreter make the same", () => {
  it("of 85 published templates in nine conversations", () => {
    const lines = readFileSync(`${folder}templates.jsonl`, "utf8").trim().split("\n");
    const different = lines.flatMap((line) => {
      const { name, template, cases } = JSON.parse(line) as PublishedTemplate;
      const parsed = parseTemplate(template);
      return cases.flatMap(({ name: conversation, context, expected = refused }) => {
        const common = { bos_token: "<s>", eos_token: "</s>", add_generation_prompt: true, tools: null };
        const text = outcome(parsed, JSON.stringify({ ...common, ...context }));
        return text === expected ? [] : [`${name}: ${conversation}`];
      });
    });
    expect(different).toEqual([]);
    expect(lines).toHaveLength(85);
  });

  it("of 84 snippets", () => {
    const file = readFileSync(`${folder}snippets.json`, "utf8");
    // As it is written, since JSON.parse would change integers and the order of keys.
    const context = /"context": (\{.*?\n \}),\n "snippets"/s.exec(file)?.[1] ?? "";
    const { snippets } = JSON.parse(file) as Snippets;
    const different = snippets.flatMap(({ name, template, expected = refused }) =>
      outcome(parseTemplate(template), context) === expected ? [] : [name],
    );
    expect(different).toEqual([]);
    expect(snippets).toHaveLength(84);
  });
});
