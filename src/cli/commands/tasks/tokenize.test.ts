/** inferyard tokenize as a person types it. */
import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { run } from "../../main.ts";
import { needsData, sharedData } from "../../../../test/fixtures/shared-data.ts";

async function tokenize(...words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: "", stderr: "" };
  const into = (name: keyof typeof written): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
  const code = await run(["tokenize", ...words], {
    stdout: into("stdout"),
    stderr: into("stderr"),
    stdin: Object.assign(Readable.from([]), { isTTY: true }),
    environment: {},
    directory: process.cwd(),
    signal: new AbortController().signal,
  });
  return { code, ...written };
}

describe("inferyard tokenize", () => {
  it("shows each token with its id and the part of the text it stands for", async () => {
    const { code, stdout, stderr } = await tokenize("Zoë eats 🍕.");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^builtin · 3 tokens\n {2}id +token +utf16 +text\n {2}11199 +zoe +0-3 +"Zoë"\n/);
    expect(stdout).toMatch(/^ {2}1012 +\. +11-12 +"\."$/m);
  });

  it("counts offsets in the unit asked for", async () => {
    const offsetsIn = async (unit: string): Promise<unknown> => {
      const { stdout } = await tokenize("Zoë 🍕.", "--offsets", unit, "--json");
      return (JSON.parse(stdout) as { results: { offsets: unknown }[] }).results[0]?.offsets;
    };
    expect(await offsetsIn("utf16")).toEqual([
      [0, 3],
      [6, 7],
    ]);
    expect(await offsetsIn("codepoints")).toEqual([
      [0, 3],
      [5, 6],
    ]);
    expect(await offsetsIn("bytes")).toEqual([
      [0, 4],
      [9, 10],
    ]);
  });

  it("refuses a unit that is none, and no text", async () => {
    expect(await tokenize("a", "--offsets", "lines")).toMatchObject({ code: 2 });
    expect((await tokenize()).stderr).toContain("there is no text");
  });

  it("prints nothing of a text that would steer the terminal", async () => {
    const { stdout } = await tokenize("pi\u202Ezza\u001B[2J ca\u0085ts");
    expect(stdout).not.toMatch(/[^\P{C}\n]/u);
  });
});

const [skip, name] = needsData("inferyard tokenize with a model of two texts");
describe.skipIf(skip)(name, () => {
  const miniLm = `${sharedData}all-MiniLM-L6-v2`;

  it("takes a pair, leaves special tokens out and says what was cut", async () => {
    const pair = await tokenize("Where is it?", "--pair", "Here.", "--model", miniLm, "--json");
    expect(JSON.parse(pair.stdout)).toMatchObject({
      pair: "Here.",
      results: [{ typeIds: [0, 0, 0, 0, 0, 0, 1, 1, 1], sequenceIds: [null, 0, 0, 0, 0, null, 1, 1, null], truncated: false }],
    });
    const cut = await tokenize("Where is it?", "--max-tokens", "2", "--no-special-tokens", "--model", miniLm);
    expect(cut.stdout).toMatch(/· 2 tokens\n/);
    expect(cut.stderr).toBe("1 text longer than the limit, cut; --max-tokens raises it\n");
  });
});
