/** CUDA C of every operator: on emulated libraries against the interpreter, and through the real NVRTC, which needs no GPU, where it is installed. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { miragePrograms, mirageTensors } from "../../bench/programs/mirage-programs.mjs";
import { zeroLiteral } from "../../src/engine/ir/literal.ts";
import { ForeignFunctions } from "../../src/libraries/ffi/index.ts";
import { fuseForCuda } from "../../src/programs/backends/cuda/cuda-device.ts";
import { findCuda } from "../../src/programs/backends/cuda/find-cuda.ts";
import { Nvrtc } from "../../src/programs/backends/cuda/nvrtc.ts";
import { printGraph } from "../../src/programs/backends/cuda/print/print-graph.ts";
import { traceProgram } from "../../src/programs/definition/trace-program.ts";
import { compileProgram, cudaPrograms, defineProgram, ProgramBackends } from "../../src/programs/index.ts";
import { programBackendCases } from "../../src/testing/index.ts";
import { operatorSamples, sampleChoices } from "../../src/testing/operator-samples.ts";
import { runsAll } from "../fixtures/slow.ts";
import { compileEmulatedCuda, type EmulatedCuda, needsEmulator } from "./fixtures/emulated-cuda.ts";

const integers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"] as const;
const dataTypes = ["float32", "float64", "float16", "bfloat16", ...integers] as const;
/** One operator of each kind of kernel. */
const sampledOperators = /^(?:gemm|softmax|layerNormalization|reduceSum|topK|scatterElements|conv|attention|gatherND|cast|pad) /;

interface Golden {
  readonly sizes: Readonly<Record<string, number>>;
  readonly values: readonly number[];
}
const goldens = JSON.parse(readFileSync(new URL("fixtures/mirage-goldens.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Golden>
>;

const [skip, title] = needsEmulator("programs on emulated CUDA");

describe.skipIf(skip)(title, () => {
  let cuda: EmulatedCuda;
  beforeAll(() => {
    cuda = compileEmulatedCuda();
  }, 60_000);
  afterAll(() => cuda.remove());
  const create = () => cudaPrograms({ driver: cuda.path, nvrtc: cuda.path, cublas: false });

  const cases = programBackendCases({
    create,
    dataTypes,
    floats: runsAll ? ["float32", "float64", "float16", "bfloat16"] : ["float32"],
  });
  const chosen = cases.filter(({ name }) => runsAll || sampledOperators.test(name));
  it.each(chosen)(`$name${runsAll ? "" : " (a sample: TEST_SLOW=1 runs all)"}`, async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });

  const names = Object.keys(goldens);
  it.each(names.filter((_, index) => runsAll || index < 2))(
    "Mirage's %s equals NumPy's float64, with products by cuBLAS",
    async (name) => {
      const { sizes, values } = goldens[name] ?? { sizes: {}, values: [] };
      const program = miragePrograms[name]?.(sizes);
      if (program === undefined) throw new Error(`${name} is missing`);
      const weights = mirageTensors(program.weights, 11);
      const backends = new ProgramBackends([cudaPrograms({ driver: cuda.path, nvrtc: cuda.path, cublas: cuda.path })]);
      const kernel = await compileProgram(program, { backend: "cuda", backends, weights });
      const data = (await kernel.run(mirageTensors(program.inputs, 1)))["y"]?.data as Float32Array;
      await kernel.dispose();
      const largest = Math.max(...values.map(Math.abs));
      for (const [index, value] of values.entries())
        expect(Math.abs((data[index] ?? Number.NaN) - value)).toBeLessThan(1e-4 * largest);
    },
  );

  it("have freed everything", async () => {
    expect(await cuda.counts()).toMatchObject({ allocations: 0, modules: 0, contexts: 0, programs: 0, handles: 0, bytes: 0 });
  });
});

const { nvrtc: compilers } = await findCuda();
const [path] = compilers;
const why =
  path === undefined ? " (skipped: NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12 into an active environment)" : "";

describe.skipIf(path === undefined)(`NVRTC${why}`, () => {
  it(`compiles the printed programs of ${runsAll ? "all" : "each tenth of the"} operators for three kinds of GPUs, and names what it refuses`, async () => {
    const ffi = await ForeignFunctions.load();
    const nvrtc = new Nvrtc(ffi, ffi.open(path ?? ""));
    expect(() => nvrtc.compile('extern "C" __global__ void f(float *x) { x[0] = y; }', 80)).toThrow(
      /identifier "y" is undefined/,
    );
    const operators = Object.keys(operatorSamples).filter((_, index) => runsAll || index % 10 === 0);
    for (const [index, operator] of operators.entries()) {
      const program = defineProgram((build) => {
        const values = [operatorSamples[operator]?.(build, sampleChoices(2, "float32", false)) ?? []].flat();
        return Object.fromEntries(values.map((value, output) => [`y${output}`, value]));
      });
      const weights = new Map(program.weights.map(({ name, dataType, shape }) => [name, zeroLiteral(dataType, shape)]));
      const { graph } = traceProgram(program, program.open(), { sizes: program.exampleSizes, weights, backend: "cuda" });
      const { source } = printGraph(fuseForCuda(graph), { hasCublas: false });
      const code = nvrtc.compile(source, [80, 89, 90][index % 3] ?? 90);
      expect([...code.subarray(0, 4)]).toEqual([0x7f, 0x45, 0x4c, 0x46]); // an ELF file
    }
  });
});
