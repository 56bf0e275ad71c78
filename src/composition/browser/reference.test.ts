import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { builtinPath, parseReference, resolveReference } from "./reference.ts";

beforeEach(() => void vi.stubGlobal("location", { href: "https://page.example/app/index.html" }));
afterEach(() => void vi.unstubAllGlobals());

describe("references in a browser", () => {
  it.each([
    ["builtin", builtinPath],
    ["https://host/models/minilm/", "https://host/models/minilm"],
    ["./models/minilm", "https://page.example/app/models/minilm"],
    ["/models/minilm/onnx/model.onnx", "https://page.example/models/minilm/onnx/model.onnx"],
    ["hf:owner/name", "https://huggingface.co/owner/name/resolve/main"],
    ["hf:owner/name@refs/pr/1", "https://huggingface.co/owner/name/resolve/refs%2Fpr%2F1"],
  ])("%s lies at %s", (reference, path) => {
    expect(parseReference(reference)).toMatchObject({ path, displayName: reference, partial: true });
  });

  it.each([
    ["minilm", "MODEL_NOT_FOUND"],
    ["owner/name", "MODEL_NOT_FOUND"],
    ["", "MODEL_NOT_FOUND"],
    ["file:///etc/passwd", "MODEL_NOT_FOUND"],
    ["hf:", "INPUT_INVALID"],
    ["https://host/model?token=1", "INPUT_INVALID"],
    ["https://host/model.AIMOD", "MODEL_UNSUPPORTED"],
  ])("%s is refused as %s", (reference, code) => {
    expect(() => parseReference(reference)).toThrowError(expect.objectContaining({ code }));
  });

  it("may name a variant of a model on the hub", () => {
    expect(parseReference("hf:owner/name:int8")).toMatchObject({ path: parseReference("hf:owner/name").path, variant: "int8" });
  });

  it("have one place for all spellings", async () => {
    const [first, second] = await Promise.all([
      resolveReference("https://host/minilm//"),
      resolveReference("https://host/minilm"),
    ]);
    expect(first.canonical).toBe(second.canonical);
  });
});
