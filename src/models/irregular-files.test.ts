/** References and files that are no model, or no file: each is refused at once, with an error of ours. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { smallModel } from "../../test/fixtures/models/small-model.ts";
import { InferyardError } from "../contract/errors.ts";
import { openBlocking, readText, computeSha256 } from "../platform/node/files.ts";
import { canonicalReference, readManifest } from "./index.ts";

let folder = "";
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "inferyard-irregular-"))));
afterEach(() => rm(folder, { recursive: true }));

async function writeModel(): Promise<void> {
  for (const [name, content] of Object.entries(smallModel())) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

async function refusal(work: Promise<unknown>): Promise<InferyardError> {
  const error: unknown = await work.then(
    () => "it was taken",
    (thrown: unknown) => thrown,
  );
  if (error instanceof InferyardError) return error;
  throw new Error(`no error of ours: ${String(error)}`);
}

describe.skipIf(process.platform === "win32")("in place of a file of a model", () => {
  const kinds = {
    "a pipe": async (path: string) => void execFileSync("mkfifo", [path]),
    "a folder": (path: string) => mkdir(path).then(() => {}),
    "an endless device": (path: string) => symlink("/dev/zero", path),
    "a terminal": (path: string) => symlink("/dev/tty", path),
    "a link to itself": (path: string) => symlink(path, path),
    "a socket": async (path: string) => {
      const server = createServer().listen(path);
      await new Promise((resolve) => server.once("listening", resolve));
      server.unref();
    },
  };

  it.each(Object.entries(kinds))("%s as config.json is refused", async (_kind, make) => {
    await writeModel();
    await rm(join(folder, "config.json"));
    await make(join(folder, "config.json"));
    const { code, message } = await refusal(readManifest(folder));
    expect([code, message.includes("config.json")]).toEqual(["MODEL_INVALID", true]);
  });

  it.each(
    Object.entries(kinds).flatMap(([kind, make]) =>
      ["tokenizer.json", "onnx/model.onnx"].map((file) => [kind, file, make] as const),
    ),
  )("%s as %s is refused or is not that file, and nothing waits for it", async (_kind, file, make) => {
    await writeModel();
    await rm(join(folder, file), { force: true });
    await make(join(folder, file));
    for (const reference of [folder, join(folder, "onnx/model.onnx")]) {
      const variants = await readManifest(reference).then(
        (manifest) => manifest.variants.map(({ path }) => path),
        (error: unknown) => (error instanceof InferyardError ? [] : Promise.reject(error as Error)),
      );
      expect(variants).not.toContain(file === "tokenizer.json" ? "" : join(folder, file));
    }
  });

  it.each(
    Object.entries(kinds).flatMap(([kind, make]) =>
      ["generation_config.json", "modules.json", "inferyard.json"].map((file) => [kind, file, make] as const),
    ),
  )("%s as %s is refused by its name", async (_kind, file, make) => {
    await writeModel();
    await rm(join(folder, file), { force: true });
    await make(join(folder, file));
    const { code, message } = await refusal(readManifest(folder));
    expect([code, message.includes(file)]).toEqual(["MODEL_INVALID", true]);
  });

  it.each(Object.entries(kinds).filter(([kind]) => kind !== "a link to itself"))(
    "%s as what a model may lack, or what holds weights, is not read",
    async (_kind, make) => {
      await writeModel();
      const files = [
        "chat_template.jinja",
        "special_tokens_map.json",
        "model.safetensors",
        "model.safetensors.index.json",
        "goldens.json",
      ];
      for (const file of files) await make(join(folder, file));
      const { variants } = await readManifest(folder);
      expect(variants.map(({ path }) => path)).not.toContain(join(folder, "model.safetensors"));
    },
  );

  it.each(["model.onnx", "model.gguf", "model.safetensors", "model.aimod", "model"])("a pipe as the model %s", async (name) => {
    execFileSync("mkfifo", [join(folder, name)]);
    expect((await refusal(readManifest(join(folder, name)))).code).toBe("MODEL_INVALID");
  });

  it("a pipe is refused by every function that reads a file", async () => {
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    await expect(readText(path)).rejects.toMatchObject({ code: "EINVAL" });
    await expect(computeSha256(path)).rejects.toMatchObject({ code: "EINVAL" });
    expect(() => openBlocking!(path)).toThrow(expect.objectContaining({ code: "EINVAL" }));
  });
});

describe("references", () => {
  it.each([
    ["file://host/x.onnx", "INPUT_INVALID"],
    ["file:///tmp/%zz", "INPUT_INVALID"],
    ["file:///a%2Fb", "INPUT_INVALID"],
    ["file:///a%00b", "MODEL_INVALID"],
    ["FILE://host/x", "INPUT_INVALID"],
    ["file:", "MODEL_INVALID|MODEL_NOT_FOUND|INPUT_INVALID|MODEL_UNSUPPORTED"],
    ["./%zz", "MODEL_NOT_FOUND"],
    ["%zz", "MODEL_NOT_FOUND"],
    ["%00", "MODEL_NOT_FOUND"],
    ["./a\0b", "MODEL_INVALID"],
    ["a\0b", "MODEL_NOT_FOUND"],
    ["", "MODEL_NOT_FOUND"],
    [" ", "MODEL_NOT_FOUND"],
    ["./x.onnx/", "MODEL_NOT_FOUND"],
    [`./${"a".repeat(5000)}`, "MODEL_INVALID"],
    ["a".repeat(5000), "MODEL_NOT_FOUND"],
    [`./${"a/".repeat(5000)}`, "MODEL_INVALID"],
    ["hf:", "INPUT_INVALID"],
    ["hf:/", "INPUT_INVALID"],
    ["hf:a/b/c", "INPUT_INVALID"],
    ["hf:../../x", "INPUT_INVALID"],
    ["hf:a/%zz", "INPUT_INVALID"],
    ["hf:a/b@../x", "INPUT_INVALID"],
    ["hf:a/b@%00", "INPUT_INVALID"],
    [`hf:${"a".repeat(90)}/${"b".repeat(90)}@${"c".repeat(200)}`, "MODEL_NOT_FOUND"],
    ["C:\\models\\x.onnx", "MODEL_NOT_FOUND"],
    ["C:/models/x.onnx", "MODEL_NOT_FOUND"],
    ["\\\\host\\share\\x.onnx", "MODEL_NOT_FOUND"],
    ["//host/share/x.onnx", "MODEL_NOT_FOUND"],
    ["http://", "INPUT_INVALID"],
    ["https://host/%zz.onnx#sha256:0", "INPUT_INVALID"],
    ["https://host/x.onnx#sha256:%zz", "INPUT_INVALID"],
    ["~nobody/x.onnx", "MODEL_NOT_FOUND"],
  ])("%j is refused", async (reference, codes) => {
    expect((await refusal(readManifest(reference, { dataFolder: folder }))).code).toMatch(new RegExp(`^(?:${codes})$`));
    expect(typeof (await canonicalReference(reference))).toBe("string");
  });
});
