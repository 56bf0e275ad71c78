// Models of the server under attack: sound ones, and those whose files are hostile. All are named in its settings, as an operator who was
// deceived would name them.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { integer, message, model, node, tensorOf, value } from "../../test/fixtures/models/onnx-bytes.ts";
import { chatTemplates, writeChatModel } from "../../test/fixtures/models/chat-models.ts";
import { hostileTemplates } from "./attacks/templates.mjs";
import { soundModels } from "../chaos/models.mjs";
import { miniLm, sharedPath } from "../measuring/shared-data.mjs";

const [float32, int64, bool] = [1, 7, 9];
const endlessTrips = 2n ** 62n;
// Tokens that the chat model takes and writes: enough for an answer that outlasts an attack.
const chatContext = 16_384;

export function hostileModels(folder) {
  const { tiny, builtin } = soundModels(folder, true);
  const withTokenizer = (name, changes) => {
    const place = join(folder, name);
    cpSync(tiny, place, { recursive: true });
    const file = join(place, "tokenizer.json");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...changes }));
    return place;
  };
  const graph = (name, bytes) => {
    const place = join(folder, `${name}.onnx`);
    writeFileSync(place, bytes);
    return place;
  };
  mkdirSync(join(folder, "home"), { recursive: true });
  const chat = join(folder, "chat");
  writeChatModel(chat, chatTemplates.tagged);
  // Its prompts do not have the tools, however many there are.
  const calls = join(folder, "calls");
  writeChatModel(calls, "{% for m in messages %}{{ m.content }}{% endfor %}{{ tools | length }}{% set form = '<tool_call>' %}");
  const config = join(chat, "config.json");
  writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), max_position_embeddings: chatContext }));
  const templates = Object.fromEntries(Object.keys(hostileTemplates).map((name) => [name, join(folder, name)]));
  for (const [name, place] of Object.entries(templates)) writeChatModel(place, hostileTemplates[name]);
  const split = (Regex) => ({ type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false });
  const doubling = Array.from({ length: 40 }, () => ({ type: "Replace", pattern: { String: "a" }, content: "aa" }));
  // All share the files of one, and are models of their own by their names.
  const copies = Object.fromEntries(Array.from({ length: 24 }, (_, at) => [`copy${at}`, withTokenizer(`copy${at}`, {})]));
  return {
    copies,
    sound: { builtin, tiny, minilm: miniLm, chat, calls, vision: sharedPath("tiny-random-vit") },
    tokenizers: {
      backtracking: withTokenizer("backtracking", { pre_tokenizer: split("(a+)+$") }),
      alternatives: withTokenizer("alternatives", { pre_tokenizer: split("^(a|a|aa)+b$") }),
      doubling: withTokenizer("doubling", { normalizer: { type: "Sequence", normalizers: doubling } }),
      merges: withTokenizer("merges", { pre_tokenizer: null, normalizer: null, model: longMerges() }),
      pieces: withTokenizer("pieces", { pre_tokenizer: null, normalizer: null, model: longPieces() }),
      lookaround: withTokenizer("lookaround", { pre_tokenizer: split("(?:(?=(a+))\\1)+b|a(?!a*b)") }),
    },
    templates,
    graphs: {
      // A probe with zeros ends at once; a run with 2^62 in "trips" never does.
      loop: graph("loop", loop(undefined)),
      // No load of it ends: its probe does not.
      endless: graph("endless", loop(endlessTrips)),
      allocation: graph("allocation", foldedAllocation()),
      doublings: graph("doublings", foldedDoublings()),
      functions: graph("functions", nestedFunctions()),
    },
  };
}

const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const runs = Array.from({ length: 200 }, (_, at) => "a".repeat(at + 1));

// Merges that each make a run of letters longer by one, so that a naive reader looks at all of a text for each of them.
function longMerges() {
  const vocab = Object.fromEntries([...special, "!", ...runs].map((token, id) => [token, id]));
  return { type: "BPE", unk_token: "[UNK]", vocab, merges: runs.slice(1).map((run) => [run.slice(1), "a"]) };
}

// Pieces of all lengths that fit at all places of a text.
function longPieces() {
  const vocab = [...special, "!", ...runs].map((token) => [token, -token.length / 100]);
  return { type: "Unigram", unk_id: 1, vocab };
}

const graphAttribute = (name, ...fields) => [message(1, name), message(6, ...fields, message(2, name)), integer(20, 5)];
const step = (operator, inputs, outputs, attributes = []) => node({ operator, inputs, outputs, attributes });
const scalar = (name, number) => tensorOf(name, "int64", [], BigInt64Array.of(number));
const list = (name, ...numbers) => tensorOf(name, "int64", [numbers.length], BigInt64Array.from(numbers));

// y = x + 1 + 1 + ..., as often as "trips" says.
function loop(trips) {
  const body = graphAttribute(
    "body",
    step("Add", ["before", "unit"], ["after"]),
    step("Identity", ["going"], ["more"]),
    value(11, "round", int64, []),
    value(11, "going", bool, []),
    value(11, "before", float32, [1]),
    value(12, "more", bool, []),
    value(12, "after", float32, [1]),
  );
  return model({
    irVersion: 8,
    opsets: { "": 17 },
    graph: [
      value(11, "x", float32, [1]),
      ...(trips === undefined ? [value(11, "trips", int64, [])] : [scalar("trips", trips)]),
      tensorOf("unit", "float32", [1], Float32Array.of(1)),
      step("Loop", ["trips", "", "x"], ["y"], [body]),
      value(12, "y", float32, [1]),
    ],
  });
}

// A constant of 2^32 floats.
function foldedAllocation() {
  return model({
    opsets: { "": 17 },
    graph: [
      value(11, "x", float32, [1]),
      list("shape", 65536n, 65536n),
      step("ConstantOfShape", ["shape"], ["big"]),
      step("ReduceSum", ["big"], ["sum"]),
      step("Add", ["x", "sum"], ["y"]),
      value(12, "y", float32),
    ],
  });
}

// A constant that is concatenated with itself forty times.
function foldedDoublings() {
  const steps = Array.from({ length: 40 }, (_, at) =>
    step("Concat", [`c${at}`, `c${at}`], [`c${at + 1}`], [[message(1, "axis"), integer(3, 0), integer(20, 2)]]),
  );
  return model({
    opsets: { "": 17 },
    graph: [
      value(11, "x", float32, [1]),
      tensorOf("c0", "float32", [8], new Float32Array(8)),
      ...steps,
      step("ReduceSum", ["c40"], ["sum"]),
      step("Add", ["x", "sum"], ["y"]),
      value(12, "y", float32),
    ],
  });
}

// Forty functions, each of which calls the next one twice.
function nestedFunctions() {
  const depth = 40;
  const functionFields = (name, callee) => {
    const call = (input, output) =>
      callee === undefined
        ? node({ operator: "Neg", inputs: [input], outputs: [output] }, 7)
        : node({ operator: callee, domain: "f", inputs: [input], outputs: [output] }, 7);
    const opset = (domain, version) => message(9, message(1, domain), integer(2, version));
    return message(
      25,
      message(1, name),
      message(4, "a"),
      message(5, "c"),
      call("a", "b"),
      call("b", "c"),
      opset("", 17),
      opset("f", 1),
      message(10, "f"),
    );
  };
  const functions = Array.from({ length: depth }, (_, at) => functionFields(`f${at}`, at + 1 < depth ? `f${at + 1}` : undefined));
  return model({
    opsets: { "": 17, f: 1 },
    graph: [
      value(11, "x", float32, [1]),
      node({ operator: "f0", domain: "f", inputs: ["x"], outputs: ["y"] }),
      value(12, "y", float32, [1]),
    ],
    model: functions,
  });
}
