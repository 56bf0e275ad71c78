/** Models of CTC with a vocabulary of words, in the files of transformers' Wav2Vec2ProcessorWithLM. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, type Runtime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const given = `${sharedData}tiny-random-wav2vec2-ctc`;
const [skip, name] = needsData("transcribing by CTC with words");

const words = ["K", "KAT", "QU", "THE", "J", "JAZZ", "KN", "A", "F", "TO"];
const arpa = [
  "\\data\\",
  `ngram 1=${words.length + 3}`,
  "ngram 2=2",
  "\\1-grams:",
  "-4\t<unk>",
  "-99\t<s>\t-0.3",
  "-1\t</s>",
  ...words.map((word, index) => `-${(1 + index * 0.1).toFixed(1)}\t${word}\t-0.2`),
  "\\2-grams:",
  "-0.2\t<s> THE",
  "-0.4\tTHE KAT",
  "\\end\\",
].join("\n");

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  const parent = mkdtempSync(join(tmpdir(), "inferyard-ctc-words-"));
  const sound = (): Uint8Array => new Uint8Array(readFileSync(`${given}/chirp-1s.wav`));
  let made = 0;
  /** A copy of the model with files in its folder language_model. */
  function withWords(files: Readonly<Record<string, string>>, alphabet?: object): string {
    const folder = join(parent, String((made += 1)));
    mkdirSync(join(folder, "language_model"), { recursive: true });
    for (const file of ["config.json", "preprocessor_config.json", "tokenizer.json", "tokenizer_config.json", "vocab.json"])
      cpSync(join(given, file), join(folder, file));
    symlinkSync(join(given, "onnx"), join(folder, "onnx"));
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, "language_model", file), content);
    if (alphabet !== undefined) writeFileSync(join(folder, "alphabet.json"), JSON.stringify(alphabet));
    return folder;
  }
  const transcribe = (model: string, beams?: number) =>
    runtime.transcribe(sound(), { model, timestamps: "word", ...(beams === undefined ? {} : { beams }) });
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1, target: "onnx:cpu" });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(parent, { recursive: true, force: true });
  });

  it("writes the words of pyctcdecode 0.5.0 with an n-gram model", async () => {
    const labels: string[] = [];
    const vocabulary = JSON.parse(readFileSync(`${given}/vocab.json`, "utf8")) as Readonly<Record<string, number>>;
    const names: Readonly<Record<string, string>> = { "<pad>": "", "|": " ", "<unk>": "⁇" };
    for (const [token, id] of Object.entries(vocabulary)) labels[id] = names[token] ?? token;
    const attrs = JSON.stringify({ alpha: 0.5, beta: 1.5, unk_score_offset: -10, score_boundary: true });
    const model = withWords(
      { "unigrams.txt": words.join("\n"), "attrs.json": attrs, "lm.arpa": arpa },
      { labels, is_bpe: false },
    );
    const { text, segments } = await transcribe(model);
    expect(text).toBe("UHDUNDGWMWNM KN KN");
    const found = segments.flatMap((segment) => segment.words ?? []);
    expect(found.map(({ word, start, end }) => [word, start, end])).toEqual([
      [" UHDUNDGWMWNM", 0, 0.8],
      [" KN", 0.82, 0.9],
      [" KN", 0.92, 0.98],
    ]);
    expect((await transcribe(model, 5)).text).toBe("QU KN QU KN KN KN KN");
  });

  it("writes words of a list alone", async () => {
    const { text } = await transcribe(withWords({ "unigrams.txt": "QU\nKN\n" }), 5);
    expect(new Set(text.split(" "))).toEqual(new Set(["QU", "KN"]));
  });

  it.each([
    [
      "a binary file of KenLM",
      { "5gram.bin": "mmap lm http://kheafield.com/code format version 5" },
      undefined,
      "MODEL_UNSUPPORTED",
    ],
    ["subwords", { "unigrams.txt": "A" }, { labels: ["", "▁A"], is_bpe: true }, "MODEL_UNSUPPORTED"],
    ["a damaged file", { "lm.arpa": "\\data\\\nngram 1=1\n" }, undefined, "MODEL_INVALID"],
    ["no words", { "attrs.json": "{}" }, undefined, "MODEL_INVALID"],
    ["weights that are no numbers", { "unigrams.txt": "A", "attrs.json": '{"alpha":"much"}' }, undefined, "MODEL_INVALID"],
    ["an alphabet of another model", { "unigrams.txt": "A" }, { labels: ["", "A"], is_bpe: false }, "MODEL_INVALID"],
  ])("refuses %s by name", async (_what, files, alphabet, code) => {
    await expect(transcribe(withWords(files as Readonly<Record<string, string>>, alphabet))).rejects.toMatchObject({ code });
  });

  it("refuses beams where nothing searches", async () => {
    await expect(transcribe(given, 5)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});
