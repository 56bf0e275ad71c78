/** A value of every setting, for test/cli/every-flag.test.ts: what it is as a variable, in inferyard.yaml, and to the runtime or the call. */
import type { SettingName } from "../../../src/settings/settings.ts";

/** One setting. */
export interface SettingRow {
  /** What stands in its variable. Undefined: it is a map, which no variable holds. */
  readonly text?: string;
  /** What stands in the file. */
  readonly value: unknown;
  /** What arrives from the variable, where it is not what arrives from the file. */
  readonly fromText?: unknown;
  /** Whether it is an option of the call, and not of the runtime. Default: false. */
  readonly isOfCall?: true;
}

/** A row for a text. */
const same = (text: string): SettingRow => ({ text, value: text });

/** All settings but the section `server`, whose settings are seen in test/server/serve-settings.test.ts. */
export const settingRows: Readonly<Record<Exclude<SettingName, "server">, SettingRow>> = {
  model: { ...same("./m"), isOfCall: true },
  variant: { ...same("int8"), isOfCall: true },
  batchTokens: { text: "64", value: 64, isOfCall: true },
  policy: same("manifest"),
  priority: { text: "wasm, onnx", value: ["wasm", "onnx"] },
  prefer: { text: "onnx:cuda,wasm", value: ["onnx:cuda", "wasm"], fromText: "onnx:cuda,wasm" },
  target: { text: "onnx,wasm", value: ["onnx", "wasm"], fromText: "onnx,wasm" },
  exclude: same("native"),
  gpu: same("off"),
  models: { value: { "./m": { target: "wasm" } } },
  host: same("worker"),
  library: same("/none/libllama.so"),
  xla: { value: { plugin: "/none/plugin.so", memoryFraction: 0.5, buckets: { sequence: [32] } } },
  threads: { text: "4", value: 4 },
  graphOptimization: same("disabled"),
  cpuNodes: same("allow"),
  memoryPattern: { text: "false", value: false },
  memoryArena: { text: "0", value: false },
  contextLength: { text: "2048", value: 2048 },
  allowSmallerContext: { text: "1", value: true },
  cachePrecision: same("fp16"),
  i2sLayout: same("arm"),
  kernels: { text: "Q4_K_Wasm,Q4_K_Scalar", value: ["Q4_K_Wasm", "Q4_K_Scalar"] },
  machineCode: same("avx2"),
  tlTiles: { text: "3200x8640=160/96/32", value: ["3200x8640=160/96/32"] },
  adapters: { text: "a.gguf=0.5", value: [{ path: "a.gguf", scale: 0.5 }] },
  replicas: { text: "3", value: 3 },
  placement: same("pool"),
  ranks: { text: "3", value: 3 },
  maxMemory: same("2GB"),
  maxDeviceMemory: { value: { "cuda:0": 8e9 } },
  maxLoadedModels: { text: "3", value: 3 },
  memoryWait: same("10s"),
  keepAlive: same("7m"),
  whileCompiling: same("next"),
  failover: { text: "true", value: true },
  maxProcessMemory: same("3GB"),
  maxProcessGrowth: same("2GB"),
  growthIdle: same("30s"),
  turnTokens: { text: "32", value: 32 },
  reservedSequences: { text: "0", value: 0 },
  maxParkedMemory: same("512MB"),
  unlistedMembers: { text: "true", value: true },
  maxRunMemory: same("1GB"),
  maxPictureMemory: same("1GB"),
  maxTraceTime: same("10s"),
  maxTraceMemory: same("256MiB"),
  maxCrashes: { text: "3", value: 3 },
  crashWindow: same("30s"),
  loadTimeout: same("2m"),
  runTimeout: same("40s"),
  offline: { text: "true", value: true },
};
