/** What the documents say is what the project has. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", ...pagesIn("docs")];

function pagesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md") && !path.startsWith("reference/api/")) // generated, with a check of its own
    .map((path) => join(folder, path));
}

describe("writing a backend", () => {
  it.each(["backend.mjs", "conformance.test.mjs"])("the guide shows examples/writing-a-backend/%s as it stands", (file) => {
    expect(read("docs/guide/writing-a-backend.md")).toContain(`\`\`\`js\n${read(`examples/writing-a-backend/${file}`)}\`\`\``);
  });

  it("the example passes the conformance suite", () => {
    const output = execFileSync(process.execPath, ["--test", "examples/writing-a-backend/conformance.test.mjs"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(output).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThan(20);
  });
});

it("the guide to custom processors shows examples/magika/features.ts as it stands", () => {
  expect(read("docs/guide/custom-processors.md")).toContain(`\`\`\`ts\n${read("examples/magika/features.ts")}\`\`\``);
});

describe("every page", () => {
  it.each(pages)("%s has links that lead somewhere, and no marker left to fill in", (page) => {
    const text = read(page);
    expect(text).not.toMatch(/\{\{[A-Z_0-9]+\}\}/);
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
      expect(existsSync(join(root, dirname(page), target)), `${page} -> ${target}`).toBe(true);
    }
  });
});

it("docs/reference/dependencies.md has a line for every package we name", () => {
  const { dependencies, devDependencies, peerDependencies } = JSON.parse(read("package.json")) as Record<
    string,
    Record<string, string>
  >;
  const text = read("docs/reference/dependencies.md");
  for (const name of Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }))
    expect(text).toContain(`\`${name}\``);
});
