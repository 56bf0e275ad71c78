import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { canonicalReference } from "../index.ts";
import type { ModelLocation } from "./model-location.ts";
import { resolveReference } from "./resolve-reference.ts";

/** A store with nothing in it. */
const dataFolder = join(tmpdir(), "inferyard-no-store");
const root = resolve(import.meta.dirname, "../../..");

const locate = async (reference: string): Promise<ModelLocation> => (await resolveReference(reference, { dataFolder })).locate();

describe("a reference", () => {
  it.each([
    ["builtin", join(root, "builtin")],
    ["./somewhere", resolve("somewhere")],
    ["../up", resolve("../up")],
    [".", resolve(".")],
    ["~/models/x", join(homedir(), "models/x")],
    ["~", homedir()],
    ["/absolute/model", "/absolute/model"],
    ["src", resolve("src")],
    ["a/b/c", resolve("a/b/c")],
    ["model.onnx", resolve("model.onnx")],
    [pathToFileURL("/a b/model").href, "/a b/model"],
  ])("%s is the path %s, shown as it was written", (reference, path) => {
    return expect(locate(reference)).resolves.toEqual({ path, displayName: reference });
  });

  it.each([
    ["hf:owner/name@v1:int8", "MODEL_NOT_FOUND", /inferyard pull hf:owner\/name@v1:int8$/],
    [`https://host/m.onnx#sha256:${"a".repeat(64)}`, "MODEL_NOT_FOUND", /inferyard pull https:\/\/host\/m\.onnx#sha256:a+$/],
    ["https://example.org/model.onnx", "INPUT_INVALID", /#sha256:/],
    ["owner/name", "MODEL_NOT_FOUND", /inferyard pull hf:owner\/name/],
    ["bultin", "MODEL_NOT_FOUND", /did you mean "builtin"/],
    ["gpt", "MODEL_NOT_FOUND", /"builtin", the path/],
    ["", "MODEL_NOT_FOUND", /"builtin" or the path/],
  ])("%s is refused with %s and what to do", async (reference, code, remedy) => {
    await expect(locate(reference)).rejects.toMatchObject({
      code,
      remedy: expect.stringMatching(remedy) as string,
    });
  });

  it("has one canonical form for all its spellings, and a remote one has no variant in it", async () => {
    expect(await canonicalReference("./src")).toBe(await canonicalReference(resolve("src")));
    expect(await canonicalReference("hf:a/b:int8")).toBe(await canonicalReference("hf:a/b@main"));
    expect(await canonicalReference("hf:a/b")).not.toBe(await canonicalReference("hf:a/b@v1"));
    expect(await canonicalReference("no such model")).toBe("no such model");
  });
});
