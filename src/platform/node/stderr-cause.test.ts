import { describe, expect, it } from "vitest";
import { likelyCause, messageLines } from "./stderr-cause.ts";

describe("the cause of a death, from what a process wrote to stderr", () => {
  it("is no frame of a stack: an abort of ggml on a GPU", () => {
    const stderr = [
      "/work/llama.cpp/ggml/src/ggml-cuda/ggml-cuda.cu:108: CUDA error",
      "/app/libggml-base.so(+0x1c8eb)[0x7faf857098eb]",
      "/app/libggml-base.so(ggml_abort+0x152)[0x7faf85709f42]",
      "node[0x1d32770]",
      "/lib/x86_64-linux-gnu/libc.so.6(+0x9cb84)[0x7fafae29cb84]",
      "",
    ].join("\n");
    expect(likelyCause(messageLines(stderr))).toBe("/work/llama.cpp/ggml/src/ggml-cuda/ggml-cuda.cu:108: CUDA error");
  });

  it("is the last line that names an error, else the last line", () => {
    expect(likelyCause(["one error", "loading", "done"])).toBe("one error");
    expect(likelyCause(["loading", "done"])).toBe("done");
    expect(likelyCause(messageLines("\n   \n"))).toBeUndefined();
  });
});
