/** TypeScript types of options, made from their tables: one interface for each, whose members have the descriptions. `npm run schemas` writes them. */
import { loadSettings } from "../../../src/runtime/options/load-options.ts";
import { type Option, type OptionType, type Options, getDefaults } from "../../../src/runtime/options/option.ts";
import { runtimeOptions } from "../../../src/runtime/options/runtime-options.ts";
import { serverOptions } from "../../../src/settings/server-options.ts";
import { chunkOptions } from "../../../src/tasks/chunking/chunk-options.ts";
import { classifyOptions } from "../../../src/tasks/classification/classify-options.ts";
import { textTaskOptions } from "../../../src/tasks/definition/task-options.ts";
import { embedOptions } from "../../../src/tasks/embedding/embed-options.ts";
import { extractOptions } from "../../../src/tasks/extraction/extract-options.ts";
import { fillMaskOptions } from "../../../src/tasks/fill-mask/fill-mask-options.ts";
import { chatOptions } from "../../../src/tasks/generation/chat/chat-options.ts";
import { generateOptions } from "../../../src/tasks/generation/generate-options.ts";
import { rewriteOptions } from "../../../src/tasks/generation/rewrite/rewrite-options.ts";
import { generationOptions } from "../../../src/tasks/generation/sampling/generation-options.ts";
import { answerOptions } from "../../../src/tasks/question-answering/answer-options.ts";
import { rerankOptions } from "../../../src/tasks/reranking/rerank-options.ts";
import { similarityOptions } from "../../../src/tasks/similarity/similarity-options.ts";
import { embedSparseOptions } from "../../../src/tasks/sparse-embedding/embed-sparse-options.ts";
import { recognizeOptions } from "../../../src/tasks/token-classification/recognize-options.ts";

/** The options of tasks: the table's file without `-options.ts`, the name of the interface and what it is, its rows, and the modules of types in them. */
const taskTypes: readonly (readonly [
  file: string,
  name: string,
  about: string,
  rows: Options,
  types?: Readonly<Record<string, string>>,
])[] = [
  ["definition/task", "TextTaskOptions", "Options that all text tasks share.", textTaskOptions],
  [
    "embedding/embed",
    "AllEmbedOptions",
    "All options of `Runtime.embed`.",
    embedOptions,
    { EmbeddingRanges: "./quantization-ranges.ts" },
  ],
  [
    "similarity/similarity",
    "SimilarityOptions",
    "Options of `Runtime.similarity`: of embedding, and of the comparison.",
    similarityOptions,
  ],
  ["sparse-embedding/embed-sparse", "EmbedSparseOptions", "Options of `Runtime.embedSparse`.", embedSparseOptions],
  [
    "chunking/chunk",
    "ChunkOptions",
    "Options of `Runtime.chunk`.",
    chunkOptions,
    { Separator: "../text-threads/chunked-text.ts" },
  ],
  [
    "classification/classify",
    "ClassifyOptions",
    "Options of `Runtime.classify`. With `labels` the task is `zero-shot-classification`, otherwise `text-classification`.",
    classifyOptions,
  ],
  ["reranking/rerank", "RerankOptions", "Options of `Runtime.rerank`.", rerankOptions],
  [
    "extraction/extract",
    "ExtractOptions",
    "Options of `Runtime.extract`.",
    extractOptions,
    { ExtractSchema: "./extract-schema.ts" },
  ],
  ["token-classification/recognize", "RecognizeOptions", "Options of `Runtime.recognize`.", recognizeOptions],
  ["fill-mask/fill-mask", "FillMaskOptions", "Options of `Runtime.fillMask`.", fillMaskOptions],
  ["question-answering/answer", "AnswerOptions", "Options of `Runtime.answer`.", answerOptions],
  [
    "generation/sampling/generation",
    "GenerationOptions",
    "Options of generation. Omitted ones have the values of the model's generation_config.json, and otherwise the defaults stated here. Names are transformers' in camel case, and OpenAI's for options that transformers lacks.",
    generationOptions,
    { TextConstraint: "../constraints/text-constraint.ts" },
  ],
  [
    "generation/generate",
    "GenerateOptions",
    "Options of `generate`.",
    generateOptions,
    { TextConstraint: "./constraints/text-constraint.ts" },
  ],
  [
    "generation/rewrite/rewrite",
    "RewriteOptions",
    "Options of `rewrite`.",
    rewriteOptions,
    { TextConstraint: "../constraints/text-constraint.ts" },
  ],
  [
    "generation/chat/chat",
    "ChatOptions",
    "Options of `chat`.",
    chatOptions,
    { ToolChoice: "./constrained-answer.ts", Tool: "./messages.ts", TextConstraint: "../constraints/text-constraint.ts" },
  ],
];

const types = new URL("../../../src/", import.meta.url);

/** The generated files with their texts. */
export function optionTypes(): readonly (readonly [file: URL, text: string])[] {
  return [
    [new URL("runtime/options/generated-runtime-options.ts", types), runtimeTypes()],
    [new URL("settings/generated-server-settings.ts", types), serverTypes()],
    [new URL("contract/generated-load-settings.ts", types), loadTypes()],
    [new URL("kernels/generated-native-settings.ts", types), nativeTypes()],
    ...taskTypes.map(([file, name, about, rows, modules = {}]) => {
      const imports = Object.entries(modules).map(([type, module]) => `import type { ${type} } from "${module}";\n`);
      const text = `${header}${imports.join("")}\n/** ${about} */\n${getInterface(name, Object.entries(rows))}`;
      return [new URL(`tasks/${file.replace(/[^/]+$/, "generated-$&")}-options.ts`, types), text] as const;
    }),
  ];
}

const header = "/** Written by `npm run schemas`; the table of options is the source. */\n";

const loadRows = (engine?: "native"): (readonly [string, Option])[] =>
  Object.entries(loadSettings).filter(([, row]) => row.engine === engine);

function loadTypes(): string {
  return `${header}import type { LoraAdapter } from "./lora-adapter.ts";

/** Settings of a load that several engines have. */
${getInterface("CommonLoadSettings", loadRows())}`;
}

function nativeTypes(): string {
  return `${header}
/** Settings of a load that the engine \`native\` alone has. */
${getInterface("NativeSettings", loadRows("native"))}`;
}

function runtimeTypes(): string {
  return `${header}
/** Settings of a runtime that inferyard.yaml has, too. */
${getInterface("RuntimeOptions", Object.entries(runtimeOptions))}
${getDefaultsType("RuntimeDefaults", "RuntimeOptions", runtimeOptions)}`;
}

function serverTypes(): string {
  const rows = Object.entries(serverOptions);
  const ofPart = (part: string): (readonly [string, Option])[] => rows.filter(([, row]) => (row.part ?? "handler") === part);
  return `${header}import type { ServerKey, ServerModel } from "./server-maps.ts";

/** Settings of the handler of requests. */
${getInterface("HandlerSettings", ofPart("handler"))}
/** Where the server listens, and the limits on its connections. */
${getInterface("SocketSettings", ofPart("socket"))}
/** Settings of the program that runs the server. */
${getInterface("ServerProgramSettings", ofPart("program"))}
/** The section \`server\` of inferyard.yaml. */
export interface ServerSection extends HandlerSettings, SocketSettings, ServerProgramSettings {}

${getDefaultsType("ServerDefaults", "ServerSection", serverOptions)}`;
}

function getDefaultsType(name: string, base: string, rows: Options): string {
  const names = Object.keys(getDefaults(rows)).map((option) => `\n    | "${option}"`);
  return `/** Those that have a default. */
export type ${name} = Required<
  Pick<
    ${base},${names.join("")}
  >
>;\n`;
}

function getInterface(name: string, rows: readonly (readonly [string, Option])[]): string {
  const members = rows.map(([member, { type, typescript = getType(type), isRequired = false, ...row }]) => {
    const { field, description = field, default: value } = row;
    const sentence = value === undefined ? "" : ` Default: ${JSON.stringify(value)}.`;
    const about = description === undefined ? "" : `  /** ${withoutLinks(description).replace(/[^.]$/, "$&.")}${sentence} */\n`;
    return `${about}  readonly ${member}${isRequired ? "" : "?"}: ${typescript};\n`;
  });
  return `export interface ${name} {\n${members.join("")}}\n`;
}

/** Links of the page lead nowhere in an editor. */
function withoutLinks(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
}

function getType(type: OptionType): string {
  switch (type.kind) {
    case "boolean":
      return "boolean";
    case "choice":
      return type.values.map((value) => JSON.stringify(value)).join(" | ");
    case "integer":
      return type.word === undefined ? "number" : `number | ${JSON.stringify(type.word)}`;
    case "number":
      return "number";
    case "name":
    case "text":
    case "path":
      return "string";
    case "list":
    case "texts":
    case "strings":
      return "readonly string[]";
    case "integers":
      return "readonly number[]";
    case "duration":
    case "size":
      return "number | string";
    case "targets":
      return "string | readonly string[]";
    case "adapters":
      return "readonly LoraAdapter[]";
    case "unchecked":
      return "unknown";
    default:
      return type satisfies never;
  }
}
