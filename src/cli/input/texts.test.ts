import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Terminal } from "../terminal.ts";
import { readTexts } from "./texts.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-texts-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Only stdin is touched. */
function withStdin(text: string | undefined): Terminal {
  const stdin = Object.assign(Readable.from(text === undefined ? [] : [Buffer.from(text)]), { isTTY: text === undefined });
  return { stdin } as Partial<Terminal> as Terminal;
}
const someoneTypes = withStdin(undefined);

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const fromFile = async (name: string, text: string): Promise<string[]> =>
  readTexts({ texts: [], input: await file(name, text) }, someoneTypes);

describe("where texts come from", () => {
  it("arguments, as they are", async () => {
    expect(await readTexts({ texts: ["a", "", "b\n"] }, withStdin("not read"))).toEqual(["a", "", "b\n"]);
  });

  it("stdin, a line each, where nothing else is given or where - is", async () => {
    expect(await readTexts({ texts: [] }, withStdin("a\nb\n"))).toEqual(["a", "b"]);
    expect(await readTexts({ texts: [], input: "-" }, withStdin('{"text":"as it is"}\n'))).toEqual(['{"text":"as it is"}']);
  });

  it("nothing where somebody sits at the keyboard: that is asked wrongly", async () => {
    await expect(readTexts({ texts: [] }, someoneTypes)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "there is no text",
      remedy: expect.stringContaining("--input FILE"),
    });
  });

  it("arguments and a file together are refused", async () => {
    await expect(readTexts({ texts: ["a"], input: "x.txt" }, someoneTypes)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it.each(["none.txt", "."])("a file that cannot be read is named: %s", async (name) => {
    const path = join(folder, name);
    await expect(readTexts({ texts: [], input: path }, someoneTypes)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(`${path} cannot be read`),
    });
  });
});

describe(".txt", () => {
  it("is a text per line: empty lines are empty texts, the last line feed is none", async () => {
    expect(await fromFile("a.txt", "one\n\ntwo\n")).toEqual(["one", "", "two"]);
  });

  it("from Windows: neither the byte order mark nor the carriage returns are text", async () => {
    expect(await fromFile("b.txt", "\uFEFFone\r\ntwo\r\n")).toEqual(["one", "two"]);
  });

  it("is also any file of another name", async () => expect(await fromFile("list", '"one"\n')).toEqual(['"one"']));
});

describe.each([".jsonl", ".ndjson"])("%s", (ending) => {
  it("is a string or an object with a text per line; blank lines are none", async () => {
    const text = '"one"\n{"id":7,"text":"two"}\n\n  \n{"text":""}\n';
    expect(await fromFile(`a${ending}`, text)).toEqual(["one", "two", ""]);
  });

  it("may hold line separators that JSON allows inside a string, and a byte order mark", async () => {
    expect(await fromFile(`b${ending}`, '\uFEFF{"text":"one\u2028still one"}\r\n"two\\nlines"')).toEqual([
      "one\u2028still one",
      "two\nlines",
    ]);
  });

  it.each([
    ['"one"\n\n{"text":', "is not JSON"],
    ['"one"\n\n7', 'is neither a string nor an object with a string "text"'],
    ['"one"\n\n{"body":"x"}', 'is neither a string nor an object with a string "text"'],
    ['"one"\n\n{"text":null}', 'is neither a string nor an object with a string "text"'],
    ['"one"\n\n["two"]', 'is neither a string nor an object with a string "text"'],
  ])("that is wrong names the line: %j", async (text, reason) => {
    const name = `c${ending}`;
    await expect(fromFile(name, text)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(`${name} line 3 ${reason}`),
    });
  });
});
