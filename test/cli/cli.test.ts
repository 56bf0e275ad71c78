/** The command line as people run it: the built program, in processes of its own where pipes, signals, exit codes and installations are seen. */
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Candidate, Decision } from "inferyard";
import { ownEnvironment, useDirectory } from "../fixtures/processes/command-line.ts";
import { commandsIn, install, outcome } from "../fixtures/processes/commands-in.ts";
import { hasSharedData, miniLmGoldens, needsData, sharedData, worst } from "../fixtures/shared-data.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const miniLm = `${sharedData}all-MiniLM-L6-v2`;
const tinyBert = `${sharedData}tiny-random-bert`;
const pooled = ["--model", tinyBert, "--pooling", "mean"];
const folder = mkdtempSync(join(tmpdir(), "inferyard-cli-"));
useDirectory(folder);
afterAll(() => rmSync(folder, { recursive: true }));

const { start, inferyard, answer, failure } = commandsIn(folder);

const norm = (vector: readonly number[]): number => Math.hypot(...vector);

describe("embed, with the built-in model", () => {
  it("prints a table on stdout and the note on stderr", async () => {
    const { code, stdout, stderr } = await inferyard(["embed", "a cat sits on the mat", "ein Satz"], { alone: true });
    expect(code).toBe(0);
    const [head, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toBe("builtin · 256 dimensions · native:cpu");
    expect(rows).toEqual([
      expect.stringMatching(/^a cat sits on the mat {3}\[.*, … \]$/),
      expect.stringMatching(/^ein Satz {16}\[.*, … \]$/),
    ]);
    expect(stderr).toMatch(/^2 texts in .* · --json for all numbers\n$/);
  });

  it("takes lines from stdin and from files, and gives the same vectors for the same texts", async () => {
    const path = join(folder, "texts.jsonl");
    writeFileSync(path, '"one"\n{"text":"zwei"}\n');
    const [typed, piped, filed] = await Promise.all([
      answer(["embed", "one", "zwei"]),
      answer(["embed"], { stdin: "one\r\nzwei\n", alone: true }),
      answer(["embed", "--input", path]),
    ]);
    expect(piped.embeddings).toEqual(typed.embeddings);
    expect(filed.embeddings).toEqual(typed.embeddings);
    expect(typed).toMatchObject({ model: "builtin", target: "native:cpu", dimensions: 256 });
  });

  it("--jsonl prints an object per text, in order, over several parts", async () => {
    const texts = Array.from({ length: 1500 }, (_text, index) => `text ${index}`);
    const { code, stdout } = await inferyard(["embed", "--jsonl", "--dimensions", "8"], { stdin: texts.join("\n") });
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { index: number; text: string; embedding: number[] });
    expect(lines.map(({ index, text }) => `${index} ${text}`)).toEqual(texts.map((text, index) => `${index} ${text}`));
    expect(lines.every(({ embedding }) => embedding.length === 8)).toBe(true);
  });

  it("--npy writes a matrix that reads back as what --json prints", async () => {
    const path = join(folder, "vectors.npy");
    const [{ code, stdout, stderr }, { embeddings }] = await Promise.all([
      inferyard(["embed", "one", "zwei", "", "--npy", path]),
      answer(["embed", "one", "zwei", ""]),
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(`3 x 256 float32 in ${path}`);
    const bytes = readFileSync(path);
    const begin = 10 + bytes.readUInt16LE(8);
    expect(bytes.subarray(10, begin).toString("latin1")).toContain(
      "'descr': '<f4', 'fortran_order': False, 'shape': (3, 256), }",
    );
    const values = Array.from({ length: (bytes.length - begin) / 4 }, (_value, index) => bytes.readFloatLE(begin + index * 4));
    expect(values).toEqual(embeddings.flat().map(Math.fround));
  });

  it("ends quietly when its reader goes away", () => {
    const program = `"${process.execPath}" "${join(repository, "bin/inferyard.js")}" embed --jsonl`;
    const script = `set -o pipefail; yes 'a line of text' | head -n 3000 | ${program} 2>errors.txt | head -c 10; echo " \${PIPESTATUS[2]}"`;
    const shown = execFileSync("bash", ["-c", script], { cwd: folder, env: ownEnvironment, encoding: "utf8", timeout: 50_000 });
    expect(shown).toBe('{"index":0 0\n');
    expect(readFileSync(join(folder, "errors.txt"), "utf8")).toBe("");
  });

  it("no texts are no vectors", async () => {
    expect((await answer(["embed"])).embeddings).toEqual([]);
  });
});

/** What this machine says of CUDA; the tests below are of machines without it. */
async function cudaHere(): Promise<Candidate | undefined> {
  if (!hasSharedData) return undefined;
  const { stdout } = await inferyard(["explain", tinyBert, "--json"]);
  return (JSON.parse(stdout) as Decision).candidates.find(({ target }) => target === "onnx:cuda");
}
const cuda = await cudaHere();
const [skipCuda, cudaTitle] =
  cuda?.verdict === "refused"
    ? [false, "a target that this machine has not"]
    : [true, "CUDA refused (skipped: this machine has it)"];

const [skip, title] = needsData("embed, with all-MiniLM-L6-v2");
describe.skipIf(skip)(title, () => {
  it("prints one JSON object: model, target, dimensions, embeddings, decision", async () => {
    const printed = await answer(["embed", "--model", miniLm, "a cat sits on the mat", "ein Satz", ""]);
    expect(Object.keys(printed)).toEqual(["model", "target", "dimensions", "embeddings", "decision"]);
    expect(printed).toMatchObject({ model: miniLm, target: "onnx:cpu", dimensions: 384 });
    expect(printed.embeddings.map(({ length }) => length)).toEqual([384, 384, 384]);
    for (const vector of printed.embeddings) expect(norm(vector)).toBeCloseTo(1, 5);
    const empty = miniLmGoldens().find(({ text }) => text === "")!;
    expect(worst(Float32Array.from(printed.embeddings[2]!), empty.normalized)).toBeLessThan(1e-5);
    expect(printed.decision).toMatchObject({
      model: { format: "onnx", variant: "fp32", digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
      selected: { target: "onnx:cpu", library: { name: "onnxruntime-node" } },
    });
    expect(printed.decision.selected?.evidence.join("\n")).toMatch(/\d+ nodes on CPUExecutionProvider/);
  });

  it.skipIf(skipCuda)(`${cudaTitle}: --target refuses it with cause and remedy, --prefer falls back and says why`, async () => {
    const { reason } = cuda!;
    const { code, stderr } = await failure(["embed", ...pooled, "--target", "onnx:cuda", "hello"]);
    expect(code).toBe("BACKEND_UNAVAILABLE");
    expect(stderr).toContain("onnx:cuda cannot run tiny-random-bert");
    expect(stderr).toContain(reason);
    expect(stderr).toContain("--prefer onnx:cuda");
    const { target, decision } = await answer(["embed", ...pooled, "--prefer", "onnx:cuda", "--quiet", "hello"]);
    expect(target).toBe("onnx:cpu");
    expect(decision.candidates[0]).toMatchObject({ target: "onnx:cuda", verdict: "refused", reason });
    const told = await inferyard(["embed", ...pooled, "--prefer", "onnx:cuda", "hello"]);
    expect(told.stderr).toContain(`inferyard: onnx:cpu is used, and not onnx:cuda: device: ${reason}\n`);
  });

  it.skipIf(process.platform !== "linux")("Ctrl-C in the middle of a long run ends it at once with 130", async () => {
    const child = start(["embed", "--model", miniLm, "--threads", "1", "--jsonl", "--quiet"]);
    const ended = outcome(child);
    child.stdin.end(`${"a text of some length that takes its time ".repeat(30)}\n`.repeat(3000));
    await computes(child.pid!);
    child.kill("SIGINT");
    expect(await ended).toEqual({ code: 130, stdout: "", stderr: "" });
  });
});

/** Resolves when a process that has loaded onnxruntime has computed with it for a while. */
async function computes(pid: number): Promise<void> {
  const loaded = (): boolean => readFileSync(`/proc/${pid}/maps`, "utf8").includes("libonnxruntime");
  const ticks = (): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return Number(fields[11]) + Number(fields[12]);
  };
  const waits = { timeout: 40_000, interval: 20 };
  await expect.poll(loaded, waits).toBe(true);
  const before = ticks();
  await expect.poll(ticks, waits).toBeGreaterThan(before + 70); // hundredths of a second
}

it("Ctrl-C while it waits for lines ends it with 130", async () => {
  const interruptedAfter = async (milliseconds: number): Promise<unknown> => {
    const child = start(["embed"]);
    const ended = outcome(child);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    child.kill("SIGINT");
    return ended;
  };
  const expected = { code: 130, stdout: "", stderr: "" };
  // On a busy machine the first signal may come before the command has started, and end it as it ends any program.
  for (const wait of [700, 3000]) if (isDeepStrictEqual(await interruptedAfter(wait), expected)) return;
  expect(await interruptedAfter(10_000)).toEqual(expected);
});

const [skipInstall, installTitle] = needsData("without the optional packages (more: test/cli/installations.long.test.ts)");
describe.skipIf(skipInstall)(installTitle, () => {
  let bare = "";
  beforeAll(() => void (bare = install(folder, "bare")));

  it("both removed and native excluded: one error lists every candidate with its reason", async () => {
    const { code, stderr } = await failure(["embed", ...pooled, "--exclude", "native", "hello"], { installation: bare });
    expect(code).toBe("NO_BACKEND");
    expect(stderr).toMatch(/^ {2}onnx:cpu +package: onnxruntime-node is not installed {2}\(npm install onnxruntime-node/m);
    expect(stderr).toMatch(/^ {2}wasm:cpu +package: onnxruntime-web is not installed {2}\(npm install onnxruntime-web\)/m);
  });
});

const [skipDamage, damageTitle] = needsData("a model that is damaged");
describe.skipIf(skipDamage)(damageTitle, () => {
  type Damage = (model: string) => void;
  const weights = "onnx/model.onnx";
  const write =
    (name: string, text: string | Uint8Array): Damage =>
    (model) =>
      writeFileSync(join(model, name), text);

  /** With one file of weights alone: otherwise others of the same model are tried. */
  const alone =
    (damage: Damage): Damage =>
    (model) => {
      rmSync(join(model, "model.safetensors"));
      damage(model);
    };

  /** A copy of a small whole model, and then the damage. */
  function damagedModel(name: string, damage: Damage): string {
    const model = join(folder, name.replaceAll(/\W+/g, "-"));
    cpSync(tinyBert, model, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", model]);
    damage(model);
    return model;
  }

  it("stands on a whole one that runs", async () => {
    const model = damagedModel("whole", () => {});
    expect((await answer(["embed", "--model", model, "--pooling", "mean", "x"])).target).toBe("onnx:cpu");
  });

  it.each<readonly [name: string, damage: Damage, code: string, named: string]>([
    ["corrupt weights", alone(write(weights, Buffer.from("these are no weights ".repeat(500)))), "MODEL_INVALID", weights],
    ["truncated weights", alone((model) => truncateSync(join(model, weights), 100_000)), "MODEL_INVALID", weights],
    ["empty weights", alone(write(weights, "")), "MODEL_INVALID", weights],
    [
      "weights with something behind them",
      alone((model) => appendFileSync(join(model, weights), "\u00FFend")),
      "MODEL_INVALID",
      weights,
    ],
    [
      "an operator no engine knows",
      alone((model) => {
        const bytes = readFileSync(join(model, weights), "latin1");
        writeFileSync(join(model, weights), bytes.replaceAll("Softmax", "Softmux"), "latin1");
      }),
      "MODEL_UNSUPPORTED",
      "Softmux",
    ],
    [
      "a missing tokenizer",
      (model) => ["tokenizer.json", "vocab.txt"].forEach((name) => rmSync(join(model, name))),
      "TOKENIZER_INVALID",
      "tokenizer.json is missing",
    ],
    ["a broken tokenizer", write("tokenizer.json", "{"), "TOKENIZER_INVALID", "tokenizer.json is not JSON"],
    ["a tokenizer that is none", write("tokenizer.json", "{}"), "TOKENIZER_INVALID", "tokenizer.json"],
    ["a broken config.json", write("config.json", "{"), "MODEL_INVALID", "config.json is not JSON"],
    [
      "no weights",
      (model) => ["onnx", "model.safetensors"].forEach((name) => rmSync(join(model, name), { recursive: true })),
      "MODEL_NOT_FOUND",
      "holds no model",
    ],
    ["no pooling", () => {}, "POOLING_UNKNOWN", "--pooling mean"],
  ])("%s: one typed error, exit 1", async (name, damage, code, named) => {
    const model = damagedModel(name, damage);
    const pooling = code === "POOLING_UNKNOWN" ? [] : ["--pooling", "mean"];
    const failed = await failure(["embed", "--model", model, ...pooling, "x"], { alone: name === "corrupt weights" });
    expect(failed.code).toBe(code);
    expect(failed.stderr).toContain(named);
  });

  it("a static model cut short", async () => {
    const model = join(folder, "static");
    cpSync(join(repository, "builtin"), model, { recursive: true });
    truncateSync(join(model, "model.safetensors"), 100_000);
    expect((await failure(["embed", "--model", model, "x"])).code).toBe("MODEL_INVALID");
  });
});

describe("an empty folder", () => {
  it("holds no model, and says so", async () => {
    const model = join(folder, "nothing");
    mkdirSync(model);
    expect((await failure(["embed", "--model", model, "x"])).code).toBe("MODEL_NOT_FOUND");
  });
});

const [skipExplain, explainTitle] = needsData("explain");
describe.skipIf(skipExplain)(explainTitle, () => {
  it("prints every candidate with its verdict and loads nothing", async () => {
    const { code, stdout, stderr } = await inferyard(["explain", tinyBert, "--exclude", "wasm"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^ {2}onnx:cpu +would run +onnxruntime-node \d/m);
    expect(stdout).toMatch(/^ {2}wasm:cpu +refused +you excluded wasm$/m);
  });
});

it.skipIf(!hasSharedData)("show says how long a text may be: a language model's context, an embedder's limit", async () => {
  const lines = async (model: string): Promise<string | undefined> =>
    /^ {2}text +(.*)$/m.exec((await inferyard(["show", model])).stdout)?.[1];
  expect(await lines(`${sharedData}tinyllm/tinyllm.gguf`)).toBe("128 tokens (context length)");
  expect(await lines(miniLm)).toMatch(/^256 tokens \(sentence_bert_config\.json max_seq_length\), pooling mean/);
});

it.each(["explain", "show", "run", "verify"])("%s loads no replicas, and refuses --replicas", async (command) => {
  const { code, stderr } = await inferyard([command, "builtin", "--replicas", "2"]);
  expect(code).toBe(2);
  expect(stderr).toContain("error: unknown option '--replicas'");
});

it("says how to build a checkout that is not built", async () => {
  const checkout = join(folder, "checkout");
  cpSync(join(repository, "bin"), join(checkout, "bin"), { recursive: true });
  expect(await inferyard(["version"], { installation: checkout })).toEqual({
    code: 1,
    stdout: "",
    stderr: "inferyard: this checkout is not built yet\n  npm run build\n",
  });
});
