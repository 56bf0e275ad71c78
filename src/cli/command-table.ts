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
  /** Heading of its group in the help text. */
  readonly heading: string;
  /** One line of the help text. */
  readonly description: string;
  /** Imports the module of the command. */
  readonly load: () => Promise<DefineCommand>;
  /** Whether the command reads the definitions of all others. */
  readonly readsOthers: boolean;
}

type Row = readonly [description: string, load: CommandEntry["load"], readsOthers?: true];

/** Heading of the commands about the program. */
export const programHeading = "The program itself:";

/** The commands of each group by name, groups and commands in the order of the help text. */
const groups: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  "Read texts:": {
    embed: ["embeddings of texts and pictures", async () => (await import("./commands/tasks/embed.ts")).defineEmbed],
    classify: [
      "the labels of texts or pictures, with scores",
      async () => (await import("./commands/tasks/classify.ts")).defineClassify,
    ],
    rerank: ["rank documents by relevance to a query", async () => (await import("./commands/tasks/rerank.ts")).defineRerank],
    recognize: [
      "named entities in texts, with their positions",
      async () => (await import("./commands/tasks/recognize.ts")).defineRecognize,
    ],
    "fill-mask": [
      "predict the tokens at mask tokens",
      async () => (await import("./commands/tasks/fill-mask.ts")).defineFillMask,
    ],
    answer: ["find the answer to a question in texts", async () => (await import("./commands/tasks/answer.ts")).defineAnswer],
    similarity: ["similarity of texts", async () => (await import("./commands/tasks/similarity.ts")).defineSimilarity],
    extract: ["extract fields from texts by a schema", async () => (await import("./commands/tasks/extract.ts")).defineExtract],
    tokenize: [
      "tokens of texts, with their positions",
      async () => (await import("./commands/tasks/tokenize.ts")).defineTokenize,
    ],
    chunk: ["split long texts into chunks", async () => (await import("./commands/tasks/chunk.ts")).defineChunk],
  },
  "Write texts:": {
    generate: ["generate text that follows prompts", async () => (await import("./commands/tasks/generate.ts")).defineGenerate],
    chat: ["talk to a language model", async () => (await import("./commands/tasks/chat.ts")).defineChat],
    rewrite: [
      "summarize, translate or otherwise rewrite texts",
      async () => (await import("./commands/tasks/rewrite.ts")).defineRewrite,
    ],
  },
  "Read pictures and sound:": {
    detect: [
      "things in pictures, with labels, scores and boxes",
      async () => (await import("./pictures/detect.ts")).defineDetect,
    ],
    "image-features": [
      "hidden states or pooled vectors of pictures",
      async () => (await import("./pictures/image-features.ts")).defineImageFeatures,
    ],
    read: ["the text of pictures of pages, with boxes", async () => (await import("./commands/tasks/read.ts")).defineRead],
    transcribe: [
      "write down speech, with the times of segments and words",
      async () => (await import("./commands/tasks/transcribe.ts")).defineTranscribe,
    ],
    "detect-speech": [
      "the segments of a sound in which somebody speaks",
      async () => (await import("./commands/tasks/detect-speech.ts")).defineDetectSpeech,
    ],
    "classify-sound": [
      "the labels of sounds, with scores",
      async () => (await import("./commands/tasks/classify-sound.ts")).defineClassifySound,
    ],
  },
  "Run and serve any model:": {
    run: ["run any model on tensors, without tokenizer or task", async () => (await import("./commands/tasks/run.ts")).defineRun],
    serve: ["serve all tasks over HTTP", async () => (await import("./commands/system/serve.ts")).defineServe],
    health: [
      "whether a server on this machine is ready, for health checks of containers",
      async () => (await import("./commands/system/health.ts")).defineHealth,
    ],
    jobs: [
      "run a task over the rows of a large file, with workers on one machine or many",
      async () => (await import("./commands/jobs/index.ts")).defineJobs,
    ],
    tasks: ["list the tasks, and the models they need", async () => (await import("./commands/tasks/tasks.ts")).defineTasks],
  },
  "Look at models and make others of them:": {
    explain: [
      "which target would run a model, and why; loads nothing",
      async () => (await import("./commands/models/explain.ts")).defineExplain,
    ],
    inspect: [
      "contents, inputs and outputs of a model file, and which backends can run it; loads nothing",
      async () => (await import("./commands/models/inspect.ts")).defineInspect,
    ],
    show: [
      "describe a model: variants, tensors, tokenizer, files, and where it would run",
      async () => (await import("./commands/models/show.ts")).defineShow,
    ],
    distill: [
      "distill an embedding model into static token embeddings: smaller, faster, less accurate",
      async () => (await import("./commands/models/distill.ts")).defineDistill,
    ],
    pack: [
      "pack the folder of a model into one file, an .aimod package",
      async () => (await import("./commands/models/pack.ts")).definePack,
    ],
    quantize: [
      "write a GGUF model with its matrices in another type",
      async () => (await import("./commands/models/quantize.ts")).defineQuantize,
    ],
    optimize: [
      "search for the fastest form of an ONNX file on a backend, and write it",
      async () => (await import("./commands/models/optimize.ts")).defineOptimize,
    ],
    compile: [
      "compile a model for shapes ahead of time, and list or remove compiled programs",
      async () => (await import("./commands/models/compile.ts")).defineCompile,
    ],
  },
  "Fetch and keep models:": {
    pull: [
      "download a model into the store, or what is missing of it, and verify existing files",
      async () => (await import("./commands/store/pull.ts")).definePull,
    ],
    list: [
      "list the models in the store: size, tasks, variants, last use",
      async () => (await import("./commands/store/list.ts")).defineList,
    ],
    remove: [
      "remove a model from the store, with the files that no other model shares",
      async () => (await import("./commands/store/remove.ts")).defineRemove,
    ],
    prune: [
      "remove files that no model in the store needs, and those of interrupted pulls",
      async () => (await import("./commands/store/prune.ts")).definePrune,
    ],
    check: [
      "verify the digest of every file of the store, or of one model",
      async () => (await import("./commands/store/check.ts")).defineCheck,
    ],
  },
  "This machine:": {
    backends: [
      "availability of each backend and device, with reasons and remedies",
      async () => (await import("./commands/system/backends.ts")).defineBackends,
    ],
    doctor: [
      "facts about this machine, and a test run on every target: PASS or FAIL, with the reason",
      async () => (await import("./commands/system/doctor.ts")).defineDoctor,
    ],
    kernels: [
      "kernels for quantized weights: which run on this machine, their known-answer tests, and how fast they are",
      async () => (await import("./commands/system/kernels.ts")).defineKernels,
    ],
    libraries: [
      "native libraries for inference on this machine, and where they were looked for; loads none",
      async () => (await import("./commands/system/libraries.ts")).defineLibraries,
    ],
    "analyze-library": [
      "what a native library is and needs, and whether it fits this machine; loads nothing",
      async () => (await import("./commands/system/analyze-library.ts")).defineAnalyzeLibrary,
    ],
  },
  "Prove and measure:": {
    verify: [
      "test a model on every target that can run it, against known answers if there are any",
      async () => (await import("./commands/measuring/verify.ts")).defineVerify,
    ],
    crossval: [
      "compare the logits of a model on two targets, or with a recording, token by token",
      async () => (await import("./commands/measuring/crossval.ts")).defineCrossval,
    ],
    receipt: [
      "run a language model and record what ran it, with which kernels and how fast; signed on request",
      async () => (await import("./commands/measuring/receipt.ts")).defineReceipt,
    ],
    "verify-receipt": [
      "verify a receipt: signature, digests, kernels, tests, and whether its speed is possible",
      async () => (await import("./commands/measuring/verify-receipt.ts")).defineVerifyReceipt,
    ],
    bench: [
      "compare a model on every target that can run it: load time, latency, throughput, memory",
      async () => (await import("./commands/measuring/bench.ts")).defineBench,
    ],
    tune: [
      "the best threads, replicas and batch tokens for a model on this machine, by measuring",
      async () => (await import("./commands/measuring/tune.ts")).defineTune,
    ],
  },
  [programHeading]: {
    build: [
      "bundle your program, or this one, with chosen backends alone",
      async () => (await import("./commands/system/build.ts")).defineBuild,
    ],
    config: [
      "effective settings, and where each value comes from",
      async () => (await import("./commands/system/config.ts")).defineConfig,
    ],
    version: [
      "versions of inferyard and of what it runs on",
      async () => (await import("./commands/system/version.ts")).defineVersion,
    ],
    completions: [
      "a completion script for your shell",
      async () => (await import("./commands/system/completions.ts")).defineCompletions,
      true,
    ],
  },
};

/** All commands of the command line, in the order of the help text. */
export const commands: readonly CommandEntry[] = Object.entries(groups).flatMap(([heading, rows]) =>
  Object.entries(rows).map(([name, [description, load, readsOthers = false]]) => ({
    name,
    heading,
    description,
    load,
    readsOthers,
  })),
);
