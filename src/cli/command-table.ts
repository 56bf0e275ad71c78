/**
 * All commands, in the order of the help text. A command's module is imported when it is chosen, so that a start of the program loads one of them and
 * what it needs.
 */
import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";

/** Adds arguments, flags and the action to a command that has its name and description. */
export type DefineCommand = (command: Command, terminal: Terminal) => void;

/** Groups of commands in the help text, with their headings, in the order of the help text. */
export const commandGroups = {
  texts: "Read texts:",
  generation: "Write texts:",
  media: "Read pictures and sound:",
  running: "Run and serve any model:",
  models: "Look at models and make others of them:",
  store: "Fetch and keep models:",
  machine: "This machine:",
  measuring: "Prove and measure:",
  program: "The program itself:",
} as const;

/** A command before its module is imported. */
export interface CommandEntry {
  readonly name: string;
  readonly group: keyof typeof commandGroups;
  /** One line of the help text. */
  readonly description: string;
  /** Imports the module of the command. */
  readonly load: () => Promise<DefineCommand>;
  /** Whether the command reads the definitions of all others. Default: false. */
  readonly readsOthers?: boolean;
}

/** All commands of the command line, in the order of the help text. */
export const commands: readonly CommandEntry[] = [
  {
    name: "embed",
    group: "texts",
    description: "embeddings of texts",
    load: async () => (await import("./commands/tasks/embed.ts")).defineEmbed,
  },
  {
    name: "classify",
    group: "texts",
    description: "the labels of texts, with scores",
    load: async () => (await import("./commands/tasks/classify.ts")).defineClassify,
  },
  {
    name: "rerank",
    group: "texts",
    description: "rank documents by relevance to a query",
    load: async () => (await import("./commands/tasks/rerank.ts")).defineRerank,
  },
  {
    name: "recognize",
    group: "texts",
    description: "named entities in texts, with their positions",
    load: async () => (await import("./commands/tasks/recognize.ts")).defineRecognize,
  },
  {
    name: "fill-mask",
    group: "texts",
    description: "predict the tokens at mask tokens",
    load: async () => (await import("./commands/tasks/fill-mask.ts")).defineFillMask,
  },
  {
    name: "answer",
    group: "texts",
    description: "find the answer to a question in texts",
    load: async () => (await import("./commands/tasks/answer.ts")).defineAnswer,
  },
  {
    name: "similarity",
    group: "texts",
    description: "similarity of texts",
    load: async () => (await import("./commands/tasks/similarity.ts")).defineSimilarity,
  },
  {
    name: "extract",
    group: "texts",
    description: "extract fields from texts by a schema",
    load: async () => (await import("./commands/tasks/extract.ts")).defineExtract,
  },
  {
    name: "read",
    group: "texts",
    description: "the text of pictures of pages, with boxes",
    load: async () => (await import("./commands/tasks/read.ts")).defineRead,
  },
  {
    name: "tokenize",
    group: "texts",
    description: "tokens of texts, with their positions",
    load: async () => (await import("./commands/tasks/tokenize.ts")).defineTokenize,
  },
  {
    name: "chunk",
    group: "texts",
    description: "split long texts into chunks",
    load: async () => (await import("./commands/tasks/chunk.ts")).defineChunk,
  },
  {
    name: "generate",
    group: "generation",
    description: "generate text that follows prompts",
    load: async () => (await import("./commands/tasks/generate.ts")).defineGenerate,
  },
  {
    name: "chat",
    group: "generation",
    description: "talk to a language model",
    load: async () => (await import("./commands/tasks/chat.ts")).defineChat,
  },
  {
    name: "rewrite",
    group: "generation",
    description: "summarize, translate or otherwise rewrite texts",
    load: async () => (await import("./commands/tasks/rewrite.ts")).defineRewrite,
  },
  {
    name: "transcribe",
    group: "media",
    description: "write down speech, with the times of segments and words",
    load: async () => (await import("./commands/tasks/transcribe.ts")).defineTranscribe,
  },
  {
    name: "run",
    group: "running",
    description: "run any model on tensors, without tokenizer or task",
    load: async () => (await import("./commands/tasks/run.ts")).defineRun,
  },
  {
    name: "serve",
    group: "running",
    description: "serve all tasks over HTTP",
    load: async () => (await import("./commands/system/serve.ts")).defineServe,
  },
  {
    name: "tasks",
    group: "running",
    description: "list the tasks, and the models they need",
    load: async () => (await import("./commands/tasks/tasks.ts")).defineTasks,
  },
  {
    name: "explain",
    group: "models",
    description: "which target would run a model, and why; loads nothing",
    load: async () => (await import("./commands/models/explain.ts")).defineExplain,
  },
  {
    name: "inspect",
    group: "models",
    description: "contents, inputs and outputs of a model file, and which backends can run it; loads nothing",
    load: async () => (await import("./commands/models/inspect.ts")).defineInspect,
  },
  {
    name: "show",
    group: "models",
    description: "describe a model: variants, tensors, tokenizer, files, and where it would run",
    load: async () => (await import("./commands/models/show.ts")).defineShow,
  },
  {
    name: "distill",
    group: "models",
    description: "distill an embedding model into static token embeddings: smaller, faster, less accurate",
    load: async () => (await import("./commands/models/distill.ts")).defineDistill,
  },
  {
    name: "pack",
    group: "models",
    description: "pack the folder of a model into one file, an .aimod package",
    load: async () => (await import("./commands/models/pack.ts")).definePack,
  },
  {
    name: "quantize",
    group: "models",
    description: "write a GGUF model with its matrices in another type",
    load: async () => (await import("./commands/models/quantize.ts")).defineQuantize,
  },
  {
    name: "compile",
    group: "models",
    description: "compile a model for shapes ahead of time, and list or remove compiled programs",
    load: async () => (await import("./commands/models/compile.ts")).defineCompile,
  },
  {
    name: "pull",
    group: "store",
    description: "download a model into the store, or what is missing of it, and verify existing files",
    load: async () => (await import("./commands/store/pull.ts")).definePull,
  },
  {
    name: "list",
    group: "store",
    description: "list the models in the store: size, tasks, variants, last use",
    load: async () => (await import("./commands/store/list.ts")).defineList,
  },
  {
    name: "remove",
    group: "store",
    description: "remove a model from the store, with the files that no other model shares",
    load: async () => (await import("./commands/store/remove.ts")).defineRemove,
  },
  {
    name: "prune",
    group: "store",
    description: "remove files that no model in the store needs, and those of interrupted pulls",
    load: async () => (await import("./commands/store/prune.ts")).definePrune,
  },
  {
    name: "check",
    group: "store",
    description: "verify the digest of every file of the store, or of one model",
    load: async () => (await import("./commands/store/check.ts")).defineCheck,
  },
  {
    name: "backends",
    group: "machine",
    description: "availability of each backend and device, with reasons and remedies",
    load: async () => (await import("./commands/system/backends.ts")).defineBackends,
  },
  {
    name: "doctor",
    group: "machine",
    description: "facts about this machine, and a test run on every target: PASS or FAIL, with the reason",
    load: async () => (await import("./commands/system/doctor.ts")).defineDoctor,
  },
  {
    name: "kernels",
    group: "machine",
    description: "kernels for quantized weights: which run on this machine, their known-answer tests, and how fast they are",
    load: async () => (await import("./commands/system/kernels.ts")).defineKernels,
  },
  {
    name: "libraries",
    group: "machine",
    description: "native libraries for inference on this machine, and where they were looked for; loads none",
    load: async () => (await import("./commands/system/libraries.ts")).defineLibraries,
  },
  {
    name: "analyze-library",
    group: "machine",
    description: "what a native library is and needs, and whether it fits this machine; loads nothing",
    load: async () => (await import("./commands/system/analyze-library.ts")).defineAnalyzeLibrary,
  },
  {
    name: "verify",
    group: "measuring",
    description: "test a model on every target that can run it, against known answers if there are any",
    load: async () => (await import("./commands/measuring/verify.ts")).defineVerify,
  },
  {
    name: "crossval",
    group: "measuring",
    description: "compare the logits of a model on two targets, or with a recording, token by token",
    load: async () => (await import("./commands/measuring/crossval.ts")).defineCrossval,
  },
  {
    name: "receipt",
    group: "measuring",
    description: "run a language model and record what ran it, with which kernels and how fast; signed on request",
    load: async () => (await import("./commands/measuring/receipt.ts")).defineReceipt,
  },
  {
    name: "verify-receipt",
    group: "measuring",
    description: "verify a receipt: signature, digests, kernels, tests, and whether its speed is possible",
    load: async () => (await import("./commands/measuring/verify-receipt.ts")).defineVerifyReceipt,
  },
  {
    name: "bench",
    group: "measuring",
    description: "compare a model on every target that can run it: load time, latency, throughput, memory",
    load: async () => (await import("./commands/measuring/bench.ts")).defineBench,
  },
  {
    name: "tune",
    group: "measuring",
    description: "the best threads, replicas and batch tokens for a model on this machine, by measuring",
    load: async () => (await import("./commands/measuring/tune.ts")).defineTune,
  },
  {
    name: "config",
    group: "program",
    description: "effective settings, and where each value comes from",
    load: async () => (await import("./commands/system/config.ts")).defineConfig,
  },
  {
    name: "version",
    group: "program",
    description: "versions of inferyard and of what it runs on",
    load: async () => (await import("./commands/system/version.ts")).defineVersion,
  },
  {
    name: "completions",
    group: "program",
    description: "a completion script for your shell",
    load: async () => (await import("./commands/system/completions.ts")).defineCompletions,
    readsOthers: true,
  },
];
