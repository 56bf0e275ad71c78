/**
 * The commands and programs of one page for each area (fixtures/doc-sample.ts), run as they stand: what they print is what the pages show. The
 * other pages run in docs-commands.long.test.ts. Of all pages, fragments of programs are compiled, settings and manifests checked. CONTRIBUTING.md
 * ("Documentation") has the convention.
 */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { inferyardSchema } from "../../src/models/inferyard-json/schema.ts";
import { settingsSchema } from "../../src/settings/schema.ts";
import { type DocBlock, actionOf, blocksOf, commandsOf, docPages, marksOf } from "./fixtures/doc-blocks.ts";
import { fragmentProblems } from "./fixtures/doc-fragments.ts";
import { sameLine, sameOutput } from "./fixtures/doc-output.ts";
import { runPage } from "./fixtures/doc-run.ts";
import { quickPages } from "./fixtures/doc-sample.ts";
import { wordsOf } from "./fixtures/doc-session.ts";
import { needsData } from "../fixtures/shared-data.ts";

const allBlocks = docPages.flatMap((page) => blocksOf(page));
const [skip, name] = needsData("the commands and programs of");

describe.skipIf(skip)(name, () => {
  it.each(quickPages())("%s print what it shows", async (page) => {
    expect(await runPage(page, false)).toEqual([]);
  });
});

it("every block has a language and something that is done with it, or says why not", () => {
  expect(allBlocks.length).toBeGreaterThan(150);
  expect(allBlocks.flatMap((block) => commandsOfRun(block)).length).toBeGreaterThan(70);
});

function commandsOfRun(block: DocBlock): readonly unknown[] {
  return actionOf(block) === "run" ? commandsOf(block) : [];
}

it("fragments of programs have the types of the package", () => {
  const fragments = allBlocks.filter((block) => actionOf(block) === "fragment");
  expect(fragments.length).toBeGreaterThan(15);
  expect(fragmentProblems(fragments)).toEqual([]);
});

it.each(allBlocks.filter(({ language }) => language === "yaml").map((block) => [`${block.page}:${block.line}`, block] as const))(
  "the settings of %s are settings",
  (_where, { lines }) => {
    expect(settingsSchema.safeParse(parse(lines.join("\n"))).error?.issues).toBeUndefined();
  },
);

it.each(allBlocks.filter(({ language }) => language === "json").map((block) => [`${block.page}:${block.line}`, block] as const))(
  "the JSON of %s is JSON, and a manifest where it is one",
  (_where, { lines }) => {
    const text = lines.join("\n");
    const json = JSON.parse(/^[[{]/.test(text) ? text : `{${text}}`) as Record<string, unknown>;
    const isManifest = "probe" in json || String(json["$schema"]).endsWith("/schemas/inferyard.json");
    expect(isManifest ? inferyardSchema.safeParse(json).error?.issues : undefined).toBeUndefined();
  },
);

describe("the convention", () => {
  const block = (text: string): DocBlock => blocksOf("page.md", text)[0]!;
  const fence = "```";

  it.each([
    ["a block without a language", `${fence}\n$ inferyard list\n${fence}`, /page\.md:1: "" is none of console/],
    ["a shell that is not run", `${fence}bash\ninferyard list\n${fence}`, /"bash" is none of/],
    ["a command that is called text", `${fence}text\n$ inferyard list\n${fence}`, /commands stand in console or sh/],
  ])("refuses %s", (_name, text, message) => {
    expect(() => actionOf(block(text))).toThrow(message);
  });

  it.each([
    [`${fence}console\n$ inferyard list\n${fence}`, "run"],
    [`<!-- not run: it needs a GPU -->\n${fence}console\n$ inferyard list\n${fence}`, "none"],
    [`<!-- output varies: times -->\n\n${fence}sh\ninferyard list\n${fence}`, "run"],
    [`<!-- file: a.json -->\n${fence}json\n{}\n${fence}`, "file"],
    [`${fence}js\nimport { pipeline } from "inferyard";\n${fence}`, "program"],
    [`${fence}js\nimport OpenAI from "openai";\n${fence}`, "none"],
    [`${fence}js\nawait runtime.embed(texts);\n${fence}`, "fragment"],
  ])("%j: %s", (text, action) => {
    expect(actionOf(block(text))).toBe(action);
  });

  it("reads marks, and the output after a program", () => {
    expect(marksOf("long suite; output varies: speed; and memory")).toEqual({ long: true, outputVaries: "speed; and memory" });
    expect(marksOf("begin of a table")).toBeUndefined();
    expect(() => marksOf("not run")).toThrow("is no mark");
    const blocks = blocksOf(
      "page.md",
      `${fence}js\nimport "inferyard";\n${fence}\n\n${fence}text\n1\n${fence}\nprose\n${fence}text\n2\n${fence}`,
    );
    expect(blocks.map((each) => actionOf(each)).slice(1)).toEqual(["output", "none"]);
  });

  it("takes commands apart, and leaves those of a shell to a shell", () => {
    const command = String.raw`INFERYARD_THREADS=1 npx inferyard embed "a \"cat\"" 'X=["a"]' --json`;
    expect(wordsOf(command)).toEqual({
      words: ["npx", "inferyard", "embed", 'a "cat"', 'X=["a"]', "--json"],
      variables: { INFERYARD_THREADS: "1" },
    });
    expect(["inferyard list > a", "cat a | inferyard embed", "inferyard embed $A"].map(wordsOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([
    ["1 text in 0.3 ms", "1 text in 16.2 s", true],
    ["a cat   [ 0.0617, … ]", "a cat  [ 0.0618,  0.0415, … ]", true],
    ["a cat   [ 0.0617, … ]", "a cat  [ 0.0627,  0.0415, … ]", false],
    ['{"a":0.2707339823246002,...', '{"a":0.27073398,"b":1}', true],
    ["2 texts", "3 texts", false],
    ["onnxruntime-node 1.30.0, fp32", "onnxruntime-node 1.31.0, fp32", true],
    ["onnx:cpu  would run", "onnx:cpu refused", false],
  ])("%j and %j: %s", (shown, printed, same) => {
    expect(sameLine(shown, printed)).toBe(same);
  });

  it("a line of three dots is any number of lines", () => {
    expect(sameOutput(["a", "...", "d"], ["a", "b", "c", "d"])).toBe(true);
    expect(sameOutput(["a", "..."], ["a"])).toBe(true);
    expect(sameOutput(["a", "...", "e"], ["a", "b"])).toBe(false);
    expect(sameOutput(["a"], ["a", "b"])).toBe(false);
  });
});
