/** What bundles are made of: the one table of files that something outside a bundle names, with the source of each. */

/** The public modules: the path below `inferyard` ("" for `inferyard` itself), and its source. */
export const subpaths: Readonly<Record<string, string>> = {
  "": "src/index.ts",
  inspect: "src/inspection/index.ts",
  libraries: "src/libraries/index.ts",
  kernels: "src/kernel-capabilities/index.ts",
  crossval: "src/cross-validation/index.ts",
  receipts: "src/receipts/index.ts",
  measuring: "src/measuring/index.ts",
  distill: "src/distillation/index.ts",
  program: "src/programs/index.ts",
  backend: "src/contract/index.ts",
  testing: "src/testing/index.ts",
  "backends/onnx": "src/backends/onnx/index.ts",
  "backends/wasm": "src/backends/wasm/index.ts",
  "backends/native": "src/backends/native/index.ts",
  "backends/llamacpp": "src/backends/llamacpp/index.ts",
  "backends/library": "src/backends/library/index.ts",
  "backends/xla": "src/backends/xla/index.ts",
  server: "src/server/index.ts",
  client: "src/client/index.ts",
  "ai-sdk": "src/ai-sdk/index.ts",
  langchain: "src/langchain/index.ts",
};

/** Modules that are imported by their URL: name in `dist/`, and source. `command-line` is for the tests, which run commands in their own process. */
export const modules: Readonly<Record<string, string>> = {
  "command-line": "src/cli/main.ts",
  "divided-models": "src/composition/node/divided-models.ts",
  "bind-machine-code": "src/backends/native/machine-code/bind-machine-code.ts",
  "native-engine": "src/backends/native/create-engine.ts",
  "restore-model": "src/backends/native/kept/restore-model.ts",
};

/** Programs that Node.js starts, as a process or as a thread: name in `dist/`, and source. They use the compile cache. */
export const programs: Readonly<Record<string, string>> = {
  cli: "src/cli/index.ts",
  "model-thread": "src/hosts/worker-thread.ts",
  "model-process": "src/composition/node/model-process.ts",
  "engine-thread": "src/engine/threads/node-worker.ts",
  "text-thread": "src/tasks/text-threads/thread.ts",
  "template-thread": "src/tasks/text-threads/template-thread.ts",
  "grammar-thread": "src/tasks/generation/constraints/threads/thread.ts",
  "onnx-tiny-run": "src/backends/onnx/tiny-run-child.ts",
  "llamacpp-tiny-run": "src/backends/llamacpp/tiny-run-child.ts",
  "library-tiny-run": "src/backends/library/tiny-run-child.ts",
  "xla-probe": "src/backends/xla/plugins/probe-plugin-child.ts",
  "xla-compile": "src/backends/xla/separate/compile-child.ts",
  "first-load": "src/libraries/validation/first-load-child.ts",
  "program-rank": "src/programs/ranks/rank-child.ts",
  "prove-blas": "src/programs/backends/blas/prove-blas-child.ts",
  "prove-cuda": "src/programs/backends/cuda/prove-cuda-child.ts",
  "validate-library": "src/libraries/validation/validation-child.ts",
  "measuring-round": "src/measuring/round-child.ts",
  "decode-thread": "src/jobs/queue/decode-thread.ts",
  "cuda-driver": "src/libraries/accelerators/cuda-driver/cuda-driver-child.ts",
};

/**
 * Chunks, in order: each has what its sources import, directly or through others, and no earlier chunk has. The rest is split by who needs it. Without them
 * the first embedding would load 120 files. `base` and `formats` have what a model's thread shares with the runtime, which it would load whole
 * otherwise; the last three keep small modules together that most commands need.
 */
export const chunks: Readonly<Record<string, readonly string[]>> = {
  base: [
    "src/contract/index.ts",
    "src/contract/checked.ts",
    "src/contract/sequence-table.ts",
    "src/contract/shapes/program-counts.ts",
    "src/concurrency/abort-listeners.ts",
    "src/concurrency/mutex.ts",
    "src/hosts/exit-gate.ts",
    "src/hosts/model-server.ts",
    "src/hosts/node-arguments.ts",
    "src/hosts/parent-watchdog.ts",
    "src/platform/node/home-folder.ts",
    "src/platform/node/start-thread.ts",
    "src/version.ts",
  ],
  backends: [
    "src/composition/node/standard-backends.ts",
    "src/backends/xla/plugins/xla-plugins.ts", // each start looks whether a plugin is there
  ],
  formats: [
    "src/concurrency/lru-map.ts",
    "src/platform/node/output-errors.ts",
    "src/devices/cpu/cpu-features.ts",
    "src/devices/libraries.ts",
    "src/devices/sources.ts",
    "src/formats/file-window.ts",
    "src/formats/format-errors.ts",
    "src/formats/number-types.ts",
    "src/formats/onnx/onnx-tensor.ts",
    "src/formats/protobuf/wire-format.ts",
    "src/formats/safetensors/read-sharded.ts",
    "src/kernels/kernel-tally.ts",
    "src/storage/atomic-write.ts",
    "src/storage/data-folder.ts",
    "src/storage/own-files.ts",
    "src/storage/staging.ts",
  ],
  runtime: ["src/index.ts"],
  page: ["src/api/browser/index.ts"],
  encoding: [
    "src/tasks/encoding/encode-texts.ts",
    "src/tasks/embedding/pool-encodings.ts",
    "src/tasks/embedding/embed-options.ts",
    "src/tasks/embedding/output-options.ts",
    "src/tasks/vision/embed-media-options.ts",
  ],
  program: ["src/cli/main.ts"],
  commands: ["src/cli/task-command.ts", "src/cli/input/texts.ts", "src/cli/output/table.ts", "src/cli/pictures/picture-flags.ts"],
};

/** What is called before a program's own modules are loaded: by all of them, and by the command line. */
export const compileCache = "src/platform/node/compile-cache.ts";
export const sourceMaps = "src/cli/source-maps.ts";

/** The name of a public module's file in `dist/`, without ".js". */
export const fileNameOf = (subpath: string): string => (subpath === "" ? "index" : subpath.replaceAll("/", "-"));
