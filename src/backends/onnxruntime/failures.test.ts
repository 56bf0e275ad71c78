import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { loadFailure, cleanMessage, runFailure } from "./failures.ts";

/** Messages of onnxruntime-node and onnxruntime-web 1.30.0, as they were thrown. */
const invalidProtobuf = "Load model from /m/model.onnx failed:Protobuf parsing failed.";
const noGraph =
  "Load model from /m/model.onnx failed:/onnxruntime_src/onnxruntime/core/graph/model.cc:187 onnxruntime::Model::Model(onnx::ModelProto&&, const onnxruntime::PathString&, const onnxruntime::IOnnxRuntimeOpSchemaRegistryList*, const onnxruntime::logging::Logger&, const onnxruntime::ModelOptions&) ModelProto does not have a graph.\n";
const unknownOperator =
  'Load model from /m/model.onnx failed:This is an invalid model. In Node, ("/a/Softmux", Softmux, "", -1) : ("/a/Add_output_0": tensor(float),) -> ("/a/Softmux_output_0",) , Error No Op registered for Softmux with domain_version of 14';
const outOfBounds =
  "Non-zero status code returned while running Gather node. Name:'/embeddings/word_embeddings/Gather' Status Message: indices element out of data bounds, idx=99999 must be within the inclusive range [-400,399]";
const broadcast =
  "axis == 1 || axis == largest was false. Attempting to broadcast an axis by a dimension other than 1. 64 by 2000\n";
const append = "core/providers/cpu/math/element_wise_ops.h:583 void onnxruntime::BroadcastIterator::Append(ptrdiff_t, ptrdiff_t)";

describe("what a failed load means", () => {
  it.each([
    ["node, garbage", invalidProtobuf, "MODEL_INVALID", "Protobuf parsing failed"],
    ["node, an empty file", noGraph, "MODEL_INVALID", "ModelProto does not have a graph"],
    [
      "web, garbage",
      "Can't create a session. ERROR_CODE: 7, ERROR_MESSAGE: Failed to load model because protobuf parsing failed.",
      "MODEL_INVALID",
      "Can't create a session. Failed to load model because protobuf parsing failed",
    ],
    [
      "web, an empty file",
      "Can't create a session. ERROR_CODE: 2, ERROR_MESSAGE: No graph was found in the protobuf.",
      "MODEL_INVALID",
      "Can't create a session. No graph was found in the protobuf",
    ],
    [
      "node, an unknown operator",
      unknownOperator,
      "MODEL_UNSUPPORTED",
      /Error No Op registered for Softmux with domain_version of 14$/,
    ],
    [
      "web, an unknown operator",
      "Can't create a session. ERROR_CODE: 6, ERROR_MESSAGE: No Op registered for Softmux with domain_version of 14",
      "MODEL_UNSUPPORTED",
      "Can't create a session. No Op registered for Softmux with domain_version of 14",
    ],
    [
      "node, no driver",
      "OrtSessionOptionsAppendExecutionProvider_Cuda: Failed to load shared library",
      "LOAD_FAILED",
      "OrtSessionOptionsAppendExecutionProvider_Cuda: Failed to load shared library",
    ],
    ["memory", "std::bad_alloc", "OUT_OF_MEMORY", "std::bad_alloc"],
  ] as const)("%s", (_name, message, code, words) => {
    const cause = new Error(message);
    const failure = loadFailure(cause, "model.onnx");
    expect(failure).toMatchObject({ code, cause });
    const prefix = "onnxruntime could not load model.onnx: ";
    expect(failure.message.startsWith(prefix)).toBe(true);
    const shown = failure.message.slice(prefix.length);
    const found = typeof words === "string" ? words : words.exec(shown)?.input;
    expect(shown).toBe(found);
  });

  it("our own errors pass unchanged", () => {
    const own = new InferyardError("ABORTED", "stopped");
    expect(loadFailure(own, "x")).toBe(own);
  });
});

describe("what a failed run means", () => {
  it.each([
    ["node, a token the model does not have", outOfBounds, "INPUT_INVALID", outOfBounds],
    [
      "web, the same",
      `failed to call OrtRun(). ERROR_CODE: 2, ERROR_MESSAGE: ${outOfBounds}`,
      "INPUT_INVALID",
      `failed to call OrtRun(). ${outOfBounds}`,
    ],
    [
      "node, a text longer than the model takes",
      `Non-zero status code returned while running Add node. Name:'/embeddings/Add_1' Status Message: /onnxruntime_src/onnxruntime/${append} ${broadcast}`,
      "INPUT_INVALID",
      "Attempting to broadcast an axis by a dimension other than 1. 64 by 2000",
    ],
    [
      "web, the same",
      `failed to call OrtRun(). ERROR_CODE: 1, ERROR_MESSAGE: /mnt/azure_nvme_temp/_work/1/s/onnxruntime/${append} ${broadcast}`,
      "INPUT_INVALID",
      "Attempting to broadcast an axis by a dimension other than 1. 64 by 2000",
    ],
    ["anything else", "Session already disposed.", "RUN_FAILED", "Session already disposed"],
  ] as const)("%s", (_name, message, code, words) => {
    expect(runFailure(new Error(message))).toMatchObject({ code, message: `onnxruntime failed while running: ${words}` });
  });
});

describe("readable words", () => {
  it.each([
    [
      "a provider that cannot start",
      "/onnxruntime_src/onnxruntime/core/providers/webgpu/webgpu_context.cc:136 onnxruntime::webgpu::WebGpuContext::Initialize(const onnxruntime::webgpu::WebGpuContextConfig&)::<lambda()> adapter_result.status == wgpu::RequestAdapterStatus::Success was false. Failed to get a WebGPU adapter: No supported adapters\n",
      "Failed to get a WebGPU adapter: No supported adapters",
    ],
    ["colours", "\u001B[1;31mred\u001B[m", "red"],
    [
      "an ordinary sentence",
      "no available backend found. ERR: [dml] backend not found.",
      "no available backend found. ERR: [dml] backend not found",
    ],
  ])("%s", (_name, message, words) => expect(cleanMessage(message)).toBe(words));
});
