/**
 * All commands, in the order of the help text. A command's module is imported when it is chosen, so that a start of the program loads one of them and
 * what it needs.
 */
import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";

/** Adds arguments, flags and the action to a command that has its name and description. */
export type DefineCommand = (command: Command, terminal: Terminal) => void;

/** A command before its module is imported. */
export interface CommandEntry {
  readonly name: string;
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
    description: "embeddings of texts",
    load: async () => (await import("./commands/tasks/embed.ts")).defineEmbed,
  },
  {
    name: "classify",
    description: "the labels of texts, with scores",
    load: async () => (await import("./commands/tasks/classify.ts")).defineClassify,
  },
  {
    name: "rerank",
    description: "rank documents by relevance to a query",
    load: async () => (await import("./commands/tasks/rerank.ts")).defineRerank,
  },
  {
    name: "recognize",
    description: "named entities in texts, with their positions",
    load: async () => (await import("./commands/tasks/recognize.ts")).defineRecognize,
  },
  {
    name: "fill-mask",
    description: "predict the tokens at mask tokens",
    load: async () => (await import("./commands/tasks/fill-mask.ts")).defineFillMask,
  },
  {
    name: "answer",
    description: "find the answer to a question in texts",
    load: async () => (await import("./commands/tasks/answer.ts")).defineAnswer,
  },
  {
    name: "similarity",
    description: "similarity of texts",
    load: async () => (await import("./commands/tasks/similarity.ts")).defineSimilarity,
  },
  {
    name: "extract",
    description: "extract fields from texts by a schema",
    load: async () => (await import("./commands/tasks/extract.ts")).defineExtract,
  },
  {
    name: "generate",
    description: "generate text that follows prompts",
    load: async () => (await import("./commands/tasks/generate.ts")).defineGenerate,
  },
  {
    name: "chat",
    description: "talk to a language model",
    load: async () => (await import("./commands/tasks/chat.ts")).defineChat,
  },
  {
    name: "rewrite",
    description: "summarize, translate or otherwise rewrite texts",
    load: async () => (await import("./commands/tasks/rewrite.ts")).defineRewrite,
  },
  {
    name: "tokenize",
    description: "tokens of texts, with their positions",
    load: async () => (await import("./commands/tasks/tokenize.ts")).defineTokenize,
  },
  {
    name: "chunk",
    description: "split long texts into chunks",
    load: async () => (await import("./commands/tasks/chunk.ts")).defineChunk,
  },
  {
    name: "run",
    description: "run any model on tensors, without tokenizer or task",
    load: async () => (await import("./commands/tasks/run.ts")).defineRun,
  },
  {
    name: "tasks",
    description: "list the tasks, and the models they need",
    load: async () => (await import("./commands/tasks/tasks.ts")).defineTasks,
  },
  {
    name: "serve",
    description: "serve all tasks over HTTP",
    load: async () => (await import("./commands/system/serve.ts")).defineServe,
  },
  {
    name: "explain",
    description: "which target would run a model, and why; loads nothing",
    load: async () => (await import("./commands/models/explain.ts")).defineExplain,
  },
  {
    name: "inspect",
    description: "contents, inputs and outputs of a model file, and which backends can run it; loads nothing",
    load: async () => (await import("./commands/models/inspect.ts")).defineInspect,
  },
  {
    name: "analyze-library",
    description: "what a native library is and needs, and whether it fits this machine; loads nothing",
    load: async () => (await import("./commands/system/analyze-library.ts")).defineAnalyzeLibrary,
  },
  {
    name: "pull",
    description: "download a model into the store, or what is missing of it, and verify existing files",
    load: async () => (await import("./commands/store/pull.ts")).definePull,
  },
  {
    name: "list",
    description: "list the models in the store: size, tasks, variants, last use",
    load: async () => (await import("./commands/store/list.ts")).defineList,
  },
  {
    name: "show",
    description: "describe a model: variants, tensors, tokenizer, files, and where it would run",
    load: async () => (await import("./commands/models/show.ts")).defineShow,
  },
  {
    name: "remove",
    description: "remove a model from the store, with the files that no other model shares",
    load: async () => (await import("./commands/store/remove.ts")).defineRemove,
  },
  {
    name: "prune",
    description: "remove files that no model in the store needs, and those of interrupted pulls",
    load: async () => (await import("./commands/store/prune.ts")).definePrune,
  },
  {
    name: "check",
    description: "verify the digest of every file of the store, or of one model",
    load: async () => (await import("./commands/store/check.ts")).defineCheck,
  },
  {
    name: "backends",
    description: "availability of each backend and device, with reasons and remedies",
    load: async () => (await import("./commands/system/backends.ts")).defineBackends,
  },
  {
    name: "doctor",
    description: "facts about this machine, and a test run on every target: PASS or FAIL, with the reason",
    load: async () => (await import("./commands/system/doctor.ts")).defineDoctor,
  },
  {
    name: "libraries",
    description: "native libraries for inference on this machine, and where they were looked for; loads none",
    load: async () => (await import("./commands/system/libraries.ts")).defineLibraries,
  },
  {
    name: "kernels",
    description: "kernels for quantized weights: which run on this machine, their known-answer tests, and how fast they are",
    load: async () => (await import("./commands/system/kernels.ts")).defineKernels,
  },
  {
    name: "verify",
    description: "test a model on every target that can run it, against known answers if there are any",
    load: async () => (await import("./commands/measuring/verify.ts")).defineVerify,
  },
  {
    name: "bench",
    description: "compare a model on every target that can run it: load time, latency, throughput, memory",
    load: async () => (await import("./commands/measuring/bench.ts")).defineBench,
  },
  {
    name: "tune",
    description: "the best threads, replicas and batch tokens for a model on this machine, by measuring",
    load: async () => (await import("./commands/measuring/tune.ts")).defineTune,
  },
  {
    name: "distill",
    description: "distill an embedding model into static token embeddings: smaller, faster, less accurate",
    load: async () => (await import("./commands/models/distill.ts")).defineDistill,
  },
  {
    name: "pack",
    description: "pack the folder of a model into one file, an .aimod package",
    load: async () => (await import("./commands/models/pack.ts")).definePack,
  },
  {
    name: "quantize",
    description: "write a GGUF model with its matrices in another type",
    load: async () => (await import("./commands/models/quantize.ts")).defineQuantize,
  },
  {
    name: "config",
    description: "effective settings, and where each value comes from",
    load: async () => (await import("./commands/system/config.ts")).defineConfig,
  },
  {
    name: "version",
    description: "versions of inferyard and of what it runs on",
    load: async () => (await import("./commands/system/version.ts")).defineVersion,
  },
  {
    name: "completions",
    description: "a completion script for your shell",
    load: async () => (await import("./commands/system/completions.ts")).defineCompletions,
    readsOthers: true,
  },
];
