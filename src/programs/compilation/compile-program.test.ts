import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { scriptedPrograms, type ScriptedStep } from "../../testing/index.ts";
import {
  compileProgram,
  defineOperator,
  defineProgram,
  nativePrograms,
  ProgramBackends,
  type ProgramDecision,
  type ProgramKernel,
} from "../index.ts";

const ramp = (length: number): Float32Array => Float32Array.from({ length }, (_, index) => ((index * 7) % 13) / 8 - 0.75);
const native = nativePrograms(); // shared, so that generated code is checked once
const backends = new ProgramBackends([native]);
const mlp = defineProgram(({ input, weight, matmul, silu, multiply }) => {
  const x = input("x", ["rows", 6]);
  return { y: multiply(silu(matmul(x, weight("gate", [6, 5]))), matmul(x, weight("up", [6, 5]))) };
});
const weights = { gate: ramp(30), up: ramp(30).reverse() };
const counter = defineProgram(({ input, state, update, add }) => {
  const total = state("total", [3]);
  const next = add(total, input("x", [3]));
  update(total, next);
  return { total: next };
});

async function using(kernel: Promise<ProgramKernel>, use: (kernel: ProgramKernel) => Promise<void>): Promise<void> {
  const opened = await kernel;
  try {
    await use(opened);
  } finally {
    await opened.dispose();
  }
}

async function failure(kernel: Promise<unknown>): Promise<InferyardError> {
  const error = await kernel.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof InferyardError) return error;
  throw new Error("it did not fail", { cause: error });
}

describe("a compiled program", () => {
  it("computes the gated MLP as the formula says", async () => {
    await using(compileProgram(mlp, { backends, weights }), async (kernel) => {
      const x = ramp(12);
      const { y } = await kernel.run({ x });
      const product = (w: Float32Array, row: number, column: number): number =>
        Array.from({ length: 6 }, (_, k) => (x[row * 6 + k] ?? 0) * (w[k * 5 + column] ?? 0)).reduce(
          (sum, each) => sum + each,
          0,
        );
      const expected = Array.from({ length: 10 }, (_, index) => {
        const [row, column] = [Math.floor(index / 5), index % 5];
        const gate = product(weights.gate, row, column);
        return (gate / (1 + Math.exp(-gate))) * product(weights.up, row, column);
      });
      expect(y?.shape).toEqual([2, 5]);
      for (const [index, value] of expected.entries()) expect(Number(y?.data[index])).toBeCloseTo(value, 5);
      expect(kernel.memory).toMatchObject({ weights: 240, states: 0 });
      expect(kernel.backend).toBe("native");
    });
  });

  it("takes tensors in our form, in onnxruntime's form, and elements alone", async () => {
    await using(compileProgram(mlp, { backends, weights }), async (kernel) => {
      const data = ramp(6);
      const results = [
        await kernel.run({ x: data }),
        await kernel.run({ x: { dataType: "float32", shape: [1, 6], data } }),
        await kernel.run({ x: { type: "float32", dims: [1, 6], data } }),
      ];
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    });
  });

  it("checks inputs before anything runs", async () => {
    await using(compileProgram(mlp, { backends, weights }), async (kernel) => {
      for (const [inputs, words] of [
        [{}, /missing input "x"/],
        [{ z: ramp(6) }, /unknown input "z"/],
        [{ x: new Float64Array(6) }, /does not hold float32/],
        [{ x: { dataType: "float32", shape: [1, 5], data: ramp(5) } }, /has 5 at axis 1/],
        [{ x: ramp(7) }, /whole numbers/],
      ] as const)
        expect(await failure(kernel.run(inputs as never))).toMatchObject({
          code: "INPUT_INVALID",
          message: expect.stringMatching(words) as string,
        });
    });
  });

  it("pads free dimensions to buckets, and cuts the outputs", async () => {
    await using(compileProgram(mlp, { backends, weights, buckets: { rows: [4, 16] } }), async (kernel) => {
      await using(compileProgram(mlp, { backends, weights }), async (exact) => {
        for (const rows of [1, 3, 4, 5, 0]) {
          const x = { dataType: "float32", shape: [rows, 6], data: ramp(rows * 6) } as const;
          const [padded, right] = [await kernel.run({ x }), await exact.run({ x })];
          expect(padded["y"]?.shape).toEqual([rows, 5]);
          for (const [index, value] of Array.from(right["y"]?.data as Float32Array).entries())
            expect(Number(padded["y"]?.data[index])).toBeCloseTo(value, 5);
        }
      });
    });
  });

  it("refuses buckets where padding changes the results", async () => {
    const mean = defineProgram(({ input, reduceMean }) => ({ y: reduceMean(input("x", ["n"])) }));
    const kernel = await compileProgram(mean, { backends, buckets: { n: [4] } });
    expect(await failure(kernel.run({ x: ramp(3) }))).toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringMatching(/padded to a bucket/) as string,
    });
    await kernel.dispose();
  });

  it("keeps states between runs, reads and sets them", async () => {
    await using(compileProgram(counter, { backends }), async (kernel) => {
      await kernel.run({ x: Float32Array.of(1, 2, 3) });
      const { total } = await kernel.run({ x: Float32Array.of(1, 1, 1) });
      expect(total?.data).toEqual(Float32Array.of(2, 3, 4));
      await kernel.writeStates({ total: Float32Array.of(10, 20, 30) });
      await kernel.run({ x: Float32Array.of(1, 1, 1) });
      expect((await kernel.readStates())["total"]?.data).toEqual(Float32Array.of(11, 21, 31));
    });
  });

  it("ends with dispose, once", async () => {
    const kernel = await compileProgram(counter, { backends });
    await Promise.all([kernel.dispose(), kernel.dispose()]);
    expect(await failure(kernel.run({ x: ramp(3) }))).toMatchObject({ code: "DISPOSED" });
  });
});

describe("fallbacks", () => {
  const steps: readonly ScriptedStep[] = ["probe", "absent", "open", "copy", "compile", "run", "wrong"];
  const stageOf: Readonly<Record<ScriptedStep, string>> = {
    probe: "probe",
    absent: "probe",
    open: "load",
    allocate: "verify",
    copy: "verify",
    compile: "load",
    run: "verify",
    wrong: "verify",
  };

  it.each(steps.flatMap((one) => steps.map((two) => [one, two] as const)))(
    "the third serves where the first fails at %s and the second at %s",
    async (one, two) => {
      const failing = new ProgramBackends([
        scriptedPrograms({ around: native, name: "one", failing: one }),
        scriptedPrograms({
          around: native,
          name: "two",
          failing: two,
          error: new InferyardError("RUN_FAILED", "the compiler crashed"),
        }),
        native,
      ]);
      await using(
        compileProgram(mlp, {
          backend: "one",
          fallbackBackends: ["two", "native"],
          weights,
          backends: failing,
          mode: "throughput",
        }),
        async (kernel) => {
          expect(kernel.backend).toBe("native");
          const { candidates } = kernel.decision;
          expect(candidates.map(({ target, stage }) => [target, stage])).toEqual([
            ["one", stageOf[one]],
            ["two", stageOf[two]],
            ["native", "verify"],
          ]);
          expect(candidates.every(({ reason }) => reason !== "")).toBe(true);
        },
      );
    },
  );

  it("lists every candidate with its reason where none serves", async () => {
    const failing = new ProgramBackends([scriptedPrograms({ around: native, name: "one", failing: "wrong" })]);
    const error = await failure(
      compileProgram(mlp, { backend: "one", fallbackBackends: ["xla", "mps", "cuda"], weights, backends: failing }),
    );
    expect(error.code).toBe("NO_BACKEND");
    expect(error.message).toMatch(
      /one \(verify\): for a probe the output "y" has .* in place of .*; xla \(package\): .* is not compiled in: this build has one; mps \(package\)/,
    );
    expect((error.data["decision"] as ProgramDecision).selected).toBeUndefined();
  });

  it("refuses a candidate with too little memory, and one whose types it does not have", async () => {
    const error = await failure(compileProgram(mlp, { backends, weights, maxMemory: 100 }));
    expect(error.message).toMatch(/native \(requirement\): weights and states take 240 bytes, and 100 are allowed/);
    expect(await failure(compileProgram(mlp, { backends, weights, maxMemory: 300 }))).toMatchObject({
      message: expect.stringMatching(/the program takes \d+ bytes, and 300/) as string,
    });
  });

  it("the next backend takes over with the states where new sizes fail", async () => {
    const sized = defineProgram(({ input, state, update, add, reduceSum }) => {
      const total = state("total", [1]);
      update(total, add(total, reduceSum(input("x", ["n"]), undefined, { keepdims: 1 })));
      return { total: add(total, 0) };
    });
    let isBroken = false;
    const breaking = {
      ...native,
      name: "one",
      open: async (settings: Parameters<typeof native.open>[0]) => {
        const device = await native.open(settings);
        const compile = device.compile.bind(device);
        device.compile = async (...given) => {
          if (isBroken) throw new Error("the compiler is gone");
          return await compile(...given);
        };
        return device;
      },
    };
    await using(
      compileProgram(sized, { backend: "one", fallbackBackends: ["native"], backends: new ProgramBackends([breaking, native]) }),
      async (kernel) => {
        await kernel.run({ x: Float32Array.of(1, 2) });
        isBroken = true;
        const { total } = await kernel.run({ x: Float32Array.of(5, 6, 7) });
        expect(total?.data).toEqual(Float32Array.of(3));
        expect((await kernel.readStates())["total"]?.data).toEqual(Float32Array.of(21));
        expect(kernel.backend).toBe("native");
        expect(kernel.decision.candidates[0]).toMatchObject({ target: "one", verdict: "failed", reason: "the compiler is gone" });
      },
    );
  });
});

describe("switching", () => {
  it("loses no state under load", async () => {
    await using(compileProgram(counter, { backends }), async (kernel) => {
      const targets = ["native:wasm", "native", "native:wasm", "native"];
      const runs: Promise<unknown>[] = [];
      const switches: Promise<unknown>[] = [];
      for (let index = 0; index < 40; index += 1) {
        runs.push(kernel.run({ x: Float32Array.of(1, 2, 3) }));
        const target = targets[index / 10];
        if (target !== undefined) switches.push(kernel.switchTo(target));
      }
      await Promise.all([...runs, ...switches]);
      expect((await kernel.readStates())["total"]?.data).toEqual(Float32Array.of(40, 80, 120));
      expect(kernel.decision.candidates).toHaveLength(5);
      expect(kernel.backend).toBe("native");
    });
  });

  it("changes nothing where the other backend fails", async () => {
    const failing = new ProgramBackends([native, scriptedPrograms({ around: native, name: "two", failing: "wrong" })]);
    await using(compileProgram(counter, { backends: failing }), async (kernel) => {
      await kernel.run({ x: Float32Array.of(1, 2, 3) });
      expect(await failure(kernel.switchTo("two"))).toMatchObject({
        code: "BACKEND_UNAVAILABLE",
        message: expect.stringMatching(/two \(verify\)/) as string,
      });
      expect(await failure(kernel.switchTo("three"))).toMatchObject({ code: "INPUT_INVALID" });
      expect(kernel.backend).toBe("native");
      expect((await kernel.run({ x: Float32Array.of(1, 2, 3) }))["total"]?.data).toEqual(Float32Array.of(2, 4, 6));
    });
  });
});

describe("operators of the program's author", () => {
  const twice = (run?: (data: Float32Array) => Float32Array): ReturnType<typeof defineOperator> =>
    defineOperator({
      name: "twice",
      types: ([x]) => (x === undefined ? [] : [x]),
      reference: ([x]) => (x === undefined ? [] : [{ ...x, data: (x.data as Float32Array).map((each) => 2 * each) }]),
      implementations:
        run === undefined ? {} : { native: ([x]) => (x === undefined ? [] : [{ ...x, data: run(x.data as Float32Array) }]) },
    });
  const program = (operator: ReturnType<typeof twice>): ReturnType<typeof defineProgram> =>
    defineProgram(({ input, call, relu }) => ({ y: call(operator, [relu(input("x", [4]))])[0] }));

  it("run as the backend's implementation says", async () => {
    await using(compileProgram(program(twice((data) => data.map((each) => each + each))), { backends }), async (kernel) => {
      expect((await kernel.run({ x: Float32Array.of(-1, 1, 2, 3) }))["y"]?.data).toEqual(Float32Array.of(0, 2, 4, 6));
    });
  });

  it("are refused where an implementation lacks, and where it is wrong", async () => {
    expect(await failure(compileProgram(program(twice()), { backends }))).toMatchObject({
      message: expect.stringMatching(
        /the operator "twice" has no implementation for native: it has one for no backend/,
      ) as string,
    });
    const wrong = program(twice((data) => data.map((each) => 3 * each)));
    expect(await failure(compileProgram(wrong, { backends }))).toMatchObject({
      message: expect.stringMatching(/native \(verify\)/) as string,
    });
  });
});

describe("requests that are refused", () => {
  it("for unknown, doubled and capital names, options and weights", async () => {
    const compile = async (options: object): Promise<InferyardError> =>
      await failure(compileProgram(mlp, { backends, weights, ...options }));
    for (const [options, words] of [
      [{ backend: "nope" }, /there is no backend "nope"/],
      [{ backend: "CUDA" }, /there is no backend "CUDA"/],
      [{ backend: "native", fallbackBackends: ["native"] }, /named twice/],
      [{ backend: "native:gpu" }, /has no device or level "gpu"/],
      [{ backends: new ProgramBackends([]) }, /is not compiled in: this build has none/],
      [{ mode: "fast" }, /mode is "fast"/],
      [{ bucket: {} }, /"bucket" is no option/],
      [{ buckets: { columns: [1] } }, /names no free dimension/],
      [{ weights: { gate: ramp(30) } }, /weights: missing input "up"/],
    ] as const)
      expect((await compile(options)).message).toMatch(words);
  });
});
