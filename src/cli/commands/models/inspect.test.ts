import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as write from "../../../../test/fixtures/models/gguf-bytes.ts";
import { needsData, sharedData } from "../../../../test/fixtures/shared-data.ts";
import type { ModelInspection } from "../../../inspection/index.ts";
import { run } from "../../main.ts";

let directory = "";
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), "inferyard-inspect-"))));
afterAll(async () => await rm(directory, { recursive: true }));

/** What a person would see who types `inferyard inspect` and these words. */
async function inspect(...words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: "", stderr: "" };
  const into = (name: keyof typeof written): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
  const code = await run(["inspect", ...words], {
    stdout: into("stdout"),
    stderr: into("stderr"),
    stdin: Object.assign(Readable.from([]), { isTTY: true }),
    environment: {},
    directory,
    signal: new AbortController().signal,
  });
  return { code, ...written };
}

async function file(parts: write.GgufParts): Promise<string> {
  const path = join(directory, "x.gguf");
  await writeFile(path, write.gguf(parts));
  return path;
}

describe("inferyard inspect", () => {
  it("says first what the file is, then shows its tables", async () => {
    const { code, stdout, stderr } = await inspect("builtin");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^builtin\/model\.safetensors {3}safetensors {3}StaticModel {3}4\.0 MB {3}3,937,338 parameters\nweights\n/,
    );
    expect(stdout).toMatch(/^ {2}native +should run +it knows StaticModel$/m);
    expect(stdout).not.toContain("embeddings.int4");
  });

  it("lists every tensor with --tensors, and has all of it with --json", async () => {
    expect((await inspect("builtin", "--tensors")).stdout).toMatch(/^ {2}embeddings\.int4 +U8 +\[30522, 128\] +3,906,816$/m);
    const { files } = JSON.parse((await inspect("builtin", "--json")).stdout) as ModelInspection;
    expect(files[0]?.tensors).toContainEqual({ name: "embeddings.int4", type: "U8", shape: [30522, 128], bytes: 3_906_816 });
  });

  it("prints texts of the file without what would steer the terminal, on one line and not at full length", async () => {
    const evil = `\u001B[2J\u202Ename\nsecond line${"x".repeat(2000)}`;
    const { stdout } = await inspect(await file({ metadata: [["general.name", write.text(evil)]] }));
    expect(stdout).toContain("?[2J?name second line");
    for (const character of ["\u001B", "\u202E"]) expect(stdout).not.toContain(character);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThan(200);
  });

  it("shortens arrays and says how long they are", async () => {
    const tokens = Array.from({ length: 1500 }, (_item, index) => `t${index}`);
    const { stdout } = await inspect(await file({ metadata: [["tokenizer.ggml.tokens", write.texts(...tokens)]] }));
    expect(stdout).toMatch(/^ {2}tokenizer\.ggml\.tokens +\[t0, t1, t2, t3, t4, t5, t6, t7, …\] {2}1,500 in all$/m);
  });

  it.each([
    ["a missing file", ["./none.onnx"], 1, /there is no file or folder \.\/none\.onnx \[MODEL_NOT_FOUND\]\n {2}\S/],
    ["no file", [], 2, /missing required argument 'model'/],
    ["a context that is none", ["builtin", "--context", "0"], 2, /whole number above 0/],
  ])("ends with %s", async (_name, words, code, reason) => {
    const outcome = await inspect(...words);
    expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code, stdout: "" });
    expect(outcome.stderr).toMatch(reason);
  });
});

const [skip, name] = needsData("inferyard inspect of models");

describe.skipIf(skip)(name, () => {
  it("a language model: its memory for the tokens wanted, and how that comes about", async () => {
    const { stdout } = await inspect(`${sharedData}gguf-tiny-llama/tiny-llama-f16.gguf`, "--context", "32");
    expect(stdout).toMatch(/^ {2}quantization +the file says F16; most parameters are F16/m);
    expect(stdout).toMatch(/^ {2}memory +\d+ kB for 32 tokens: \d+ kB weights and 9 kB keys and values/m);
    expect(stdout).toContain("32 tokens × 2 layers × 2 heads × (16 + 16) × 2 bytes (keys and values in half precision)");
  });

  it("a graph: inputs with their free dimensions, operators, and who could run it", async () => {
    const { stdout } = await inspect(`${sharedData}tiny-random-bert/onnx/model.onnx`);
    expect(stdout).toMatch(/^ {2}input_ids +int64 +\[batch_size, sequence_length\]$/m);
    expect(stdout).toMatch(/^[\d,]+ nodes {3}ai\.onnx \d+ {3}IR version \d+$/m);
    expect(stdout).toMatch(/^ {2}MatMul +\d+$/m);
    expect(stdout).toMatch(/^ {2}onnx +should run +each of its operators was seen to run in onnxruntime 1\.30\.0$/m);
    expect(stdout).toMatch(/^ {2}native +should run +it has each of the operators$/m);
  });

  it("prints the optimized graph for the shapes that --shape gives", async () => {
    const path = `${sharedData}all-MiniLM-L6-v2/onnx/model.onnx`;
    const shapes = ["input_ids", "attention_mask", "token_type_ids"].flatMap((input) => ["--shape", `${input}=2,7`]);
    const { code, stdout } = await inspect(path, "--graph", ...shapes);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^input input_ids: int64\[2,7\]$/m);
    expect(stdout).toMatch(/^v\d+: float32\[2,7,1536\] = linear\(v\d+, c\d+, c\d+\) bias=true activation=gelu residual=none$/m);
    expect(stdout.match(/ = layer-norm\(/g)).toHaveLength(13);
    const json = await inspect(`${sharedData}vision/mnist.onnx`, "--graph", "--json");
    expect(JSON.parse(json.stdout)).toEqual({ graph: expect.stringContaining("Plus214_Output_0") });
    const alone = await inspect(`${sharedData}vision/mnist.onnx`, "--graph");
    expect(alone.stdout).toMatch(/^output Plus214_Output_0 = v\d+$/m);
  });

  it("prints the graph as a StableHLO program, whose arguments are inputs and weights", async () => {
    const { code, stdout } = await inspect(`${sharedData}vision/mnist.onnx`, "--stablehlo");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\/\/ %arg0: input "Input3"\n\/\/ %arg1: weights of the model$/m);
    expect(stdout).toMatch(/^func\.func public @main\(%arg0: tensor<1x1x28x28xf32>, .*\) -> \(tensor<1x10xf32>\) \{$/m);
    expect(stdout.match(/ = "stablehlo.convolution"\(/g)).toHaveLength(2);
    const json = await inspect(`${sharedData}vision/mnist.onnx`, "--stablehlo", "--json");
    expect(JSON.parse(json.stdout)).toEqual({ stablehlo: expect.stringContaining("@main") });
  });

  it.each([
    ["two forms of a graph", ["--graph", "--stablehlo"], /cannot be used with option/],
    ["an input the model has not", ["--graph", "--shape", "x=1"], /the model has no input "x"/],
    ["a shape it cannot have", ["--graph", "--shape", "Input3=1,1,28"], /\[1, 1, 28\] does not fit the input "Input3"/],
    ["a shape that is none", ["--graph", "--shape", "Input3=a"], /--shape Input3=a is no input/],
    ["a shape without a graph", ["--shape", "Input3=1"], /requires --graph or --stablehlo/],
  ])("refuses %s", async (_name, flags, reason) => {
    const { code, stderr } = await inspect(`${sharedData}vision/mnist.onnx`, ...flags);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(reason);
  });

  it("a folder: each of its files", async () => {
    const { stdout } = await inspect(`${sharedData}tiny-random-bert`);
    expect(stdout.match(/^\S+tiny-random-bert\/\S+ {3}(onnx|safetensors) {3}/gm)).toHaveLength(2);
  });
});
