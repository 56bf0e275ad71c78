/**
 * Every flag of every command: with it the command prints or does something else than without it. The flags that decide which engine runs,
 * --batch-tokens, and those of the commands that measure are in test/cli/every-load-flag.long.test.ts.
 */
import { generateKeyPairSync } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commands as commandTable } from "../../src/cli/command-table.ts";
import { buildProgram } from "../../src/cli/main.ts";
import { withFlags } from "../../src/cli/serving/server-flags.ts";
import { constraintNames } from "../../src/runtime/options/options.ts";
import { loadSettingNames } from "../../src/runtime/options/load-options.ts";
import { serverFields } from "../../src/settings/server-schema.ts";
import { flagName } from "../../src/settings/settings.ts";
import { writeTableModel } from "../fixtures/models/answering-model.ts";
import { writeSpanModel } from "../fixtures/models/span-model.ts";
import { inferyard, useDirectory } from "../fixtures/processes/command-line.ts";
import { type CommandResult, discard } from "../fixtures/processes/command-streams.ts";
import { packaged } from "../libraries/fixtures/native-libraries.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

vi.hoisted(() => {
  process.env["HF_ENDPOINT"] = "http://127.0.0.1:9"; // read when the library is imported
});

const folder = mkdtempSync(join(tmpdir(), "inferyard-every-flag-"));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const answering = join(folder, "answering");
/** tiny-random-bert with mean pooling. */
const bert = join(folder, "bert");
beforeAll(() => vi.stubEnv("INFERYARD_HOME", join(folder, "home")));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

useDirectory(folder); // where distill and pack write when no --out says otherwise

/** A GLiNER model, which takes labels. */
const spans = join(folder, "spans");
const at = (name: string): string => `${sharedData}${name}`;
const pair = at("tiny-random-cross-encoder");
const nli = at("tiny-bert-nli-untrained");
const ner = at("minilm-l3-ner");
const splade = at("tiny-random-splade");
const texts = file("texts.txt", "from a file\n");
const masked = file("masked.txt", "from a [MASK]\n");
const sentences = file("sentences.txt", "the first sentence\nthe second sentence\nand a third one\n");
const markdown = "# A cat\n\nA kitten sits. It sleeps.\n\n# The stock\n\nIt falls. It rises.\n".repeat(3);
const long = "one two three four five six seven eight nine ten ".repeat(8);

/** A flag on a command line. */
interface Case {
  /** Default: that of the command. */
  readonly on?: readonly string[];
  readonly value: readonly string[];
  /** Whether the command fails with the flag, or without it. Default: it succeeds both times. */
  readonly fails?: "with" | "without" | "both";
}
interface CommandCases {
  readonly on: readonly string[];
  readonly flags: Readonly<Record<string, Case>>;
}

/** Flags of texts that are cut. */
const cutting = (on: readonly string[]): Record<string, Case> => ({
  "--max-tokens": { on: [...on, long], value: ["8"] },
  "--truncate": { on: [...on, long, "--max-tokens", "8"], value: ["error"], fails: "with" },
});
const model = (on: readonly string[], other = "./none"): Record<string, Case> => ({
  "--model": { on, value: [other], fails: "with" },
  "--input": { on, value: [texts] },
});
const parisText = "Yesterday Maria Schmidt left Paris, and went to London-Paris.";
const labelled = ["--model", spans, parisText, "--labels", "person,city,place"];
const cityTexts = ["Angela Merkel lives in Berlin near Hamburg.", "Nothing here."];

/** Flags of how text is generated. `text`: the command line up to a text that goes on; `ending`: one that comes to an end token; `lengths`: one where beams differ in length. */
const generating = (
  text: readonly string[],
  ending: readonly string[],
  lengths: readonly string[],
  part: string,
): Record<string, Case> => {
  const short = [...text, "--max-new-tokens", "8"];
  const drawn = [...short, "--seed", "1"];
  return {
    "--max-new-tokens": { on: short, value: ["3"] },
    "--min-new-tokens": { on: [...ending, "--max-new-tokens", "20"], value: ["18"] },
    "--ignore-end-tokens": { on: [...ending, "--max-new-tokens", "20"], value: [] },
    "--do-sample": { on: drawn, value: [] },
    "--no-do-sample": { on: [...drawn, "--temperature", "9"], value: [] },
    "--temperature": { on: drawn, value: ["9"] },
    "--top-k": { on: [...drawn, "--temperature", "9"], value: ["2"] },
    "--top-p": { on: [...drawn, "--temperature", "9"], value: ["0.1"] },
    "--min-p": { on: [...drawn, "--temperature", "9"], value: ["0.9"] },
    "--typical-p": { on: [...drawn, "--temperature", "9"], value: ["0.05"] },
    "--seed": { on: [...drawn, "--temperature", "9"], value: ["2"] },
    "--repetition-penalty": { on: [...text, "--max-new-tokens", "20"], value: ["9"] },
    "--frequency-penalty": { on: [...text, "--max-new-tokens", "20"], value: ["100"] },
    "--presence-penalty": { on: [...text, "--max-new-tokens", "20"], value: ["100"] },
    "--forbid-repeated-ngrams": { on: [...text, "--max-new-tokens", "20"], value: ["1"] },
    "--bad-word": { on: short, value: [part] },
    "--stop": { on: short, value: [part] },
    "--n": { on: [...drawn, "--temperature", "9"], value: ["2"] },
    "--num-beams": { on: short, value: ["3"] },
    "--length-penalty": { on: [...lengths, "--max-new-tokens", "12"], value: ["-3"] },
    "--prompt-lookup": { on: [...text, "--max-new-tokens", "20", "--json"], value: ["8"] },
    "--schema": { on: short, value: [file("schema.json", '{ "type": "integer" }')] },
    "--regex": { on: short, value: ["[ab]{3}"] },
    "--choice": { on: short, value: ["bad"] },
    "--grammar": { on: short, value: [file("grammar.gbnf", 'root ::= "a" | "b" root')] },
  };
};
/** Flags of a draft model, which here is the model itself. */
const drafting = (text: readonly string[], draft: string): Record<string, Case> => ({
  "--draft-model": { on: [...text, "--max-new-tokens", "20"], value: [draft] },
  "--draft-tokens": { on: [...text, "--max-new-tokens", "20", "--draft-model", draft], value: ["1"] },
});
const gpt2 = at("tiny-random-gpt2");
const qwen = at("tiny-random-qwen2");
const t5 = at("tiny-random-t5");
/** tiny-random-qwen2 with a template that knows `enable_thinking`. */
const thinking = join(folder, "thinking");
/** tiny-random-t5 with a task in its config.json. */
const summarizer = join(folder, "summarizer");
const tools = file("tools.json", '[{ "name": "clock" }]');
const gpt2Text = ["--model", gpt2, "Once upon a time"];
const t5Text = ["--model", t5, "world"];

/** A language model of 0.5 MB, and the same quantized. */
const llama = at("gguf-tiny-llama/tiny-llama-f32.gguf");
const quantizedLlama = at("gguf-tiny-llama/tiny-llama-q8_0.gguf");
const onNative = ["--target", "native", "--tokens", "2"];
const crossval = ["--model", llama, "--against", "native"];
const receipt = join(folder, "receipt.json");
const { privateKey, publicKey } = generateKeyPairSync("ed25519", {
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

const commands: Readonly<Record<string, CommandCases>> = {
  generate: {
    on: gpt2Text,
    flags: {
      ...drafting(gpt2Text, gpt2),
      ...generating(gpt2Text, ["--model", gpt2, "world"], ["--model", qwen, "--num-beams", "3", "x"], "her"),
      "--model": { on: ["Hello", "--max-new-tokens", "4"], value: [gpt2], fails: "without" },
      "--input": { on: ["--model", gpt2, "--max-new-tokens", "4"], value: [texts] },
      "--no-skip-special-tokens": {
        on: ["--model", gpt2, "world", "--ignore-end-tokens", "--max-new-tokens", "8"],
        value: [],
      },
      "--no-add-special-tokens": { on: ["--model", at("tiny-random-llama"), "Hello", "--max-new-tokens", "4"], value: [] },
    },
  },
  chat: {
    on: [qwen, "Hello world!"],
    flags: {
      ...drafting([qwen, "Hello world!"], qwen),
      ...generating([qwen, "Hello world!"], [qwen, "we"], [qwen, "--num-beams", "3", "x"], "L"),
      "--model": { on: ["Hello", "--max-new-tokens", "4"], value: [qwen], fails: "without" },
      "--system": { on: [qwen, "Hello", "--max-new-tokens", "4"], value: ["Be kind"] },
      "--tools": { on: [qwen, "Hello", "--max-new-tokens", "4"], value: [tools], fails: "with" },
      "--tool-choice": { on: [qwen, "Hello", "--max-new-tokens", "4"], value: ["required"], fails: "with" },
      "--no-thinking": { on: [thinking, "Hello", "--max-new-tokens", "4"], value: [] },
    },
  },
  rewrite: {
    on: t5Text,
    flags: {
      ...generating(t5Text, ["--model", t5, "why?"], ["--model", t5, "--num-beams", "3", "2"], "at"),
      "--model": { on: ["Hello", "--max-new-tokens", "4"], value: [t5], fails: "without" },
      "--input": { on: ["--model", t5, "--max-new-tokens", "4"], value: [texts] },
      "--task": { on: ["--model", summarizer, "Hello", "--max-new-tokens", "6"], value: ["summarization"] },
      "--prefix": { on: [...t5Text, "--max-new-tokens", "6"], value: ["sum: "] },
      "--source-language": { on: [...t5Text, "--max-new-tokens", "6"], value: ["b"] },
      "--target-language": { on: [...t5Text, "--max-new-tokens", "6"], value: ["b"] },
      "--no-skip-special-tokens": { on: ["--model", t5, "why?", "--ignore-end-tokens", "--max-new-tokens", "20"], value: [] },
    },
  },
  embed: {
    on: ["--model", bert, "a text"],
    flags: {
      ...model(["a text"]),
      ...cutting(["--model", bert]),
      "--input": { on: ["--model", bert], value: [texts] },
      "--jsonl": { value: [] },
      "--npy": { value: [join(folder, "vectors.npy")] },
      "--sparse": { on: ["--model", splade, "a text"], value: [], fails: "without" },
      "--top-k": { on: ["--model", splade, "--sparse", "a text"], value: ["1"] },
      "--threshold": { on: ["--model", splade, "--sparse", "a text"], value: ["100"] },
      "--outputs": { value: ["dense"] },
      "--pooling": { value: ["max"] },
      "--normalize": { on: ["--model", bert, "a text"], value: [] },
      "--no-normalize": { on: ["a text"], value: [] },
      "--prompt": { value: ["query"] },
      "--dimensions": { value: ["4"] },
      "--precision": { value: ["int8"] },
      "--stride": { on: ["--model", bert, long, "--max-tokens", "16", "--truncate", "windows"], value: ["8"] },
    },
  },
  classify: {
    on: ["--model", pair, "a text"],
    flags: {
      ...model(["--model", pair]),
      ...cutting(["--model", pair]),
      "--model": { on: ["a text"], value: [pair], fails: "without" },
      "--pair": { value: ["another text"] },
      "--top-k": { on: ["--model", nli, "a text"], value: ["1"] },
      "--labels": { on: ["--model", nli, "a text"], value: ["sports,politics"] },
      "--template": { on: ["--model", nli, "a text", "--labels", "sports,politics"], value: ["{} is what this is"] },
      "--multi-label": { on: ["--model", nli, "a text", "--labels", "sports,politics"], value: [] },
      "--activation": { value: ["none"] },
    },
  },
  rerank: {
    on: ["--model", pair, "--query", "what", "a text", "another text"],
    flags: {
      ...model(["--model", pair, "--query", "what"]),
      ...cutting(["--model", pair, "--query", "what"]),
      "--model": { on: ["--query", "what", "a text"], value: [pair] },
      "--query": { on: ["--model", pair, "a text"], value: ["why"], fails: "without" },
      "--top-n": { value: ["1"] },
      "--raw": { value: [] },
    },
  },
  recognize: {
    on: ["--model", ner, ...cityTexts],
    flags: {
      ...model(["--model", ner]),
      "--model": { on: cityTexts, value: [ner], fails: "without" },
      "--aggregation": { value: ["none"] },
      "--labels": { on: ["--model", spans, parisText, "--labels", "city"], value: ["person"] },
      "--threshold": { on: labelled, value: ["0.999999"] },
      "--nested": { on: labelled, value: [] },
      "--multi-label": { on: labelled, value: [] },
      "--offsets": { on: ["--model", ner, "🍕 Angela Merkel lives in Berlin."], value: ["bytes"] },
      "--stride": { on: ["--model", ner, `${long} Angela Merkel lives in Berlin ${long}`, "--max-tokens", "16"], value: ["9"] },
      "--max-tokens": { on: ["--model", ner, `${cityTexts[0]} ${cityTexts[0]}`], value: ["5"] },
      "--truncate": { on: ["--model", ner, long, "--max-tokens", "8"], value: ["error"], fails: "with" },
    },
  },
  "fill-mask": {
    on: ["--model", splade, "the [MASK] of France"],
    flags: {
      "--input": { on: ["--model", splade], value: [masked] },
      "--model": { on: ["the [MASK] of France"], value: [splade], fails: "without" },
      "--top-k": { value: ["1"] },
      "--targets": { value: ["time,girl"] },
      "--max-tokens": { on: ["--model", splade, `[MASK] ${long}`], value: ["8"] },
      "--truncate": { on: ["--model", splade, `[MASK] ${long}`, "--max-tokens", "8"], value: ["error"], fails: "with" },
    },
  },
  answer: {
    on: ["--model", answering, "--question", "Where?", "🍕 She lives in Madrid.", "Nobody knows."],
    flags: {
      ...model(["--model", answering, "--question", "Where?"]),
      "--model": { on: ["--question", "Where?", "a text"], value: [answering], fails: "without" },
      "--question": { on: ["--model", answering, "a text"], value: ["Where?"], fails: "without" },
      "--top-k": { value: ["2"] },
      "--max-answer-tokens": {
        on: ["--model", answering, "--question", "Where?", "Madrid, Spain", "--top-k", "9"],
        value: ["1"],
      },
      "--no-answer": { value: [] },
      "--no-align-to-words": { on: ["--model", answering, "--question", "Where?", "Madridism"], value: [] },
      "--offsets": { value: ["bytes"] },
      "--stride": { on: ["--model", answering, "--question", "Where?", `${long} Madrid ${long}`, "--top-k", "9"], value: ["20"] },
      "--max-tokens": { on: ["--model", answering, "--question", "Where?", `${long} Madrid`, "--top-k", "9"], value: ["20"] },
      "--truncate": { on: ["--model", answering, "--question", "Where?", long], value: ["error"], fails: "with" },
    },
  },
  similarity: {
    on: ["--model", bert, "a cat", "stocks"],
    flags: {
      "--input": { on: ["--model", bert], value: [sentences] },
      ...cutting(["--model", bert, "a cat"]),
      "--model": { on: ["a cat", "stocks"], value: [bert] },
      "--to": { on: ["--model", bert, "a cat", "stocks"], value: ["a kitten"] },
      "--with": { value: [texts] },
      "--metric": { value: ["dot"] },
      "--other-prompt": { on: ["--model", bert, "a cat", "--to", "stocks"], value: ["query"] },
      "--pooling": { value: ["max"] },
      "--normalize": { on: ["--model", bert, "a cat", "stocks", "--metric", "dot"], value: [] },
      "--no-normalize": { on: ["a cat", "stocks", "--metric", "dot"], value: [] },
      "--prompt": { value: ["query"] },
      "--dimensions": { value: ["4"] },
      "--stride": { on: ["--model", bert, long, "a cat", "--max-tokens", "16", "--truncate", "windows"], value: ["8"] },
    },
  },
  extract: {
    on: ["--model", ner, "--schema", '{"city":{"entity":"LOC"}}', ...cityTexts],
    flags: {
      ...model(["--model", ner, "--schema", '{"city":{"entity":"LOC"}}']),
      "--model": { on: ["--schema", '{"city":{"entity":"LOC"}}', ...cityTexts], value: [ner], fails: "without" },
      "--schema": { on: ["--model", ner, ...cityTexts], value: ['{"city":{"entity":"LOC"}}'], fails: "without" },
      "--question-model": {
        on: ["--schema", '{"city":{"question":"Where?"}}', "She lives in Madrid."],
        value: [answering],
        fails: "without",
      },
      "--min-score": { value: ["1"] },
      "--aggregation": {
        on: ["--model", ner, "--schema", '{"who":{"entity":"PER"}}', "Wolodymyr Selenskyj met Szczesny."],
        value: ["max"],
      },
      "--offsets": { on: ["--model", ner, "--schema", '{"city":{"entity":"LOC"}}', "🍕 in Berlin."], value: ["bytes"] },
      "--stride": {
        on: [
          "--model",
          ner,
          "--schema",
          '{"who":{"entity":"PER"}}',
          `${long} Angela Merkel lives in Berlin ${long}`,
          "--max-tokens",
          "16",
        ],
        value: ["9"],
      },
      "--max-tokens": { on: ["--model", ner, "--schema", '{"city":{"entity":"LOC"}}', cityTexts[0] ?? ""], value: ["3"] },
      "--truncate": {
        on: ["--model", ner, "--schema", '{"city":{"entity":"LOC"}}', long, "--max-tokens", "8"],
        value: ["error"],
        fails: "with",
      },
    },
  },
  tokenize: {
    on: ["--model", bert, "a tokenized 🍕 text"],
    flags: {
      "--model": { on: ["a text"], value: [bert] },
      "--input": { on: ["--model", bert], value: [texts] },
      "--pair": { value: ["another"] },
      "--offsets": { value: ["bytes"] },
      "--max-tokens": { value: ["3"] },
      "--no-special-tokens": { value: [] },
      "--offline": { on: ["--model", "hf:owner/model", "a text"], value: [], fails: "both" },
    },
  },
  chunk: {
    on: ["--model", bert, `${long}. ${long}`],
    flags: {
      "--model": { on: [`${long}. ${long}`], value: [at("tiny-random-gpt2")] },
      "--input": { on: ["--model", bert], value: [texts] },
      "--strategy": { on: ["--model", bert, markdown, "--target-tokens", "20"], value: ["markdown"] },
      "--target-tokens": { value: ["50"] },
      "--overlap": { on: ["--model", bert, long, "--target-tokens", "50"], value: ["10"] },
      "--max-chunks": { on: [long, "--target-tokens", "10"], value: ["2"] },
      "--separators": {
        on: ["One, two; three. ".repeat(20), "--target-tokens", "10"],
        value: ["words"],
      },
      "--offsets": { on: ["🍕 is good. ".repeat(5)], value: ["bytes"] },
      "--threshold": { on: ["A cat. A kitten. The stock market. Shares.", "--strategy", "semantic"], value: ["0.99"] },
      "--percentile": { on: ["A cat. A kitten. The stock market. Shares.", "--strategy", "semantic"], value: ["1"] },
      "--structure": {
        on: ["--model", bert, markdown, "--target-tokens", "20", "--strategy", "late"],
        value: ["markdown"],
      },
      "--prompt": { on: ["--model", bert, "A cat. A kitten.", "--strategy", "late"], value: ["query"] },
      "--stride": { on: ["--model", bert, `${long}${long}${long}${long}`, "--strategy", "late"], value: ["30"] },
    },
  },
  run: {
    on: [bert, "--input", "input_ids=[[1,2,3]]", "--input", "attention_mask=[[1,1,1]]", "--input", "token_type_ids=[[0,0,0]]"],
    flags: {
      "--input": { on: [bert], value: ["input_ids=[[1,2,3]]"], fails: "both" },
      "--output": { value: ["none-such"], fails: "with" },
      "--npy": { value: [join(folder, "tensors")] },
    },
  },
  inspect: {
    on: [`${bert}/onnx/model.onnx`],
    flags: {
      "--tensors": { value: [] },
      "--context": { on: [at("gguf-tiny-llama/tiny-llama-q4_0.gguf")], value: ["128"] },
      "--graph": { value: [] },
      "--shape": { on: [`${bert}/onnx/model.onnx`, "--graph"], value: ["input_ids=1,3"] },
    },
  },
  crossval: {
    on: [...crossval, ...onNative],
    flags: {
      "--model": { on: ["--against", "native", ...onNative], value: [llama], fails: "without" },
      "--against": { on: ["--model", llama, ...onNative], value: ["native"], fails: "without" },
      "--against-model": { value: [quantizedLlama] },
      "--against-variant": { value: ["none-such"], fails: "with" },
      "--prompt": { value: ["small"] },
      "--prompt-file": { value: [texts] },
      "--tokens": { on: [...crossval, "--target", "native"], value: ["3"] },
      "--continuation": { on: [...crossval, "--target", "native"], value: ["jump"] },
      "--record": { on: ["--model", llama, ...onNative], value: [join(folder, "logits.safetensors")], fails: "without" },
      "--max-error": { on: [...crossval, ...onNative, "--against-model", quantizedLlama], value: ["0"], fails: "with" },
      "--min-cosine": { on: [...crossval, ...onNative, "--against-model", quantizedLlama], value: ["1"], fails: "with" },
    },
  },
  receipt: {
    on: ["--model", llama, ...onNative, "--output", join(folder, "run.json")],
    flags: {
      "--model": { on: [...onNative, "--output", join(folder, "run.json")], value: [llama], fails: "without" },
      "--output": { on: ["--model", llama, ...onNative], value: [join(folder, "run.json")], fails: "without" },
      "--prompt": { value: ["small"] },
      "--prompt-file": { value: [texts] },
      "--tokens": { on: ["--model", llama, "--target", "native", "--output", join(folder, "run.json")], value: ["3"] },
      "--sign": { value: [file("key.pem", privateKey)] },
    },
  },
  "verify-receipt": {
    on: [receipt],
    flags: {
      "--key": { value: [file("public.pem", publicKey)], fails: "with" },
      "--model": { value: [quantizedLlama], fails: "with" },
      "--library": { value: [packaged.onnxRuntime], fails: "with" },
      "--require-kernel": { value: ["I2S_QK256_*"], fails: "with" },
    },
  },
  pull: {
    on: ["hf:owner/model"],
    flags: {
      "--variant": { on: ["hf:owner/model:fp32"], value: ["int8"], fails: "both" },
      "--offline": { value: [], fails: "both" },
    },
  },
  backends: { on: [], flags: { "--run": { value: [] } } },
  "analyze-library": {
    on: [packaged.onnxRuntime],
    flags: {
      "--symbols": { value: [] },
      "--require": { value: ["cuda"], fails: "with" },
      "--forbid": { value: ["onnxruntime"], fails: "with" },
    },
  },
  libraries: {
    on: [],
    flags: {
      "--python": { value: [folder] },
      "--all": { value: [] },
      "--emit": { value: [join(folder, "flags.json")] },
      "--accelerators": { value: [] },
      "--run": { on: ["--accelerators"], value: [] },
      "--contract": { on: ["verify", packaged.onnxRuntime], value: ["bitnet"], fails: "with" },
    },
  },
  kernels: {
    on: [],
    flags: {
      "--bench": { on: ["--format", "Q4_0"], value: [] },
      "--format": { value: ["I2_S"] },
    },
  },
  distill: {
    on: [bert, "--dimensions", "8", "--out", join(folder, "distilled"), "--replace"],
    flags: {
      "--dimensions": { on: [bert, "--out", join(folder, "distilled"), "--replace"], value: ["12"] },
      "--bits": { value: ["4"] },
      "--text": { value: [sentences] },
      "--out": { on: [bert, "--dimensions", "8", "--replace"], value: [join(folder, "elsewhere")] },
      "--name": { value: ["another"] },
      "--replace": { on: [bert, "--dimensions", "8", "--out", join(folder, "there")], value: [], fails: "without" },
      "--passes": {
        on: [bert, "--dimensions", "8", "--out", join(folder, "distilled"), "--replace", "--text", sentences],
        value: ["1"],
      },
    },
  },
  pack: {
    on: [bert, "--out", join(folder, "packed.aimod"), "--replace"],
    flags: {
      "--out": { on: [bert, "--replace"], value: [join(folder, "other.aimod")] },
      "--name": { value: ["another"] },
      "--replace": { on: [bert, "--out", join(folder, "there.aimod")], value: [], fails: "without" },
    },
  },
  quantize: {
    on: [at("tinyllm/tinyllm.gguf"), "--to", "q8_0", "--out", join(folder, "quantized.gguf"), "--replace"],
    flags: {
      "--to": {
        on: [at("tinyllm/tinyllm.gguf"), "--out", join(folder, "to.gguf"), "--replace", "--to", "q8_0"],
        value: ["q4_0"],
      },
      "--out": {
        on: [at("tinyllm/tinyllm.gguf"), "--to", "q8_0", "--replace", "--out", join(folder, "first.gguf")],
        value: [join(folder, "second.gguf")],
      },
      "--replace": {
        on: [at("tinyllm/tinyllm.gguf"), "--to", "q8_0", "--out", file("there.gguf", "there already")],
        value: [],
        fails: "without",
      },
    },
  },
};

/** What test/cli/every-load-flag.long.test.ts has: flags of commands that load models, and commands. */
const loadFlags: ReadonlySet<string> = new Set([
  "--variant",
  ...constraintNames.map(flagName),
  ...loadSettingNames.map(flagName),
  "--host",
  "--library",
  "--max-memory",
  "--replicas",
  "--offline",
]);
const measuring: ReadonlySet<string> = new Set(["bench", "tune", "verify"]);
const globalFlags: ReadonlySet<string> = new Set(["--json", "--config", "--quiet", "--debug"]);

const program = await buildProgram({ stdout: discard(), stderr: discard() } as never, commandTable);

/** The flags that a command has for itself. */
const ownFlags = program.commands
  .filter((command) => !measuring.has(command.name()) && command.name() !== "serve")
  .flatMap((command) => {
    const loads = command.options.some(({ long }) => long === "--threads");
    const flags = command.options.flatMap(({ long }) => (typeof long === "string" ? [long] : []));
    return flags
      .filter((flag) => !globalFlags.has(flag) && !(loads && loadFlags.has(flag)) && flag !== "--batch-tokens")
      .map((flag) => [command.name(), flag] as const);
  });

/** What a command prints, without times, ids, and the temporary folder. */
async function outcome(args: readonly string[]): Promise<CommandResult> {
  const remote = args.some((word) => word.startsWith("hf:")); // nothing answers there: a download is waited for until it is aborted
  const result = await inferyard(args, { directory: folder, ...(remote ? { signal: AbortSignal.timeout(300) } : {}) });
  const without = (text: string): string =>
    text.replaceAll(
      /"(?:id|at|milliseconds|load|first_token_ms|total_ms|prefill|decode|\w+(?:At|Ms|PerSecond)|memory|cache|bytes)": ?[^,}\n]+|\d+(?:\.\d+)? m?s\b|\d+\.\d GB/g,
      "",
    );
  return { code: result.code, stdout: without(result.stdout), stderr: without(result.stderr) };
}

const outcomes = new Map<string, Promise<CommandResult>>();

/** The same for a command line that several flags stand on. */
function outcomeWithout(args: readonly string[]): Promise<CommandResult> {
  const key = JSON.stringify(args);
  const known = outcomes.get(key) ?? outcome(args);
  outcomes.set(key, known);
  return known;
}

/** Flags that --json excludes, or leaves without effect since it prints everything. */
const plain: ReadonlySet<string> = new Set(["--jsonl", "--npy", "--tensors", "--all", "--symbols"]);

const [skip, title] = needsData("every flag of every command");
describe.skipIf(skip)(title, () => {
  beforeAll(async () => {
    cpSync(at("tiny-random-bert"), bert, { recursive: true });
    cpSync(at("all-MiniLM-L6-v2/1_Pooling"), join(bert, "1_Pooling"), { recursive: true });
    const modules = ["Transformer", "Pooling"].map((type, idx) => ({
      idx,
      name: String(idx),
      path: idx === 0 ? "" : "1_Pooling",
      type: `sentence_transformers.models.${type}`,
    }));
    writeFileSync(join(bert, "modules.json"), JSON.stringify(modules));
    writeFileSync(join(bert, "config_sentence_transformers.json"), JSON.stringify({ prompts: { query: "what is asked: " } }));
    cpSync(qwen, thinking, { recursive: true });
    const template = "{{ messages[-1].content }}{% if enable_thinking is defined and not enable_thinking %}x{% endif %}";
    writeFileSync(join(thinking, "chat_template.jinja"), template);
    cpSync(t5, summarizer, { recursive: true });
    const config = JSON.parse(readFileSync(join(t5, "config.json"), "utf8")) as object;
    const parameters = { summarization: { prefix: "sum: " } };
    writeFileSync(join(summarizer, "config.json"), JSON.stringify({ ...config, task_specific_params: parameters }));
    const groups = [
      ["person", "maria", "schmidt"],
      ["city", "place", "paris", "london"],
    ];
    writeSpanModel(spans, { tokenizerFolder: at("all-MiniLM-L6-v2"), groups, maxWidth: 4, maxWords: 20, maxTokens: 64 });
    const logits = { madrid: 8, spain: 5, "[CLS]": 3 };
    writeTableModel(answering, { tokenizerFolder: at("all-MiniLM-L6-v2"), maxTokens: 32, start: logits, end: logits });
    vi.stubEnv("HF_HUB_OFFLINE", undefined);
    await inferyard(["receipt", "--model", llama, ...onNative, "--output", receipt]);
    cpSync(texts, join(folder, "there"), { recursive: true });
    writeFileSync(join(folder, "there.aimod"), "");
  });

  it("has a case here", () => {
    const listed = Object.entries(commands).flatMap(([name, { flags }]) => Object.keys(flags).map((flag) => `${name} ${flag}`));
    expect(listed.sort()).toEqual(ownFlags.map(([name, flag]) => `${name} ${flag}`).sort());
  });

  it.each(ownFlags)("%s %s", { timeout: 60_000 }, async (name, flag) => {
    const { on: usual, flags } = commands[name] ?? { on: [], flags: {} };
    const { on = usual, value, fails } = flags[flag] ?? { value: [] };
    const args = [name, ...on, ...(plain.has(flag) ? [] : ["--json"])];
    const without = await outcomeWithout(args);
    const given = await outcome([...args, flag, ...value]);
    expect(given).not.toEqual(without);
    const failed = [...(without.code === 0 ? [] : ["without"]), ...(given.code === 0 ? [] : ["with"])];
    expect(failed).toEqual(fails === undefined ? [] : fails === "both" ? ["without", "with"] : [fails]);
  });
});

describe("flags of serve", () => {
  const serve = program.commands.find((command) => command.name() === "serve");
  const own =
    serve?.options.filter(({ long }) => !loadFlags.has(long ?? "") && !globalFlags.has(long ?? "") && long !== "--model") ?? [];

  it.each(own.map((option) => option.attributeName()))(
    "%s is a setting of the server, whose effect test/server/serve-settings.test.ts sees",
    (name) => {
      expect(Object.keys(serverFields)).toContain(name);
      expect(withFlags({}, { [name]: 7 })).toEqual({ [name]: 7 });
    },
  );
});

describe("flags of every command", () => {
  const lines: Readonly<Record<string, readonly string[]>> = {
    completions: ["bash"],
    "analyze-library": [packaged.onnxRuntime],
    check: [],
    config: [],
    doctor: [],
    kernels: ["--format", "Q4_0"],
    libraries: [],
    list: [],
    prune: [],
    tasks: [],
    version: [],
  };

  it.each(Object.entries(lines))("--json is another form of what %s prints", async (name, args) => {
    const { stdout } = await inferyard([name, ...args, "--json"], { directory: folder });
    expect(typeof JSON.parse(stdout)).toBe("object");
    expect((await inferyard([name, ...args], { directory: folder })).stdout).not.toBe(stdout);
  });

  it("--config, --quiet and --debug change settings, notes and errors", async () => {
    const other = file("other.yaml", "model: ./none\n");
    expect((await inferyard(["embed", "a"], { directory: folder })).stderr).not.toBe("");
    expect(await inferyard(["embed", "a", "--quiet"], { directory: folder })).toMatchObject({ code: 0, stderr: "" });
    expect(await inferyard(["embed", "a", "--config", other], { directory: folder })).toMatchObject({ code: 1 });
    const { stderr } = await inferyard(["embed", "a", "--config", other, "--debug"], { directory: folder });
    expect(stderr).toContain("    at ");
    expect(existsSync(other)).toBe(true);
  });
});
