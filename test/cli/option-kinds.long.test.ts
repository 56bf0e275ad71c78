/**
 * An option of each kind, as a flag, a variable, a setting of inferyard.yaml and a field of a request, with models that run: the built program obeys it. All
 * options are in tables: test/cli/every-flag.test.ts, test/cli/every-setting.test.ts, test/tasks/every-option.test.ts.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type CommandOptions,
  type CommandResult,
  inferyard,
  ownEnvironment,
  useDirectory,
} from "../fixtures/processes/command-line.ts";
import { type ServerHere, ServersHere } from "../fixtures/processes/server-here.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-option-kinds-"));
afterAll(() => rmSync(folder, { recursive: true }));
useDirectory(folder);
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const gpt2 = `${sharedData}tiny-random-gpt2`;
const t5 = `${sharedData}tiny-random-t5`;
const nli = `${sharedData}tiny-bert-nli-untrained`;

/** What a command prints, without times and the records of decisions. */
async function printed(args: readonly string[], options: CommandOptions = {}): Promise<object> {
  const { code, stdout } = await inferyard([...args, "--json"], { directory: folder, ...options });
  const { decision: _decision, ...said } = JSON.parse(stdout) as { decision?: object; error?: { code: string } };
  return { code, ...(said.error === undefined ? said : { error: said.error.code }) };
}

const known = new Map<string, Promise<object>>();

/** The same of a command line that several flags or settings stand on. */
function printedOnce(args: readonly string[]): Promise<object> {
  const key = JSON.stringify(args);
  const said = known.get(key) ?? printed(args);
  known.set(key, said);
  return said;
}

/** A flag: a word for its kind, the command line that it is added to, and the code of the error that it leads to, if any. */
type FlagCase = readonly [kind: string, on: readonly string[], flag: readonly string[], fails?: string];

const onBuiltin: readonly FlagCase[] = [
  ["an integer", ["embed", "a"], ["--dimensions", "4"]],
  ["a choice", ["similarity", "a cat", "stocks"], ["--metric", "euclidean"]],
  ["a boolean", ["similarity", "a cat", "stocks", "--metric", "dot"], ["--no-normalize"]],
  ["a number", ["chunk", "A cat. A kitten. The stock market. Shares.", "--strategy", "semantic"], ["--threshold", "0.99"]],
  ["a list", ["chunk", "One, two; three. ".repeat(20), "--target-tokens", "10"], ["--separators", "words"]],
  ["several texts", ["similarity", "a cat", "stocks"], ["--to", "a kitten", "rain"]],
  ["a file of texts", ["embed"], ["--input", file("texts.txt", "one\ntwo\n")]],
  ["targets", ["embed", "a"], ["--target", "onnx:cpu"], "BACKEND_UNAVAILABLE"],
  ["a size", ["embed", "a"], ["--max-memory", "1KB"], "NO_BACKEND"],
  ["a name of weights", ["embed", "a"], ["--variant", "none-such"], "MODEL_NOT_FOUND"],
];
const onModels: readonly FlagCase[] = [
  [
    "texts, one at each use",
    ["generate", "--model", gpt2, "Once upon a time", "--max-new-tokens", "8"],
    ["--stop", "zz", "--stop", "her"],
  ],
  [
    "a file",
    ["generate", "--model", gpt2, "Once upon a time", "--max-new-tokens", "8"],
    ["--schema", file("schema.json", '{ "type": "integer" }')],
  ],
  [
    "a negated boolean",
    ["rewrite", "--model", t5, "why?", "--ignore-end-tokens", "--max-new-tokens", "20"],
    ["--no-skip-special-tokens"],
  ],
  ["a text", ["rewrite", "--model", t5, "world", "--max-new-tokens", "6"], ["--prefix", "sum: "]],
  ["labels", ["classify", "--model", nli, "a text"], ["--labels", "sports,politics"]],
  ["a model beside", ["generate", "--model", gpt2, "Once upon a time", "--max-new-tokens", "20"], ["--draft-model", gpt2]],
];

const named = ([kind, on, flag, fails]: FlagCase) => ({ kind, on, flag, fails });

async function expectEffect({ on, flag, fails }: ReturnType<typeof named>): Promise<void> {
  const [without, given] = [await printedOnce(on), await printed([...on, ...flag])];
  expect(given).not.toEqual(without);
  expect([without, given]).toMatchObject([{ code: 0 }, fails === undefined ? { code: 0 } : { error: fails }]);
}

describe("a flag", () => {
  it.each(onBuiltin.map(named))("of $kind", expectEffect);

  it("of the program: --config, --quiet and --debug change settings, notes and errors", async () => {
    const run = (...args: string[]): Promise<CommandResult> => inferyard(args, { directory: folder });
    const other = file("other.yaml", "model: ./none\n");
    expect((await run("embed", "a")).stderr).not.toBe("");
    expect(await run("embed", "a", "--quiet")).toMatchObject({ code: 0, stderr: "" });
    expect(await run("embed", "a", "--config", other)).toMatchObject({ code: 1 });
    expect((await run("embed", "a", "--config", other, "--debug")).stderr).toContain("    at ");
  });
});

/** Settings of each kind that no program obeys without a word: what the same command says with each. */
const settings: readonly (readonly [name: string, text: string | undefined, value: unknown, said: object])[] = [
  ["target", "onnx:cpu", ["onnx:cpu"], { error: "BACKEND_UNAVAILABLE" }],
  ["exclude", "native", "native", { error: "NO_BACKEND" }],
  ["maxMemory", "1KB", "1KB", { error: "NO_BACKEND" }],
  ["maxMemory", "1000", 1000, { error: "NO_BACKEND" }],
  ["model", "./none", "./none", { error: "MODEL_NOT_FOUND" }],
  ["variant", "none-such", "none-such", { error: "MODEL_NOT_FOUND" }],
  ["policy", "manifest", "manifest", { error: "NO_BACKEND" }],
  ["models", undefined, { builtin: { exclude: "native" } }, { error: "NO_BACKEND" }],
];

describe("a setting", () => {
  const command = ["embed", "a"];

  it.each(settings)("%s: a variable %s, and inferyard.yaml %j", async (name, text, value, said) => {
    expect(await printedOnce(command)).toMatchObject({ code: 0 });
    const config = file("settings.yaml", JSON.stringify({ [name]: value })); // JSON is YAML
    expect(await printed([...command, "--config", config])).toMatchObject(said);
    if (text === undefined) return;
    const variable = `INFERYARD_${name.replaceAll(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase()}`;
    expect(await printed(command, { environment: { ...ownEnvironment, [variable]: text } })).toMatchObject(said);
  });
});

const [skip, title] = needsData("with models of other tasks");
describe.skipIf(skip)(title, () => {
  it.each(onModels.map(named))("a flag of $kind", expectEffect);
});

describe.skipIf(skip)(`the field of a request, ${title}`, () => {
  const servers = new ServersHere();
  let server: ServerHere;
  beforeAll(async () => {
    server = await servers.serve([], { models: { gpt2, t5, nli } }, { others: { host: "inline" } });
  });
  afterAll(async () => {
    await servers.endAll();
    servers.remove();
  });

  const ask = async (path: string, body: object): Promise<object> => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(`${server.url}${path}`, init);
    const { id: _id, created: _created, decision: _decision, ...said } = (await response.json()) as Record<string, unknown>;
    return { status: response.status, ...said };
  };
  const generated = { model: "gpt2", prompt: "Once upon a time", max_tokens: 8 };

  it.each<[string, string, object, object]>([
    ["an integer", "/api/embed", { input: "a" }, { dimensions: 4 }],
    [
      "a choice",
      "/api/chunk",
      { input: "🍕 is good. 🍕 is good.", config: { target_tokens: 5 } },
      { config: { target_tokens: 5, offsets: "bytes" } },
    ],
    [
      "a boolean",
      "/api/rewrite",
      { model: "t5", texts: ["why?"], max_new_tokens: 20, ignore_end_tokens: true },
      { skip_special_tokens: false },
    ],
    ["a number", "/v1/completions", { ...generated, seed: 1 }, { temperature: 9 }],
    ["texts", "/v1/completions", generated, { stop: ["zz", "her"] }],
    ["labels", "/api/classify", { model: "nli", texts: ["a text"] }, { labels: ["sports", "politics"] }],
    ["a text", "/api/rewrite", { model: "t5", texts: ["world"], max_new_tokens: 6 }, { prefix: "sum: " }],
  ])("of %s: %s", async (_kind, path, body, field) => {
    const [without, given] = [await ask(path, body), await ask(path, { ...body, ...field })];
    expect([without, given]).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(given).not.toEqual(without);
  });
});
