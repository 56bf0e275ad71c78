/**
 * Measures what onnxruntime-node and onnxruntime-web can load, and writes it as a table, src/inspection/onnxruntime-operators.ts.
 * Neither library lists its operators, so both are asked with small models:
 *   limits      the newest IR version and the newest operator set of each domain that a one-node model may carry
 *   registered  every word inside the two binaries is tried as an operator's name; an unknown one is refused by name
 *   runs        one-node models of each registered operator, led by the error messages to the types and attributes it wants, and the
 *               models of ../shared/data/onnx-conformance; an operator runs where both libraries loaded a model with it
 * About five minutes: npx tsx scripts/generate/measure-onnx-operators.ts. Native code may abort on such models: each library is asked in a process
 * of its own, which is started again after the model that ended it.
 */
import { fork } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type * as onnxruntime from "onnxruntime-node";
import { readOnnxOutline } from "../../src/formats/onnx/onnx-outline.ts";
import { float, integer, message, model, node, value } from "../../test/fixtures/models/onnx-bytes.ts";

const require = createRequire(import.meta.url);
const engines = ["onnxruntime-node", "onnxruntime-web"] as const;
type Engine = (typeof engines)[number];

/** Domains that hold operators of models; those of training and of onnxruntime's own layouts are left out. */
const domains = ["", "ai.onnx.ml", "com.microsoft"];
/** Domains whose versions are checked when a model is loaded, whether or not it uses them. */
const checkedDomains = [
  ...domains,
  "ai.onnx.preview",
  "ai.onnx.preview.training",
  "ai.onnx.training",
  "com.microsoft.experimental",
];

type Loader = (bytes: Uint8Array) => Promise<string>;

/** "ok", or the engine's message. */
async function loaderOf(engine: Engine): Promise<Loader> {
  const library = require(engine) as typeof onnxruntime;
  if (engine === "onnxruntime-web") library.env.wasm.numThreads = 1;
  return async (bytes) => {
    try {
      const session = await library.InferenceSession.create(bytes, { logSeverityLevel: 4, intraOpNumThreads: 1 });
      await session.release();
      return "ok";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
}

/** One question to an engine, answered by a child. */
type Question =
  | { readonly kind: "limits" }
  | { readonly kind: "registered"; readonly domain: string; readonly versions: Versions; readonly words: readonly string[] }
  | { readonly kind: "runs"; readonly domain: string; readonly versions: Versions; readonly operator: string }
  | { readonly kind: "file"; readonly path: string };
type Versions = Readonly<Record<string, number>>;

async function answer(load: Loader, question: Question): Promise<unknown> {
  if (question.kind === "limits") return await limits(load);
  if (question.kind === "runs") return await runs(load, question.operator, question.domain, question.versions);
  if (question.kind === "file") return (await load(readFileSync(question.path))) === "ok";
  const { domain, versions, words } = question;
  const found: string[] = [];
  for (const operator of words) {
    const graph = [node({ operator, domain, inputs: ["x"], outputs: ["y"] }), value(11, "x", 1, [2]), value(12, "y", 1, [2])];
    const reply = await load(model({ opsets: opsetsOf(domain, versions), graph }));
    if (!/is not a registered function\/op|No Op registered/.test(reply)) found.push(operator);
  }
  return found;
}

function opsetsOf(domain: string, versions: Versions): Versions {
  return { "": versions[""] ?? 1, ...(domain === "" ? {} : { [domain]: versions[domain] ?? 1 }) };
}

async function limits(load: Loader): Promise<{ irVersion: number; versions: Versions }> {
  const graph = [node({ operator: "Abs", inputs: ["x"], outputs: ["y"] }), value(11, "x", 1, [2]), value(12, "y", 1, [2])];
  const newest = async (make: (version: number) => Buffer, from: number): Promise<number> => {
    let version = from;
    while (version < 100 && (await load(make(version + 1))) === "ok") version += 1;
    return version;
  };
  const irVersion = await newest((version) => model({ irVersion: version, opsets: { "": 13 }, graph }), 3);
  const versions: Record<string, number> = {};
  for (const domain of checkedDomains) {
    versions[domain] = await newest((version) => model({ opsets: { "": 13, [domain]: version }, graph }), domain === "" ? 7 : 0);
  }
  return { irVersion, versions };
}

const elementTypes = [1, 7, 6, 3, 2, 9, 8, 10, 11, 12, 5, 16, 17, 13];
const typeNumbers: Readonly<Record<string, number>> = {
  float: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  string: 8,
  bool: 9,
  float16: 10,
  double: 11,
  uint32: 12,
  uint64: 13,
  bfloat16: 16,
};
const attributeValues: Readonly<Record<string, readonly Buffer[]>> = {
  float: [float(2, 0.5), integer(20, 1)],
  string: [message(4, "relu"), integer(20, 3)],
  ints: [integer(8, 1), integer(8, 1), integer(20, 7)],
  floats: [float(7, 1), integer(20, 6)],
  strings: [message(9, "a"), integer(20, 8)],
  tensor: [message(5, integer(1, 1), integer(2, 1), message(9, Buffer.alloc(4))), integer(20, 4)],
};

function attributeValue(kind: string, whole: number): readonly Buffer[] {
  return kind === "int" ? [integer(3, whole), integer(20, 2)] : (attributeValues[kind] ?? []);
}

/** Whether some model of one such node was loaded, or failed only in its kernel's own set-up: then there is a kernel. */
async function runs(load: Loader, operator: string, domain: string, versions: Versions): Promise<boolean> {
  const random = generator(operator);
  const attributes: Record<string, string> = {};
  let types = [1];
  let outputs = 1;
  const shapes = new Map<number, number[]>();
  for (let round = 0; round < 900; round += 1) {
    const inputs = types.map((_type, index) => `x${index}`);
    const results = Array.from({ length: outputs }, (_item, index) => `y${index}`);
    const whole = round % 3 === 2 ? 2 ** random(6) : 1;
    const stated = Object.entries(attributes).map(([name, kind]) => [message(1, name), ...attributeValue(kind, whole)]);
    const graph = [
      node({ operator, domain, inputs, outputs: results, attributes: stated }),
      ...inputs.map((name, index) => value(11, name, types[index], shapes.get(index))),
      ...results.map((name) => value(12, name)),
    ];
    const reply = await load(model({ opsets: opsetsOf(domain, versions), graph }));
    if (reply === "ok" || /Exception during initialization|OpKernelInfo|Unsupported data type/i.test(reply)) return true;
    const inputCount = /input size \d+ not in range \[min=(\d+)/.exec(reply);
    const outputCount = /output size \d+ not in range \[min=(\d+)/.exec(reply);
    const missing = /Required attribute '(\w+)' is missing/.exec(reply);
    const kind = /attribute type in '[^']* : (\w+)'.*?Expected: '(\w+)'/i.exec(reply);
    const wrong = /of input parameter \(x(\d+)\) of operator/.exec(reply);
    const unequal = /bound to different types \(tensor\((\w+)\) and tensor\((\w+)\)/.exec(reply);
    if (inputCount) types = Array.from({ length: Number(inputCount[1]) }, (_item, index) => types[index] ?? 1);
    else if (outputCount) outputs = Number(outputCount[1]);
    else if (missing) attributes[missing[1]!] = "int";
    else if (kind) attributes[kind[1]!] = kind[2]!.toLowerCase();
    else if (wrong) types = types.map((type, index) => (index === Number(wrong[1]) ? after(type) : type));
    else if (unequal) {
      const [from, to] = random(2) === 0 ? [unequal[1], unequal[2]] : [unequal[2], unequal[1]];
      types = types.map((type) => (type === typeNumbers[from!] ? typeNumbers[to!]! : type));
    } else if (random(2) === 0)
      types = types.map((type) => (random(2) === 0 ? elementTypes[random(elementTypes.length)]! : type));
    else
      shapes.set(
        random(types.length || 1),
        Array.from({ length: random(5) }, () => 1 + random(2) * 3),
      );
    if (round % 60 === 59) types = Array.from({ length: Math.min(8, types.length + 1) }, () => 1);
  }
  return false;
}

function after(type: number): number {
  return elementTypes[(elementTypes.indexOf(type) + 1) % elementTypes.length]!;
}

/** Numbers below `limit`, the same ones for the same operator. */
function generator(seed: string): (limit: number) => number {
  let state = Buffer.from(seed).reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 1);
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
}

/** Asks in a child; where the child dies of a question, the answer is undefined. */
async function ask(engine: Engine, questions: readonly Question[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  while (answers.length < questions.length) {
    const first = answers.length;
    await new Promise<void>((resolve) => {
      const child = fork(fileURLToPath(import.meta.url), [engine], { silent: true });
      child.stdout?.resume();
      child.stderr?.resume();
      child.on("message", (reply) => {
        answers.push((reply as { answer: unknown }).answer);
        if (answers.length === questions.length) child.disconnect();
      });
      child.on("exit", () => resolve());
      child.send(questions.slice(first));
    });
    if (answers.length < questions.length) {
      const lost = questions[answers.length];
      process.stderr.write(`${engine} died of ${lost?.kind === "runs" ? lost.operator : JSON.stringify(lost).slice(0, 120)}\n`);
      answers.push(undefined);
    }
  }
  return answers;
}

/** Every word of the binaries, and every end of a word that begins with a capital: the linker lets words share their ends. */
function words(): string[] {
  const found = new Set<string>();
  const folder = fileURLToPath(new URL("../../node_modules/", import.meta.url));
  for (const file of [
    "onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1",
    "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
  ]) {
    for (const [run] of readFileSync(`${folder}${file}`, "latin1").matchAll(/[A-Za-z0-9_]{2,60}/g)) {
      for (const { index } of run.matchAll(/[A-Z]/g)) found.add(run.slice(index));
    }
  }
  return [...found].filter((word) => /^[A-Z][a-z0-9_]/.test(word) || word.length <= 5 || /[a-z]{3}/.test(word));
}

function conformanceModels(): string[] {
  const folder = fileURLToPath(new URL("../../../shared/data/onnx-conformance/", import.meta.url));
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter(({ name }) => name.endsWith(".onnx"))
    .map((file) => `${file.parentPath}/${file.name}`)
    .sort();
}

async function measure(): Promise<void> {
  const [found] = (await ask("onnxruntime-node", [{ kind: "limits" }])) as [{ irVersion: number; versions: Versions }];
  const [web] = (await ask("onnxruntime-web", [{ kind: "limits" }])) as [typeof found];
  if (JSON.stringify(found) !== JSON.stringify(web)) throw new Error(`limits differ: ${JSON.stringify([found, web])}`);
  const { irVersion, versions } = found;
  const candidates = words();
  const registered = (await ask(
    "onnxruntime-node",
    domains.map((domain) => ({ kind: "registered", domain, versions, words: candidates })),
  )) as string[][];
  const questions = domains.flatMap((domain, index) =>
    (registered[index] ?? []).map((operator): Question => ({ kind: "runs", domain, versions, operator })),
  );
  const files = conformanceModels();
  const running = new Map<Engine, Set<string>>();
  for (const engine of engines) {
    const seen = new Set<string>();
    const loaded = await ask(engine, [...questions, ...files.map((path): Question => ({ kind: "file", path }))]);
    for (const [index, question] of questions.entries()) {
      if (loaded[index] === true && question.kind === "runs") seen.add(`${question.domain || "ai.onnx"}:${question.operator}`);
    }
    for (const [index, path] of files.entries()) {
      if (loaded[questions.length + index] !== true) continue;
      const { graph } = await readOnnxOutline(path, path);
      for (const { domain, name } of graph.operators) seen.add(`${domain}:${name}`);
    }
    running.set(engine, seen);
  }
  const both = (key: string): boolean => engines.every((engine) => running.get(engine)?.has(key) === true);
  const table = domains.map((domain, index) => {
    const names = [...new Set(registered[index])].sort();
    const key = (name: string): string => `${domain || "ai.onnx"}:${name}`;
    return {
      domain: domain || "ai.onnx",
      runs: names.filter((name) => both(key(name))),
      other: names.filter((name) => !both(key(name))),
    };
  });
  for (const engine of engines) {
    const only = [...(running.get(engine) ?? [])].filter((key) => !both(key));
    process.stderr.write(`only ${engine}: ${only.join(" ")}\n`);
  }
  write(irVersion, versions, table);
}

function write(
  irVersion: number,
  versions: Versions,
  table: readonly { domain: string; runs: string[]; other: string[] }[],
): void {
  const list = (names: readonly string[]): string => names.join(" ").replaceAll(/(.{1,116})( |$)/g, "    $1\n");
  const { version } = require("onnxruntime-node/package.json") as { version: string };
  const opsets = Object.entries(versions).map(([domain, newest]) => `  ["${domain || "ai.onnx"}", ${newest}],\n`);
  const entries = table.map(({ domain, runs, other }) => {
    return `  [\n    "${domain}",\n    {\n      runs: names(\`\n${list(runs)}      \`),\n      registered: names(\`\n${list(other)}      \`),\n    },\n  ],\n`;
  });
  const text = `/**
 * What onnxruntime ${version} takes, measured: scripts/generate/measure-onnx-operators.ts asked onnxruntime-node and onnxruntime-web with small models
 * and wrote this file, and says how.
 */

export interface OperatorTable {
  /** A model with such a node was loaded by both libraries, in some data type and version. */
  readonly runs: ReadonlySet<string>;
  /** The libraries know the name, and none of the models tried with it was loaded by both. */
  readonly registered: ReadonlySet<string>;
}

/** Version of onnxruntime-node and onnxruntime-web that the tables were measured with. */
export const measuredVersion = "${version}";

/** Newest ONNX IR version (ModelProto.ir_version) that both libraries load. */
export const maxIrVersion = ${irVersion};

/** Newest version of an operator set that a model may name. */
export const maxOpsets: ReadonlyMap<string, number> = new Map([
${opsets.join("")}]);

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\\s+/));

/** Supported operators by operator-set domain. The default domain has the name "ai.onnx". */
export const operatorTables: ReadonlyMap<string, OperatorTable> = new Map([
${entries.join("")}]);
`;
  writeFileSync(new URL("../../src/inspection/onnxruntime-operators.ts", import.meta.url), text);
}

if (process.send === undefined) await measure();
else {
  const load = await loaderOf(process.argv[2] as Engine);
  process.once("message", (questions) => {
    void (async () => {
      for (const question of questions as Question[]) {
        const reply = await answer(load, question);
        await new Promise((resolve) => process.send?.({ answer: reply }, resolve));
      }
    })();
  });
}
