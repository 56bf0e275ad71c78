/** The targets by name; each is loaded when it is fuzzed. */
import type { FuzzTarget } from "./target.ts";

export const targets: Readonly<Record<string, () => Promise<FuzzTarget>>> = {
  onnx: async () => (await import("./targets/onnx.ts")).onnx,
  "onnx-inspection": async () => (await import("./targets/onnx-inspection.ts")).onnxInspection,
  gguf: async () => (await import("./targets/gguf.ts")).gguf,
  safetensors: async () => (await import("./targets/safetensors.ts")).safetensors,
  tokenizer: async () => (await import("./targets/tokenizer.ts")).tokenizer,
  aimod: async () => (await import("./targets/aimod.ts")).aimod,
  "model-folder": async () => (await import("./targets/model-folder.ts")).modelFolder,
  http: async () => (await import("./targets/http.ts")).http,
  kserve: async () => (await import("./targets/kserve.ts")).kserve,
  store: async () => (await import("./targets/store.ts")).store,
  settings: async () => (await import("./targets/settings.ts")).settings,
  picture: async () => (await import("./targets/picture.ts")).picture,
  sound: async () => (await import("./targets/sound.ts")).sound,
  wheel: async () => (await import("./targets/wheel.ts")).wheel,
};
