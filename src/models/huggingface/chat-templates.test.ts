import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { descriptionFiles } from "../hub/select-files.ts";
import { readChatTemplates } from "./chat-templates.ts";

const root = mkdtempSync(join(tmpdir(), "templates-"));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;
/** The templates of a folder with these files. */
function read(files: Readonly<Record<string, string>>, stated?: unknown): ReturnType<typeof readChatTemplates> {
  folders += 1;
  const path = join(root, String(folders));
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return readChatTemplates({ path, displayName: "model" }, stated === undefined ? {} : { chat_template: stated });
}

describe("chat templates of a model's folder", () => {
  it("are in tokenizer_config.json: a text, or a list of named ones", async () => {
    expect(await read({})).toBeUndefined();
    expect(await read({}, "a")).toEqual({ default: "a" });
    const list = [
      { name: "default", template: "a" },
      { name: "tool_use", template: "b" },
    ];
    expect(await read({}, list)).toEqual({ default: "a", tool_use: "b" });
    await expect(read({}, [{ name: "default" }])).rejects.toMatchObject({ code: "MODEL_INVALID" });
    await expect(read({}, 1)).rejects.toThrow(/neither a text nor a list/);
  });

  it("are in chat_template.json and chat_template.jinja, which precede it in this order", async () => {
    const json = { "chat_template.json": '{"chat_template": "j"}' };
    expect(await read(json, "a")).toEqual({ default: "j" });
    expect(await read({ "chat_template.json": '{"chat_template": {"default": "j", "tool_use": "t"}}' })).toEqual({
      default: "j",
      tool_use: "t",
    });
    expect(await read({ ...json, "chat_template.jinja": "f" }, [{ name: "tool_use", template: "old" }])).toEqual({
      default: "f",
    });
  });

  it("are in additional_chat_templates by the names of the files, with any main template", async () => {
    const named = { "additional_chat_templates/tool_use.jinja": "t", "additional_chat_templates/README.md": "no template" };
    expect(await read({ ...named, "chat_template.jinja": "f" })).toEqual({ default: "f", tool_use: "t" });
    expect(await read(named, "a")).toEqual({ default: "a", tool_use: "t" });
    expect(await read(named)).toEqual({ tool_use: "t" });
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`additional_chat_templates/${at}.jinja`, ""]));
    await expect(read(many)).rejects.toMatchObject({ code: "MODEL_INVALID" });
  });

  it("are fetched from a repository", () => {
    const paths = [
      "chat_template.jinja",
      "chat_template.json",
      "additional_chat_templates/tool_use.jinja",
      "additional_chat_templates/weights.bin",
      "other/tool_use.jinja",
    ];
    const files = paths.map((path) => ({ path, size: 1 }));
    expect(descriptionFiles(files as never).map(({ path }) => path)).toEqual(paths.slice(0, 3));
  });
});
