/** The backend on emulated libraries: what arrives at the driver, what is freed, and what a decision says where something is missing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileEmulatedCuda, type EmulatedCuda, needsEmulator } from "../../../../test/programs/fixtures/emulated-cuda.ts";
import type { DataType } from "../../../contract/tensor.ts";
import { programBackendCases } from "../../../testing/index.ts";
import { compileProgram, cudaPrograms, defineProgram, nativePrograms, ProgramBackends, type ProgramKernel } from "../../index.ts";

const integers: readonly DataType[] = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"];
const dataTypes: readonly DataType[] = ["float32", "float64", "float16", "bfloat16", ...integers];
const [skip, title] = needsEmulator("programs on emulated CUDA");

const mlp = defineProgram(({ input, weight, matmul, silu, multiply, state, add, update }) => {
  const x = input("x", ["rows", 24]);
  const runs = state("runs", [1]);
  update(runs, add(runs, 1));
  return { y: multiply(silu(matmul(x, weight("gate", [24, 17]))), matmul(x, weight("up", [24, 17]))) };
});
const ramp = (length: number): Float32Array => Float32Array.from({ length }, (_, index) => ((index * 7) % 13) / 8 - 0.5);
const weights = { gate: ramp(24 * 17), up: ramp(24 * 17).toReversed() };

describe.skipIf(skip)(title, () => {
  let cuda: EmulatedCuda;
  beforeAll(() => {
    cuda = compileEmulatedCuda();
  }, 60_000);
  afterAll(() => cuda.remove());
  const backend = (cublas: boolean) => cudaPrograms({ driver: cuda.path, nvrtc: cuda.path, cublas: cublas && cuda.path });
  const compile = async (cublas: boolean): Promise<ProgramKernel> =>
    await compileProgram(mlp, { backend: "cuda", backends: new ProgramBackends([backend(cublas), nativePrograms()]), weights });

  it.each([
    [true, "2 kernels of CUDA C in 2 launches, 2 products by cuBLAS"],
    [false, "3 kernels of CUDA C in 4 launches, 0 products by cuBLAS"],
  ])("compute as native does, keep states, and free all; cuBLAS: %s", async (cublas, words) => {
    const kernel = await compile(cublas);
    expect(kernel.decision.selected?.evidence.join("\n")).toContain(words);
    expect(kernel.decision.selected?.evidence.join("\n")).toContain("never on a GPU");
    expect(kernel.flags).toEqual(["--gpu-architecture=sm_90", "--std=c++17"]);
    const before = await cuda.counts();
    const outputs = [await kernel.run({ x: ramp(48) }), await kernel.run({ x: ramp(48) })];
    const after = await cuda.counts();
    expect([after.products - before.products, after.launches > before.launches]).toEqual([cublas ? 4 : 0, true]);
    expect(outputs[0]).toEqual(outputs[1]);
    await kernel.switchTo("native"); // compares with the interpreter, and takes the states over
    const right = await kernel.run({ x: ramp(48) });
    expect((await kernel.readStates())["runs"]?.data).toEqual(Float32Array.of(3));
    const [found, expected] = [outputs[0]?.["y"]?.data, right["y"]?.data] as Float32Array[];
    found?.forEach((value, index) => expect(value).toBeCloseTo(expected?.[index] ?? Number.NaN, 4));
    await kernel.dispose();
    expect(await cuda.counts()).toMatchObject({ allocations: 0, modules: 0, contexts: 0, programs: 0, handles: 0, bytes: 0 });
  });

  const cases = () => programBackendCases({ create: () => backend(false), dataTypes, samples: 2 });
  const isOfInterface = (name: string): boolean => !name.includes("agrees with the interpreter");
  it.each(cases().filter(({ name }) => isOfInterface(name)))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });

  it("print chains of elementwise operations as one kernel", async () => {
    const program = defineProgram(({ input, add, mul, tanh, exp, sub }) => {
      const x = input("x", [3, 5]);
      return { y: sub(tanh(add(mul(x, input("scale", [5])), 2)), exp(x)) };
    });
    const kernel = await compileProgram(program, { backend: "cuda", backends: new ProgramBackends([backend(true)]) });
    expect(kernel.decision.selected?.evidence[0]).toBe(
      "1 kernels of CUDA C in 1 launches, 0 products by cuBLAS, 0 bytes of intermediate values",
    );
    await kernel.dispose();
  });

  it("give way to the next backend for operations without a kernel, and for weights that do not fit", async () => {
    const backends = new ProgramBackends([backend(false), nativePrograms()]);
    const random = defineProgram(({ input, det }) => ({ y: det(input("x", [2, 2])) }));
    const kernel = await compileProgram(random, { backend: "cuda", fallbackBackends: ["native"], backends });
    expect(kernel.backend).toBe("native");
    expect(kernel.decision.candidates[0]).toMatchObject({
      stage: "load",
      reason: expect.stringContaining("determinant has no kernel on CUDA"),
    });
    await kernel.dispose();
    const options = { backend: "cuda", backends, weights, maxMemory: 1000 };
    await expect(compileProgram(mlp, options)).rejects.toThrow(/bytes, and 1000 are allowed/);
    expect(await cuda.counts()).toMatchObject({ allocations: 0, modules: 0, contexts: 0, programs: 0, handles: 0 });
  });

  it("are refused with what is missing", async () => {
    const probe = async (options: object): Promise<string> => (await cudaPrograms(options).probe(undefined)).reason;
    const { path } = cuda;
    const none = `${path}.none`;
    expect(await probe({ driver: none, nvrtc: path, cublas: false })).toMatch(/libemulated-cuda.so.none/);
    expect(await probe({ driver: path, nvrtc: none, cublas: false })).toMatch(/libemulated-cuda.so.none/);
    process.env["EMULATED_CUDA_NO_GPU"] = "1";
    try {
      expect(await probe({ driver: path, nvrtc: path, cublas: false })).toBe("cuInit: no CUDA-capable device is detected");
    } finally {
      delete process.env["EMULATED_CUDA_NO_GPU"];
    }
  });
});
