/** The layout of src/: which folder may import which, and how large folders and files may be. ARCHITECTURE.md explains the plan. */

/** A list of layers, lowest first. Folders of one layer do not import each other; a folder may import every lower layer. */
export type Layers = readonly (readonly string[])[];

/** The folders and loose files of src/ by rank. */
export const ranks: Layers = [
  ["contract", "version.ts"],
  ["platform", "concurrency"],
  ["storage", "devices", "formats", "regular-expressions"],
  ["hosts", "models", "kernels"],
  ["libraries", "speed-records"],
  ["tokenizers", "engine", "templates", "processors"],
  ["backends", "runtime"],
  ["tasks", "programs"],
  ["composition"],
  ["settings"],
  ["api", "testing"],
  ["jobs"],
  ["server", "inspection", "cross-validation", "distillation", "kernel-capabilities"],
  ["receipts", "measuring"],
  ["ai-sdk", "langchain", "client", "bundling"],
  ["cli"],
  ["index.ts"],
];

/** Layers inside a folder of src/. `.` stands for the files of the folder itself that no other entry names. */
export const layersWithin: Readonly<Record<string, Layers>> = {
  engine: [
    ["ir"],
    ["interpret"],
    ["build"],
    ["onnx"],
    ["transformers"],
    ["passes"],
    ["codegen"],
    ["lower"],
    ["plan"],
    ["memory"],
    ["threads"],
    ["execute"],
    ["."],
  ],
  backends: [["sequences"], ["graphs", "gguf", "onnxruntime"], ["onnx", "wasm", "native", "llamacpp", "library", "xla"]],
  libraries: [
    ["ffi", "binaries", "demangling", "npm", "wheels"],
    ["contracts"],
    ["discovery"],
    ["analysis"],
    ["validation"],
    ["inventory"],
    ["accelerators"],
    ["."],
  ],
  runtime: [
    ["targets"],
    ["decision"],
    ["options"],
    ["supervision"],
    ["platform.ts"],
    ["selection"],
    ["loading"],
    ["scheduling"],
    ["residency"],
    ["reloading"],
    ["."],
  ],
  programs: [["interface"], ["definition"], ["backends"], ["ranks"], ["compilation"], ["optimization"], ["."]],
  templates: [["errors.ts"], ["budget.ts"], ["values"], ["syntax"], ["builtins"], ["."]],
  tasks: [
    ["encoding"],
    ["threads"],
    ["text-threads"],
    ["batching"],
    ["definition"],
    ["question-answering", "token-classification", "classification", "fill-mask", "generation"],
    ["embedding", "speech"],
    ["sparse-embedding", "similarity", "reranking", "verification", "chunking", "extraction", "vision"],
    ["reading"],
    ["text-threads/thread.ts"],
    ["."],
  ],
};

/** Folders that import less than their rank allows: only these folders of src/, and themselves. */
export const only: Readonly<Record<string, readonly string[]>> = {
  client: [],
  testing: ["contract", "engine", "programs"],
  "backends/onnx": ["contract", "platform", "storage", "backends"],
  "backends/wasm": ["contract", "platform", "formats", "backends"],
  "backends/llamacpp": ["contract", "platform", "concurrency", "storage", "devices", "formats", "kernels", "backends"],
};

export interface Limits {
  /** Source files of one folder, tests and subfolders not counted; the folders of test/, scripts/ and bench/ as well. */
  readonly files: number;
  /** Files that lie directly in src/. */
  readonly looseFiles: number;
  /** Lines of one source file. */
  readonly lines: number;
  /** Folders that hold one source file on purpose. */
  readonly mayHoldOne: readonly string[];
  /** Folders of data, whose files are not counted. */
  readonly data: readonly string[];
  /** Names that several files export for the same role: one for each engine, and one for each library of clients. */
  readonly sharedNames: readonly string[];
  /** Written by programs: not checked. */
  readonly generated: readonly string[];
}

export const limits: Limits = {
  files: 20,
  looseFiles: 8,
  lines: 400,
  mayHoldOne: ["src/engine"],
  data: ["scripts/fuzz/corpus/"],
  sharedNames: ["FinishReason", "importLibrary", "installedVersion", "requirement"],
  generated: [
    "src/client/generated-openapi.ts",
    "src/contract/generated-load-settings.ts",
    "src/kernels/generated-native-settings.ts",
    "src/libraries/npm/generated-engine-packages.ts",
    "src/receipts/generated-receipt.ts",
    "src/runtime/decision/generated-decision.ts",
    "src/runtime/options/generated-runtime-options.ts",
    "src/settings/generated-server-settings.ts",
    "src/tasks/chunking/generated-chunk-options.ts",
    "src/tasks/classification/generated-classify-options.ts",
    "src/tasks/definition/generated-task-options.ts",
    "src/tasks/embedding/generated-embed-options.ts",
    "src/tasks/extraction/generated-extract-options.ts",
    "src/tasks/fill-mask/generated-fill-mask-options.ts",
    "src/tasks/generation/chat/generated-chat-options.ts",
    "src/tasks/generation/generated-generate-options.ts",
    "src/tasks/generation/rewrite/generated-rewrite-options.ts",
    "src/tasks/generation/sampling/generated-generation-options.ts",
    "src/tasks/question-answering/generated-answer-options.ts",
    "src/tasks/reranking/generated-rerank-options.ts",
    "src/tasks/similarity/generated-similarity-options.ts",
    "src/tasks/sparse-embedding/generated-embed-sparse-options.ts",
    "src/tasks/token-classification/generated-recognize-options.ts",
  ],
};

interface Place {
  /** Path of a file below a folder, split at its slashes. */
  readonly parts: readonly string[];
  readonly layers: Layers;
}

/** The layer that holds a file, from 0, and the entry that names it. Undefined: no entry does. */
function layerOf({ parts, layers }: Place): { readonly layer: number; readonly entry: string } | undefined {
  const names = [parts.join("/"), parts[0] ?? "", ...(parts.length === 1 ? ["."] : [])];
  for (const entry of names) {
    const layer = layers.findIndex((entries) => entries.includes(entry));
    if (layer >= 0) return { layer, entry };
  }
  return undefined;
}

/** Why `file` may not import `imported`, or undefined if it may. Both are paths from the root of the repository, below src/. */
export function importProblem(file: string, imported: string): string | undefined {
  const from = file.split("/").slice(1);
  const to = imported.split("/").slice(1);
  const problem = layerProblem({ parts: from, layers: ranks }, { parts: to, layers: ranks });
  if (problem !== undefined) return problem;
  const [folder = ""] = from;
  const narrow = Object.entries(only).find(([name]) => file.startsWith(`src/${name}/`));
  if (narrow !== undefined && !imported.startsWith(`src/${narrow[0]}/`) && !narrow[1].includes(to[0] ?? ""))
    return `${narrow[0]} may import ${narrow[1].join(", ") || "itself alone"}`;
  const layers = layersWithin[folder];
  if (layers === undefined || to[0] !== folder) return undefined;
  return layerProblem({ parts: from.slice(1), layers }, { parts: to.slice(1), layers });
}

function layerProblem(from: Place, to: Place): string | undefined {
  const [own, other] = [layerOf(from), layerOf(to)];
  if (own === undefined) return `no layer of scripts/layout/layout.ts holds ${from.parts.join("/")}`;
  if (other === undefined) return `no layer of scripts/layout/layout.ts holds ${to.parts.join("/")}`;
  if (own.entry === other.entry || other.layer < own.layer) return undefined;
  return `${own.entry} is in layer ${own.layer} and ${other.entry} in layer ${other.layer}: imports go to lower layers`;
}
