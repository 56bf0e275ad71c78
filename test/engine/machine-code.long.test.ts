/** Kernels in x86-64 machine code, preferred for real models: the bits of WebAssembly, on every host and with several threads. */
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { join } from "node:path";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { createRuntime, type KernelCount } from "inferyard";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const hasAvx2 = process.platform === "linux" && process.arch === "x64" && / avx2 /.test(readFileSync("/proc/cpuinfo", "utf8"));
const skip = !hasAvx2;
const title = skip ? "(skipped: this is no Linux on x86-64 with AVX2)" : "";
const [skipModel, modelTitle] = needsData("gguf-tiny-llama");
const [skipBert, bertTitle] = needsData("tiny-random-bert");

const ids = (counts: readonly KernelCount[] | undefined): readonly string[] => (counts ?? []).map(({ id }) => id);

describe.skipIf(skip || skipModel)(`a language model in machine code ${modelTitle} ${title}`, () => {
  const prompt = [1, 2, 3, 4, 5, 6, 7];

  async function logitsOf(type: string, host: "inline" | "worker" | "process", threads: number, kernels: readonly string[]) {
    const runtime = await createRuntime({ target: "native:cpu", host });
    try {
      const path = `${sharedData}gguf-tiny-llama/tiny-llama-${type}.gguf`;
      const handle = await runtime.load(path, { kind: "language", threads, ...(kernels.length === 0 ? {} : { kernels }) });
      const sequence = await handle.language.createSequence();
      const rows = [
        await handle.language.decode([{ sequence, tokens: prompt, logits: prompt.length }]),
        await handle.language.decode([{ sequence, tokens: [8] }]),
      ];
      const evidence = handle.decision.selected?.evidence.join("\n") ?? "";
      const counts = ids(await handle.kernelCounts());
      await handle.dispose();
      return { rows, counts, evidence };
    } finally {
      await runtime.dispose();
    }
  }

  it.each([
    ["256-q4_k", "Q4_K", "inline", 1],
    ["q8_0", "Q8_0", "process", 2],
    ["256-ternary-tq2_0", "TQ2_0", "worker", 2],
    ...(runsAll ? [["256-q4_k", "Q4_K", "worker", 2] as const, ["256-ternary-tq2_0", "TQ2_0", "worker", 1] as const] : []),
  ] as const)("%s: %s_AVX2 on the host %s with %i threads", async (type, name, host, threads) => {
    const wasm = await logitsOf(type, host, threads, [`${name}_Wasm`]);
    const machine = await logitsOf(type, host, threads, [`${name}_AVX2`]);
    expect(wasm.counts).toContain(`${name}_Wasm`);
    expect(machine.counts).toContain(`${name}_AVX2`);
    expect(machine.counts).not.toContain(`${name}_Wasm`);
    expect(machine.evidence).toContain(`kernel for ${name}: ${name}_AVX2 (it is preferred; its self-test passed)`);
    expect(machine.rows).toEqual(wasm.rows);
  });
});

describe.skipIf(skip || skipBert)(`an encoder in machine code ${bertTitle} ${title}`, () => {
  it("computes activations after its products, with the bits of WebAssembly", async () => {
    const embed = async (kernels: readonly string[]) => {
      const runtime = await createRuntime({ target: "native:cpu", host: "inline", threads: 1 });
      try {
        const options = { variant: "int4", ...(kernels.length === 0 ? {} : { kernels }) };
        const handle = await runtime.load(`${sharedData}tiny-random-bert/model.safetensors`, options);
        const { embeddings } = await runtime.embed(["a cat sits on the mat", "ein Satz"], { model: handle, pooling: "mean" });
        const counts = ids(await handle.kernelCounts());
        await handle.dispose();
        return { embeddings, counts };
      } finally {
        await runtime.dispose();
      }
    };
    const [wasm, machine] = [await embed(["INT4_B32_Wasm"]), await embed(["INT4_B32_AVX2"])];
    expect(machine.counts).toContain("INT4_B32_AVX2");
    expect(machine.counts).not.toContain("INT4_B32_Wasm");
    expect(machine.embeddings).toEqual(wasm.embeddings);
  });
});

describe.skipIf(skip || skipModel)(`processes with a language model ${modelTitle} ${title}`, () => {
  const path = `${sharedData}gguf-tiny-llama/tiny-llama-q8_0.gguf`;
  const temporary = mkdtempSync(join(tmpdir(), "machine-code-processes-")); // other programs write to the usual one
  afterAll(() => rmSync(temporary, { recursive: true, force: true }));
  const script = `
    import { createRuntime } from ${JSON.stringify(import.meta.resolve("inferyard"))};
    const runtime = await createRuntime({ target: "native:cpu", host: "inline", threads: 1 });
    const handle = await runtime.load(${JSON.stringify(path)}, { kind: "language" });
    const sequence = await handle.language.createSequence();
    const [row] = await handle.language.decode([{ sequence, tokens: [1, 17, 42, 99] }]);
    const code = handle.decision.selected.evidence.find((line) => line.startsWith("machine code: "));
    console.log(JSON.stringify({ row: Array.from(row), code, ids: (await handle.kernelCounts()).map(({ id }) => id) }));
    await runtime.dispose();
  `;
  async function run(...flags: readonly string[]): Promise<{ row: number[]; code: string; ids: string[] }> {
    const env = { ...process.env, TMPDIR: temporary };
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "--eval", script], { env });
    const found = JSON.parse(stdout) as { row: number[]; code: string; ids: string[] };
    return { ...found, code: found.code.replace(/, \d+ of them from the cache on disk$/, "") }; // whichever process is first writes it
  }

  it("that start at the same time compute the same bits, and leave no file behind", async () => {
    const [first, second] = await Promise.all([run(), run()]);
    expect(second).toEqual(first);
    expect(first.code).toMatch(/^machine code: [1-9]\d* of \d+ kernels, up to AVX/);
    expect(first.ids).toEqual(expect.arrayContaining([expect.stringMatching(/^Q8_0_AVX/)]));
    expect(readdirSync(temporary).filter((name) => name.startsWith("inferyard-code-"))).toEqual([]);
  });

  it("that may load no addons compute with WebAssembly and say why", async () => {
    const { row, code, ids } = await run("--no-addons");
    expect(code).toMatch(
      /^machine code: none, WebAssembly computes all kernels: Node.js was started without the permission: .*addons/,
    );
    expect(ids.filter((id) => id.includes("_AVX"))).toEqual([]);
    const machine = await run();
    // Activations are rounded to 8 bits, some of them to the neighbouring value where the last bit of a norm differs.
    for (const [index, value] of machine.row.entries()) expect(row[index]).toBeCloseTo(value, 3);
  });
});
