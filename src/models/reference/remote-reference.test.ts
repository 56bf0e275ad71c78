import { describe, expect, it } from "vitest";
import { canonicalName, parseRemote } from "./remote-reference.ts";

const digest = "0123456789abcdef".repeat(4);

describe("hf: references", () => {
  it.each([
    ["hf:owner/name", { repository: "owner/name", revision: "main" }],
    ["hf:gpt2", { repository: "gpt2", revision: "main" }],
    ["hf:owner/na.me_1-x", { repository: "owner/na.me_1-x", revision: "main" }],
    ["hf:owner/name@v1.0", { repository: "owner/name", revision: "v1.0" }],
    ["hf:owner/name@refs/pr/1:int8", { repository: "owner/name", revision: "refs/pr/1", variant: "int8" }],
    ["hf:owner/name:Q4_K_M", { repository: "owner/name", revision: "main", variant: "Q4_K_M" }],
  ])("%s", (reference, parts) => expect(parseRemote(reference)).toEqual({ kind: "hub", ...parts }));

  it.each([
    "hf:",
    "hf:/name",
    "hf:owner/",
    "hf:a/b/c",
    "hf:../x",
    "hf:owner/..",
    "hf:own--er/x",
    "hf:owner/name@",
    "hf:owner/name@../../x",
    "hf:owner/name@a b",
    "hf:owner/name@-x",
    "hf:owner/name:a/b",
    "hf:owner/name:",
    "hf:owner/na\0me",
    "hf:owner\\name",
  ])("%j is refused, and the form it should have is named", (reference) => {
    expect(() => parseRemote(reference)).toThrow(
      expect.objectContaining({
        code: "INPUT_INVALID",
        remedy: expect.stringContaining("hf:owner/name[@revision]") as string,
      }) as Error,
    );
  });

  it("mean the same model with and without a variant, and with the default revision", () => {
    const names = ["hf:a/b", "hf:a/b@main", "hf:a/b:int8"].map((reference) => canonicalName(parseRemote(reference)));
    expect(names).toEqual(["hf:a/b", "hf:a/b", "hf:a/b"]);
    expect(canonicalName(parseRemote("hf:a/b@v1:int8"))).toBe("hf:a/b@v1");
  });
});

describe("addresses", () => {
  it.each(["onnx", "safetensors", "gguf", "aimod"])("of a .%s file with its digest", (ending) => {
    const parsed = parseRemote(`https://host/a/model.${ending}?x=1#sha256:${digest.toUpperCase()}`);
    expect(parsed).toEqual({ kind: "url", url: `https://host/a/model.${ending}?x=1`, file: `model.${ending}`, sha256: digest });
  });

  it.each([
    ["https://host/model.onnx", /#sha256:<64 hexadecimal digits>; "sha256sum model\.onnx"/],
    [`https://host/model.onnx#sha256:${digest.slice(1)}`, /#sha256:/],
    [`https://host/model.onnx#md5:${digest}`, /#sha256:/],
    [`https://me:secret@host/model.onnx#sha256:${digest}`, /leave them out/],
    [`https://host/model.zip#sha256:${digest}`, /address of the file/],
    [`https://host/a%5Cmodel.onnx#sha256:${digest}`, /address of the file/],
    [`https://host/%00.onnx#sha256:${digest}`, /address of the file/],
    ["https://huggingface.co/owner/name", /hf:owner\/name/],
    ["http://[", /check it/],
  ])("%s is refused with what to do", (reference, remedy) => {
    const error = expect.objectContaining({ code: "INPUT_INVALID", remedy: expect.stringMatching(remedy) as string }) as Error;
    expect(() => parseRemote(reference)).toThrow(error);
    expect(() => parseRemote(reference)).not.toThrow(/secret/);
  });
});
