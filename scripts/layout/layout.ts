/** The folders of src/, what each may import, and how large folders and files may be. ARCHITECTURE.md explains the plan. */

export interface Folder {
  readonly name: string;
  /** Paths that belong to the folder, from the root of the repository; where several folders match, the longest path wins. */
  readonly paths: readonly string[];
  /** Names of the folders it may import, beside "base" and itself. */
  readonly imports: readonly string[] | "everything";
}

/** The rooms of the engine, in order: each imports only what stands before it. */
const engine = [
  "ir",
  "interpret",
  "build",
  "onnx",
  "transformers",
  "passes",
  "codegen",
  "lower",
  "plan",
  "memory",
  "threads",
  "execute",
].map((room) => `engine/${room}`);

const engineFolders: readonly Folder[] = engine.map((name, index) => ({
  name,
  paths: [`src/${name}/`],
  imports: ["formats", "kernels", ...engine.slice(0, index)],
}));

const folder = (name: string, imports: Folder["imports"], paths: readonly string[] = [`src/${name}/`]): Folder => ({
  name,
  paths,
  imports,
});

export const folders: readonly Folder[] = [
  // What every folder may import: the contract, errors, tensors, and what differs between Node.js and a page, behind one name.
  folder(
    "base",
    [],
    [
      ...[
        "backend",
        "checked",
        "errors",
        "language-model",
        "reloading",
        "load-settings",
        "replicas",
        "sequence-table",
        "tensor",
        "version",
        "weight-packing",
      ].map((file) => `src/${file}.ts`),
      "src/concurrency/",
      "src/platform/",
      "src/platform/node/",
    ],
  ),
  folder("formats", []),
  folder("kernels", ["formats"]),
  folder("kernels/capabilities", ["backends/native", "devices", "kernels"]),
  ...engineFolders,
  folder("engine", [...engine, "formats", "kernels"]),
  folder("backends/onnxruntime", []),
  folder("backends/sequences", ["formats", "kernels"]),
  folder("backends/onnx", ["backends/onnxruntime", "backends/sequences"]),
  folder("backends/wasm", ["backends/onnxruntime", "backends/sequences"]),
  folder("backends/gguf", ["backends/sequences", "formats"]),
  folder("backends/llamacpp", ["backends/gguf", "backends/sequences", "formats", "kernels"]),
  folder("backends/library", [
    "backends/gguf",
    "backends/sequences",
    "formats",
    "kernels",
    "libraries/contracts",
    "libraries/discovery",
    "libraries/ffi",
    "libraries/validation",
    "models",
    "tokenizers",
  ]),
  folder("backends/native", [
    "backends/sequences",
    "devices",
    "engine",
    "engine/codegen",
    "engine/execute",
    "engine/threads",
    "engine/transformers",
    "formats",
    "kernels",
    "platform/ggml",
    "platform/machine-code",
    "storage",
  ]),
  folder("presets", ["backends/library", "backends/llamacpp", "backends/native", "backends/onnx", "backends/wasm"]),
  folder("hosts", ["formats"]),
  folder("devices", []),
  folder("storage", []),
  folder("libraries", ["devices", "libraries/analysis", "libraries/discovery", "libraries/ffi"]),
  folder("libraries/discovery", ["devices", "libraries/binaries"]),
  folder("libraries/ffi", []),
  folder("libraries/contracts", ["libraries/ffi"]),
  folder("libraries/ggml", ["formats", "libraries/contracts", "libraries/ffi"]),
  folder("libraries/validation", ["formats", "hosts", "libraries/analysis", "libraries/contracts", "libraries/ffi"]),
  folder("models", ["formats"]),
  folder("measurements", ["models"]),
  folder("tokenizers", ["formats", "models"]),
  folder("inspection", ["engine/onnx", "formats", "models", "presets"]),
  folder("libraries/binaries", []),
  folder("libraries/demangling", []),
  folder("libraries/analysis", ["libraries/binaries", "libraries/contracts", "libraries/discovery"]),
  folder("runtime", ["devices", "hosts", "kernels", "measurements", "models"]),
  folder("tasks", ["formats", "hosts", "models", "runtime", "tokenizers"]),
  folder(
    "platform/ggml",
    ["kernels", "libraries/ggml"],
    ["src/backends/native/ggml-kernels.ts", "src/composition/browser/ggml-kernels.ts"],
  ),
  folder(
    "platform/machine-code",
    ["devices", "engine/codegen", "libraries/ffi"],
    ["bind-machine-code", "machine-code"]
      .map((file) => `src/platform/node/${file}.ts`)
      .concat("src/composition/browser/machine-code.ts"),
  ),
  folder("platform/node", ["devices", "hosts", "measurements", "models", "runtime"], ["src/composition/node/platform.ts"]),
  folder("platform/browser", [
    "backends/native",
    "backends/onnxruntime",
    "backends/wasm",
    "devices",
    "formats",
    "hosts",
    "models",
    "runtime",
  ]),
  folder("api", ["models", "platform/node", "presets", "runtime", "tasks", "tokenizers"]),
  folder("api/browser", [
    "api",
    "backends/native",
    "backends/wasm",
    "hosts",
    "models",
    "platform/browser",
    "runtime",
    "tasks",
    "tokenizers",
  ]),
  folder("settings", ["hosts", "models", "runtime"]),
  folder("distillation", ["api", "formats", "runtime", "tasks"]),
  folder("cross-validation", ["api", "formats", "models", "runtime", "tasks", "tokenizers"]),
  folder("receipts", [
    "api",
    "cross-validation",
    "devices",
    "formats",
    "kernels",
    "measurements",
    "models",
    "runtime",
    "tasks",
    "tokenizers",
  ]),
  folder("server", ["api", "formats", "models", "runtime", "settings", "tasks", "tokenizers"]),
  folder("ai-sdk", ["api", "tasks"]),
  folder("langchain", ["api", "tasks"]),
  folder("client", []),
  folder("testing", []),
  folder("cli", "everything"),
  folder("index", "everything", ["src/index.ts"]),
];

export interface Limits {
  /** Source files of one folder, tests and subfolders not counted. */
  readonly files: number;
  /** Lines of one source file. */
  readonly lines: number;
  /** Folders that hold one source file on purpose. */
  readonly mayHoldOne: readonly string[];
  /** Written by programs: not checked. */
  readonly generated: readonly string[];
}

export const limits: Limits = {
  files: 20,
  lines: 400,
  mayHoldOne: ["src/presets", "src/engine"],
  generated: ["src/client/generated-openapi.ts"],
};

/** The folder that a source file belongs to, or undefined where the plan has none. */
export function folderOf(file: string): Folder | undefined {
  let best: { readonly found: Folder; readonly length: number } | undefined;
  for (const found of folders) {
    for (const path of found.paths) {
      if ((path.endsWith("/") ? file.startsWith(path) : file === path) && path.length > (best?.length ?? 0)) {
        best = { found, length: path.length };
      }
    }
  }
  return best?.found;
}
