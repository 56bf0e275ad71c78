/** Programs on XLA, through a CPU plugin: the interface of backends of programs, Mirage's programs, operators of a program's author, and switches to and from native. */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import {
  compileProgram,
  defineOperator,
  defineProgram,
  nativePrograms,
  ProgramBackends,
  type Program,
  xlaPrograms,
} from "inferyard/program";
import { programBackendCases, scriptedPrograms } from "inferyard/testing";
import { miragePrograms, mirageTensors } from "../../bench/programs/mirage-programs.mjs";
import { amount, runsAll } from "../fixtures/slow.ts";
import { needsPlugin, pjrtPlugin } from "../xla/fixtures/pjrt-plugins.ts";

const [skip, title, plugin] = needsPlugin("programs on xla:cpu", await pjrtPlugin());
const xla = xlaPrograms({ plugin, compilesInChild: false }); // hundreds of programs, none of which ends its process
const native = nativePrograms();
const backends = new ProgramBackends([xla, native]);

const integers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"] as const;
const dataTypes = ["float32", "float64", "float16", "bfloat16", ...integers] as const;

interface Golden {
  readonly sizes: Readonly<Record<string, number>>;
  readonly values: readonly number[];
}

const goldens = JSON.parse(readFileSync(new URL("fixtures/mirage-goldens.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Golden>
>;

describe.skipIf(skip)(title, () => {
  const kernels: { dispose(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const kernel of kernels) await kernel.dispose();
  });

  describe("the interface of backends of programs", () => {
    const floats = runsAll ? (["float32", "float64", "float16", "bfloat16"] as const) : (["float32"] as const);
    const subject = { create: () => xla, qualifier: "cpu", dataTypes, floats, samples: amount(3, 1) };
    it.each(skip ? [] : programBackendCases(subject))("$name", async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    });
  });

  it.each(Object.keys(miragePrograms))("%s gives NumPy's values", async (name) => {
    const { sizes, values } = goldens[name] ?? { sizes: {}, values: [] };
    const program = miragePrograms[name]?.(sizes);
    if (program === undefined) throw new Error(`${name} is missing`);
    const kernel = await compileProgram(program, { backend: "xla:cpu", backends, weights: mirageTensors(program.weights, 11) });
    kernels.push(kernel);
    const { y } = await kernel.run(mirageTensors(program.inputs, 1));
    const worst = Math.max(...values.map((value, index) => Math.abs(value - Number(y?.data[index]))));
    expect(worst).toBeLessThan(1e-5 * Math.max(...values.map(Math.abs)));
  });

  it("runs an operator of the program's author from its statements, and refuses wrong ones", async () => {
    const twice = (operation: string): Program => {
      const operator = defineOperator({
        name: "twice",
        types: ([x]) => (x === undefined ? [] : [x]),
        reference: ([x]) => (x === undefined ? [] : [{ ...x, data: (x.data as Float32Array).map((each) => 2 * each) }]),
        implementations: {
          xla: ({ inputs: [x], results: [y], inputTypes: [type] }) =>
            `${y} = "stablehlo.${operation}"(${x}, ${x}) : (${type}, ${type}) -> ${type}`,
        },
      });
      return defineProgram(({ input, call, relu }) => ({ y: call(operator, [relu(input("x", [3]))])[0] }));
    };
    const kernel = await compileProgram(twice("add"), { backend: "xla", fallbackBackends: ["native"], backends });
    kernels.push(kernel);
    expect(kernel.backend).toBe("xla");
    expect((await kernel.run({ x: Float32Array.of(-1, 2, 3) }))["y"]?.data).toEqual(Float32Array.of(0, 4, 6));
    await expect(compileProgram(twice("multiply"), { backend: "xla", backends })).rejects.toThrow(/xla \(verify\)/);
    await expect(compileProgram(twice("nonsense"), { backend: "xla", backends })).rejects.toThrow(/xla \(/);
    await expect(compileProgram(twice("add"), { backend: "native", backends })).rejects.toThrow(
      /has no implementation for native: it has one for xla only/,
    );
  });

  it("compiles in a child process first, and says what the compiler says there", async () => {
    const careful = new ProgramBackends([xlaPrograms({ plugin })]);
    const width = 3 + (Date.now() % 1000); // a program that is not kept on disk
    const program = defineProgram(({ input, tanh }) => ({ y: tanh(input("x", [width])) }));
    for (const words of [/1 from the cache/, /1 from the cache/]) {
      const kernel = await compileProgram(program, { backend: "xla", backends: careful });
      kernels.push(kernel);
      expect(kernel.decision.selected?.evidence.join("; ")).toMatch(words);
    }
  });

  it("a compiler that ends its process is a reason like others", async () => {
    const operator = defineOperator({
      name: "topk",
      types: ([x]) => (x === undefined ? [] : [x]),
      reference: (inputs) => inputs,
      implementations: {
        native: (inputs) => inputs,
        // XLA looks for a second result of this call, and aborts.
        xla: ({ inputs: [x], results: [y], inputTypes: [type] }) =>
          `${y} = "stablehlo.custom_call"(${x}) {call_target_name = "TopK"} : (${type}) -> ${type}`,
      },
    });
    const program = defineProgram(({ input, call }) => ({ y: call(operator, [input("x", [4])])[0] }));
    const careful = new ProgramBackends([xlaPrograms({ plugin }), native]);
    const kernel = await compileProgram(program, { backend: "xla", fallbackBackends: ["native"], backends: careful });
    kernels.push(kernel);
    expect(kernel.backend).toBe("native");
    expect(kernel.decision.candidates[0]).toMatchObject({
      stage: "load",
      reason: expect.stringMatching(/ended with SIGABRT/) as string,
    });
  });

  it("carries states to native and back under load", async () => {
    const counter = defineProgram(({ input, state, update, add }) => {
      const total = state("total", [3]);
      const next = add(total, input("x", [3]));
      update(total, next);
      return { total: next };
    });
    const kernel = await compileProgram(counter, { backend: "xla", backends });
    kernels.push(kernel);
    const work: Promise<unknown>[] = [];
    for (let index = 0; index < 30; index += 1) {
      work.push(kernel.run({ x: Float32Array.of(1, 2, 3) }));
      if (index % 10 === 5) work.push(kernel.switchTo(index === 15 ? "xla" : "native"));
    }
    await Promise.all(work);
    expect(kernel.backend).toBe("native");
    expect((await kernel.readStates())["total"]?.data).toEqual(Float32Array.of(30, 60, 90));
  });

  it("serves where an earlier candidate is wrong, and is left where it is itself", async () => {
    const program = defineProgram(({ input, exp }) => ({ y: exp(input("x", [5])) }));
    const order = async (wrong: "native" | "xla"): Promise<string> => {
      const both =
        wrong === "native"
          ? [scriptedPrograms({ around: native, failing: "wrong" }), xla]
          : [native, scriptedPrograms({ around: xla, failing: "wrong" })];
      const [backend, fallback] = wrong === "native" ? ["native", "xla"] : ["xla", "native"];
      const kernel = await compileProgram(program, {
        backend: backend ?? "",
        fallbackBackends: [fallback ?? ""],
        backends: new ProgramBackends(both),
      });
      kernels.push(kernel);
      return kernel.backend;
    };
    expect([await order("native"), await order("xla")]).toEqual(["xla", "native"]);
  });
});
