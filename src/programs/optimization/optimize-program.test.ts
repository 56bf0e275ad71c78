/** The search for the fastest form of a program: what is told and kept, what is refused, and that nothing changes where nothing may. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { writeOnnxModel } from "../../engine/onnx/write-model.ts";
import { toSha256 } from "../../storage/sha256.ts";
import {
  compileProgram,
  defineOperator,
  defineProgram,
  nativePrograms,
  optimize,
  type Program,
  ProgramBackends,
} from "../index.ts";
import { optimizeFile } from "./optimize-file.ts";

const backends = new ProgramBackends([nativePrograms()]);
const home = mkdtempSync(join(tmpdir(), "inferyard-optimize-"));
const folder = join(home, "optimized");

beforeAll(() => void vi.stubEnv("INFERYARD_HOME", home));
beforeEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

/** x w + x a b, with a and b of rank 4. */
const lora = defineProgram(({ input, weight, matmul, add }) => {
  const x = input("x", ["rows", 64]);
  return { y: add(matmul(x, weight("w", [64, 256])), matmul(matmul(x, weight("a", [64, 4])), weight("b", [4, 256]))) };
});

function tensors(infos: Program["weights"] | Program["inputs"], seed: number): Record<string, Float32Array> {
  return Object.fromEntries(
    infos.map(({ name, shape }, which) => {
      const length = shape.reduce<number>((product, size) => product * (typeof size === "number" ? size : 3), 1);
      return [name, Float32Array.from({ length }, (_, index) => ((index * 7919 + (seed + which) * 104_729) % 1009) / 1009 - 0.5)];
    }),
  );
}

const weights = tensors(lora.weights, 11);
const inputs = tensors(lora.inputs, 1);

async function run(program: Program, given: Parameters<typeof compileProgram>[1]): Promise<number[]> {
  const kernel = await compileProgram(program, { backends, mode: "throughput", ...given });
  const { y } = await kernel.run(inputs);
  await kernel.dispose();
  return Array.from(y?.data as Float32Array);
}

function expectClose(computed: readonly number[], expected: readonly number[]): void {
  expect(computed).toHaveLength(expected.length);
  const worst = Math.max(...expected.map((value, index) => Math.abs(value - (computed[index] ?? Number.NaN))));
  expect(worst).toBeLessThan(1e-4 * Math.max(...expected.map(Math.abs)));
}

/** Makes the kept result of the last search one with these steps. */
function keepSteps(steps: readonly object[]): void {
  const [name = ""] = readdirSync(folder);
  const { key, result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
    readonly key: string;
    readonly result: object;
  };
  const changed = { ...result, steps };
  writeFileSync(join(folder, name), JSON.stringify({ key, digest: toSha256(JSON.stringify(changed)), result: changed }));
}

const options = { backends, weights, mode: "throughput", budget: "60s" } as const;

describe("optimize", () => {
  it("tells what it tried and what the backend reaches, and returns a program with the same results", async () => {
    const { program, weights: left, report } = await optimize(lora, options);
    expect(report.tried.map(({ change }) => change)).toContain("merge-adapter");
    expect(report.tried.filter(({ verdict }) => verdict === "unproved" || verdict === "wrong")).toEqual([]);
    expect(report).toMatchObject({ backend: "native", target: "native", from: "search", sizes: { rows: 2 } });
    expect(report.originalMs).toBeGreaterThan(0);
    expect(report.roofline?.gigaflops).toBeGreaterThan(0);
    expectClose(await run(program, { weights: left }), await run(lora, { weights }));
  });

  it("applies what an earlier search found, for sizes of its own and for others", async () => {
    await optimize(lora, options);
    keepSteps([{ rule: "merge-adapter", site: "add_3_0" }]);
    const { program, weights: left, report } = await optimize(lora, options);
    expect(report).toMatchObject({ from: "kept", ended: "kept", tried: [], steps: [{ rule: "merge-adapter" }] });
    expect(left).toEqual({});
    expect(program.toOnnx(new Map()).graph.nodes.map(({ operator }) => operator)).toEqual(["MatMul", "Identity"]);
    expectClose(await run(program, {}), await run(lora, { weights }));
    const other = await optimize(lora, { ...options, fresh: true });
    expect(other.report.from).toBe("search");
  });

  it("searches again where a kept result is damaged, has other steps, or had less time", async () => {
    await optimize(lora, options);
    keepSteps([{ rule: "merge-adapter", site: "no such value" }]);
    expect((await optimize(lora, options)).report.from).toBe("search");
    const [name = ""] = readdirSync(folder);
    writeFileSync(join(folder, name), "{");
    expect((await optimize(lora, options)).report.from).toBe("search");
    expect((await optimize(lora, { ...options, budget: "61s" })).report.from).toBe("search");
    expect((await optimize(lora, { ...options, budget: "1s" })).report.from).toBe("kept");
  });

  it("changes nothing with a budget of zero", async () => {
    const { program, weights: left, settings, report } = await optimize(lora, { ...options, budget: 0 });
    expect(program).toBe(lora);
    expect(left).toBe(weights);
    expect(settings).toEqual({});
    expect(report).toMatchObject({ from: "none", ended: "none", steps: [], tried: [], speedup: 1 });
    expect(() => readdirSync(folder)).toThrow(/ENOENT/);
  });

  it("keeps states", async () => {
    const program = defineProgram(({ input, state, update, weight, matmul, add, mul }) => {
      const total = state("total", [2, 4]);
      const next = add(total, matmul(mul(input("x", [2, 3]), weight("g", [3])), weight("w", [3, 4])));
      update(total, next);
      return { y: next };
    });
    const given = tensors(program.weights, 5);
    await optimize(program, { ...options, weights: given });
    keepSteps([{ rule: "fold-scale-into-weight", site: "matmul_1_0" }]);
    const { program: found, report } = await optimize(program, { ...options, weights: given });
    expect(report.from).toBe("kept");
    const results: number[][] = [];
    for (const each of [
      { program: found, weights: {} },
      { program, weights: given },
    ]) {
      const kernel = await compileProgram(each.program, { backends, weights: each.weights, mode: "throughput" });
      const x = tensors(program.inputs, 2);
      await kernel.run(x);
      const { y } = await kernel.run(x);
      results.push(Array.from(y?.data as Float32Array));
      await kernel.dispose();
    }
    expectClose(results[0] ?? [], results[1] ?? []);
  });

  it("ends with ABORTED before and while it searches", async () => {
    await expect(optimize(lora, { ...options, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    const controller = new AbortController();
    const searching = optimize(lora, { ...options, signal: controller.signal });
    controller.abort();
    await expect(searching).rejects.toMatchObject({ code: "ABORTED" });
  });

  it.each([
    [{ budget: "soon" }, /budget is "soon"/],
    [{ budget: -1 }, /budget is -1/],
    [{ backend: "gpu" }, /there is no backend "gpu"/],
    [{ sizes: { columns: 3 } }, /sizes.columns names no free dimension/],
    [{ weights: {} }, /weights: /],
    [{ fresh: "yes" }, /fresh is "yes"/],
    [{ tiles: 3 }, /"tiles" is no option of optimize/],
  ])("refuses %j", async (change, message) => {
    const error: unknown = await optimize(lora, { ...options, ...change } as never).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(message) as string });
  });

  it("refuses backends that are not here, and operators that are not ONNX's", async () => {
    await expect(optimize(lora, { ...options, backend: "mps" })).rejects.toMatchObject({ code: "BACKEND_UNAVAILABLE" });
    const own = defineOperator({ name: "own", types: ([x]) => [x as never], reference: (given) => given, implementations: {} });
    const program = defineProgram(({ input, call }) => ({ y: call(own, [input("x", [2])])[0] }));
    await expect(optimize(program, { backends, budget: "1s" })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringMatching(/"own"/) as string,
    });
  });

  it("refuses a program that does not fit into the memory that is allowed", async () => {
    const error: unknown = await optimize(lora, { ...options, maxMemory: 100_000 }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringMatching(/bytes, and 100000 are allowed/) as string,
    });
  });
});

describe("optimizeFile", () => {
  it("writes a file that another engine computes the same with, free dimensions included", async () => {
    const model = {
      ...lora.toOnnx(
        new Map(
          Object.entries(weights).map(([name, data]) => [
            name,
            { dataType: "float32", shape: lora.weights.find((each) => each.name === name)?.shape ?? [], data },
          ]),
        ),
      ),
      opsets: new Map([["", 17]]),
    };
    const path = join(home, "model.onnx");
    writeFileSync(path, Buffer.concat(writeOnnxModel(model, { producer: "test", version: "1" })));
    await optimizeFile(path, { backends, mode: "throughput", budget: "60s" });
    keepSteps([{ rule: "merge-adapter", site: "add_3_0" }]);
    const output = join(home, "fast.onnx");
    const report = await optimizeFile(path, { backends, mode: "throughput", budget: "60s", output });
    expect(report).toMatchObject({ from: "kept", output: { path: output, bytes: readFileSync(output).length } });
    await expect(optimizeFile(path, { output })).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
    const session = await InferenceSession.create(output);
    const { y } = await session.run({ x: new Tensor("float32", inputs["x"] ?? [], [3, 64]) });
    await session.release();
    expectClose(Array.from(y?.data as Float32Array), await run(lora, { weights }));
  });

  it("copies the file where nothing is faster", async () => {
    const program = defineProgram(({ input, add }) => ({ y: add(input("x", [2]), 1) }));
    const path = join(home, "plain.onnx");
    writeFileSync(path, Buffer.concat(writeOnnxModel(program.toOnnx(new Map()), { producer: "test", version: "1" })));
    const output = join(home, "copy.onnx");
    await optimizeFile(path, { backends, mode: "throughput", budget: 0, output });
    expect(readFileSync(output).equals(readFileSync(path))).toBe(true);
  });
});
