import { describe, expect, it } from "vitest";
import { causeIn } from "./tiny-run.ts";

describe("the cause of a failure, from what onnxruntime prints on stderr", () => {
  it("the dynamic linker's words come first: they name the library that is missing", () => {
    const stderr =
      "\u001B[1;31m2026-11-21 12:34:38.711177528 [E:onnxruntime:onnxruntime-node, provider_bridge_ort.cc:2146 Create] /onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:1988 onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library /work/main/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime_providers_shared.so with error: /work/main/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime_providers_shared.so: cannot open shared object file: No such file or directory\n\u001B[m\n";
    expect(causeIn(stderr)).toBe("libonnxruntime_providers_shared.so: cannot open shared object file: No such file or directory");
  });

  it("warnings are no cause", () => {
    expect(
      causeIn("Warning: Couldn't load Vulkan: libvulkan.so.1: cannot open shared object file\n    at operator()\n"),
    ).toBeUndefined();
    expect(causeIn("")).toBeUndefined();
  });
});
