// Text to tokens: megabytes per second of our tokenizer beside @huggingface/tokenizers, one family of tokenizers at a time.
// Run with `npm run bench:tokenizers`. The text is the README files and licences of the packages installed here, in pieces of 2,000
// characters; both take all of them in turn, round after round, so that slow drift of the machine cancels out.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Tokenizer } from "@huggingface/tokenizers";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { sharedPath } from "../measuring/shared-data.mjs";
import { pairedRatios, summary } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const { quick = false, json = false } = readOptions({ quick: { type: "boolean" }, json: { type: "boolean" } });
const rounds = quick ? 3 : 9;
const megabytes = quick ? 0.3 : 1;
const pieceLength = 2000;
const families = [
  ["WordPiece (MiniLM)", "all-MiniLM-L6-v2"],
  ["BPE of bytes (GPT-2)", "gpt2-tiny-random"],
  ["BPE of bytes (CLIP)", "tokenizers/clip"],
  ["BPE, byte fallback (Llama 2)", "tokenizers/llama2"],
  ["Unigram (T5)", "tokenizers/t5-small"],
];

const { loadTokenizer } = await import("../../src/tokenizers/index.ts");
const documents = installedText();
const bytes = documents.reduce((sum, document) => sum + Buffer.byteLength(document), 0);
const load = watchLoad();
const results = [];
for (const [name, folder] of families) results.push(await measure(name, sharedPath(`${folder}/tokenizer.json`)));
report({ machine: describeMachine(), load: load(), bytes, documents: documents.length, rounds, results });

async function measure(name, path) {
  const file = JSON.parse(readFileSync(path, "utf8"));
  const library = new Tokenizer(file, { unk_token: file.model.unk_token ?? undefined });
  const ours = await loadTokenizer({
    tokenizerPath: path,
    tokenizerShown: path,
    tokenizerConfig: {},
    specialTokens: true,
    dropUnknown: false,
    lowercase: false,
  });
  const contenders = [(text) => ours.encode(text).ids, (text) => library.encode(text).ids];
  const same = documents.filter((text) => String(contenders[0](text)) === String(contenders[1](text))).length;
  const speeds = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const turn of [round % 2, (round + 1) % 2]) {
      const started = performance.now();
      for (const text of documents) contenders[turn](text);
      speeds[turn].push(bytes / 1000 / (performance.now() - started));
    }
  }
  return { name, same, ours: summary(speeds[0]), library: summary(speeds[1]), ratio: pairedRatios(speeds[0], speeds[1]) };
}

function installedText() {
  const folder = fileURLToPath(new URL("../../node_modules", import.meta.url));
  let text = "";
  for (const entry of readdirSync(folder).toSorted()) {
    if (entry.startsWith(".") || entry.startsWith("@")) continue;
    for (const name of readdirSync(join(folder, entry)).toSorted())
      if (/^(readme|license)/i.test(name) && text.length < megabytes * 1e6) text += readIfFile(join(folder, entry, name));
  }
  const pieces = [];
  for (let start = 0; start < Math.min(text.length, megabytes * 1e6); start += pieceLength)
    pieces.push(text.slice(start, start + pieceLength));
  return pieces.map((piece) => piece.toWellFormed());
}

function readIfFile(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "EISDIR") return "";
    throw error;
  }
}

function report(result) {
  if (json) {
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  const rows = result.results.map(({ name, same, ours, library, ratio }) => [
    name,
    ours.median.toFixed(1),
    library.median.toFixed(1),
    `${ratio.median.toFixed(1)} x`,
    `${ratio.min.toFixed(1)}..${ratio.max.toFixed(1)}`,
    `${same} of ${result.documents}`,
  ]);
  console.log(`machine  ${result.machine}\nload     ${describeLoad(result.load)}`);
  console.log(`work     ${(result.bytes / 1e6).toFixed(2)} MB in ${result.documents} pieces, ${result.rounds} rounds, medians\n`);
  console.log(formatTable(["MB/s", "ours", "@huggingface", "ratio", "range", "same ids"], rows));
}
