/** A suite that never fails is worthless: a correct backend passes it, and one broken in each way fails the case that says so. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Availability, Backend, Device, DeviceState, TensorModel, ModelFiles, RunOptions } from "../contract/backend.ts";
import { InferyardError, throwIfAborted } from "../contract/errors.ts";
import { type TensorInfo, type TensorMap, checkInputs } from "../contract/tensor.ts";
import { type ConformanceSubject, backendCases } from "./conformance.ts";

const cpu: Device = { type: "cpu", index: 0 };
const inputs: readonly TensorInfo[] = [{ name: "x", dataType: "float32", shape: [3] }];
const outputs: readonly TensorInfo[] = [
  { name: "scaled", dataType: "float32", shape: [3] },
  { name: "sum", dataType: "float32", shape: [1] },
];

/** A whole backend: a "model" is a JSON file with one number, which scales. */
function scaler(): Backend {
  return {
    name: "scaler",
    contractVersion: 1,
    async probe({ run }): Promise<Availability> {
      const milliseconds = run ? { milliseconds: 0.1 } : {};
      const devices = [
        { device: cpu, state: run ? "available" : ("present" as DeviceState), reason: "always there", ...milliseconds },
      ];
      return { present: true, library: { name: "scaler", version: "1.0.0" }, devices };
    },
    capabilities: ({ type }) => ({
      models: type === "cpu" ? [{ kind: "tensor", format: "onnx", architectures: "any", runsIn: "caller" }] : [],
      precisions: ["fp32"],
      options: [],
    }),
    async load({ path, format }, _device, { signal }) {
      throwIfAborted(signal);
      if (format !== "onnx") throw new InferyardError("MODEL_UNSUPPORTED", `no ${format}`);
      const factor = Number(await readFile(path, "utf8"));
      if (Number.isNaN(factor)) throw new InferyardError("MODEL_INVALID", `${path} is not a number`);
      return scalerModel(factor);
    },
  };
}

function scalerModel(factor: number): TensorModel {
  let disposed = false;
  let tail: Promise<unknown> = Promise.resolve();
  const compute = async (given: TensorMap, wanted: readonly string[], signal?: AbortSignal): Promise<TensorMap> => {
    await setImmediate();
    throwIfAborted(signal);
    const data = Float32Array.from(given["x"]!.data as Float32Array, (value) => value * factor);
    const sum = Float32Array.of(data.reduce((total, value) => total + value, 0));
    const all: TensorMap = {
      scaled: { dataType: "float32", shape: [3], data },
      sum: { dataType: "float32", shape: [1], data: sum },
    };
    return Object.fromEntries(Object.entries(all).filter(([name]) => wanted.includes(name)));
  };
  return {
    kind: "tensor",
    inputs,
    outputs,
    library: { name: "scaler", version: "1.0.0" },
    memory: { bytes: 4, measure: "allocated" },
    run(given, { outputs: wanted = ["scaled", "sum"], signal }: RunOptions = {}) {
      if (disposed) return Promise.reject(new InferyardError("DISPOSED", "disposed"));
      const run = Promise.resolve().then(() => {
        throwIfAborted(signal);
        checkInputs(inputs, given);
        const unknown = wanted.find((name) => !outputs.some((output) => output.name === name));
        if (unknown !== undefined) throw new InferyardError("INPUT_INVALID", `no output "${unknown}"`);
        return compute(given, wanted, signal);
      });
      tail = Promise.allSettled([tail, run]);
      return run;
    },
    evidence: async () => [`scaled by ${factor}`],
    async dispose() {
      disposed = true;
      await tail;
    },
  };
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-conformance-"));
  await writeFile(join(folder, "model.onnx"), "2");
  await writeFile(join(folder, "damaged.onnx"), "two");
});
afterAll(() => rm(folder, { recursive: true }));

function subject(create: () => Backend): ConformanceSubject {
  const files = (name: string): ModelFiles => ({ format: "onnx", path: join(folder, name), bytes: 1, config: {} });
  return {
    create,
    device: cpu,
    model: files("model.onnx"),
    damaged: files("damaged.onnx"),
    inputs: { x: { dataType: "float32", shape: [3], data: Float32Array.of(1, 2, 4) } },
    expected: {
      scaled: { dataType: "float32", shape: [3], data: Float32Array.of(2, 4, 8) },
      sum: { dataType: "float32", shape: [1], data: Float32Array.of(14) },
    },
  };
}

async function failures(create: () => Backend): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of backendCases(subject(create))) {
    await run().catch(() => failed.push(name));
  }
  return failed;
}

/** The correct backend with some members replaced. */
const backendWith = (over: (backend: Backend) => Partial<Backend>) => (): Backend => {
  const backend = scaler();
  return { ...backend, ...over(backend) };
};

/** The correct backend, whose models have some members replaced. */
const modelWith = (over: (model: TensorModel) => Partial<TensorModel>): (() => Backend) =>
  backendWith(({ load }) => ({
    load: async (...given) => {
      const model = await load(...given);
      return { ...model, ...over(model) };
    },
  }));

/** Models that count one call of the kernel "scale" for each run, and list it `times` times. */
const counting = (times: number): (() => Backend) =>
  modelWith((model) => {
    let calls = 0;
    return {
      run: (given, options) => {
        calls += 1;
        return model.run(given, options);
      },
      kernelCounts: async () => Array.from({ length: times }, () => ({ id: "scale", calls })),
    };
  });

const loading = (instead: Backend["load"]): (() => Backend) => backendWith(() => ({ load: instead }));

/** What `run` does when something is thrown. */
const catching = (
  instead: (error: InferyardError, given: TensorMap, model: TensorModel) => Promise<TensorMap>,
): (() => Backend) =>
  modelWith((model) => ({
    run: (given, options) => model.run(given, options).catch((error: InferyardError) => instead(error, given, model)),
  }));

const untyped = (): never => {
  throw new TypeError("cannot read properties of undefined");
};

/** Hides one kind of wrong input: the run goes on with what is right. */
const accepting = (problem: RegExp): (() => Backend) =>
  catching(async (error, _given, model) => {
    if (!problem.test(error.message)) throw error;
    return model.run({ x: { dataType: "float32", shape: [3], data: Float32Array.of(1, 2, 4) } });
  });

const broken: readonly (readonly [fault: string, create: () => Backend, failing: string])[] = [
  ["has a name no target could hold", backendWith(() => ({ name: "My Engine" })), "declares the contract"],
  ["follows another contract", backendWith(() => ({ contractVersion: 2 as never })), "declares the contract"],
  ["throws where nothing is found", backendWith(() => ({ probe: untyped })), "never throws for absence"],
  [
    "gives no reason for its absence",
    backendWith(() => ({ probe: async () => ({ present: false, reason: "" }) })),
    "never throws for absence",
  ],
  [
    "does not run when asked to",
    backendWith(({ probe }) => ({ probe: (options) => probe({ ...options, run: false }) })),
    "says how long",
  ],
  [
    "has capabilities that are not plain data",
    backendWith(({ capabilities }) => ({ capabilities: (device) => ({ ...capabilities(device), extra: () => 1 }) })),
    "plain data",
  ],
  [
    "claims devices it does not know",
    backendWith(({ capabilities }) => ({ capabilities: () => capabilities(cpu) })),
    "runs no models",
  ],
  [
    "names an entry that makes something else",
    backendWith(() => ({
      entry: { module: new URL("scripted-backend.ts", import.meta.url).href, export: "scriptedBackend", options: "x" },
    })),
    "makes an equal backend",
  ],
  ["describes no inputs", modelWith(() => ({ inputs: [] })), "describes the model"],
  ["reports no memory", modelWith(() => ({ memory: { bytes: 0, measure: "weights" } })), "describes the model"],
  ["loads a damaged file", loading(async () => scalerModel(2)), "a damaged file is refused"],
  ["throws untyped errors at a damaged file", loading(untyped), "a damaged file is refused"],
  [
    "stops the fallback at a damaged file",
    backendWith(({ load }) => ({
      load: (...given) =>
        load(...given).catch((error: InferyardError) => {
          throw error.code === "MODEL_INVALID" ? new InferyardError("RUN_FAILED", "damaged") : error;
        }),
    })),
    "a damaged file is refused",
  ],
  [
    "loads any format",
    backendWith(({ load }) => ({ load: (model, ...rest) => load({ ...model, format: "onnx" }, ...rest) })),
    "does not list is refused",
  ],
  [
    "does not look at the signal of a load",
    backendWith(({ load }) => ({ load: (model, device) => load(model, device, {}) })),
    "cancelled before it began is ABORTED",
  ],
  ["computes something else", loading(async () => scalerModel(3)), "gives the known answer"],
  [
    "gives another data type",
    modelWith((model) => ({
      run: async (...given) =>
        Object.fromEntries(
          Object.entries(await model.run(...given)).map(([name, { shape, data }]) => [
            name,
            { dataType: "float64" as const, shape, data: Float64Array.from(data as Float32Array) },
          ]),
        ),
    })),
    "gives the known answer",
  ],
  [
    "writes into its inputs",
    modelWith((model) => ({
      run: async (given, options) => {
        const results = await model.run(given, options);
        (given["x"]!.data as Float32Array).fill(0);
        return results;
      },
    })),
    "inputs are left as they were",
  ],
  [
    "gives all outputs whatever was asked for",
    modelWith((model) => ({ run: (given, options = {}) => model.run(given, options.signal ? { signal: options.signal } : {}) })),
    "only the outputs asked for",
  ],
  [
    "gives the same buffer at every run",
    modelWith((model) => {
      const scaled = { dataType: "float32", shape: [3], data: new Float32Array(3) } as const;
      return {
        run: async (given, options) => {
          const results = await model.run(given, options);
          if (results["scaled"] === undefined) return results;
          scaled.data.set(results["scaled"].data as Float32Array);
          return { ...results, scaled };
        },
      };
    }),
    "outputs belong to the caller",
  ],
  [
    "mixes up calls that overlap",
    modelWith((model) => {
      let latest: TensorMap = {};
      return {
        run: async (given, options) => {
          await model.run(given, options);
          latest = given;
          await setImmediate();
          return model.run(latest, options);
        },
      };
    }),
    "calls that overlap",
  ],
  ["ignores unknown inputs", accepting(/unknown input/), "an input that is unknown"],
  ["goes on without an input", accepting(/missing input/), "an input that is missing"],
  ["takes another type", accepting(/is float64/), "an input that is of another type"],
  ["takes another rank", accepting(/has shape/), "an input that is of another rank"],
  ["takes data that does not fill its shape", accepting(/at axis 0|needs 4/), "an input that is not filling its shape"],
  ["throws untyped errors at wrong inputs", catching(untyped), "an input that is missing"],
  [
    "does not say which input is wrong",
    catching(async (error) => {
      throw new InferyardError(error.code, "bad input");
    }),
    "an input that is missing",
  ],
  [
    "is of no use after a wrong input",
    modelWith((model) => {
      let stuck = false;
      return {
        run: async (given, options) => {
          if (stuck) return untyped();
          stuck = given["x"] === undefined;
          return model.run(given, options);
        },
      };
    }),
    "an input that is missing",
  ],
  [
    "does not look at the signal of a run",
    modelWith((model) => ({ run: (given, { outputs: wanted } = {}) => model.run(given, wanted ? { outputs: wanted } : {}) })),
    "a run that was cancelled before it began",
  ],
  [
    "throws the signal's own reason",
    modelWith((model) => ({
      run: (given, options = {}) =>
        model.run(given, options).catch((error: unknown) => {
          throw options.signal?.aborted === true ? options.signal.reason : error;
        }),
    })),
    "cancelled while it waits or works",
  ],
  ["cannot give evidence", modelWith(() => ({ evidence: untyped })), "evidence is"],
  ["gives evidence that is not words", modelWith(() => ({ evidence: async () => [{ nodes: 3 } as never] })), "evidence is"],
  ["counts no kernel", modelWith(() => ({ kernelCounts: async () => [] })), "kernels that are counted"],
  [
    "counts kernels that do not run",
    modelWith(() => ({ kernelCounts: async () => [{ id: "a", calls: 1 }] })),
    "kernels that are counted",
  ],
  ["lists a kernel twice", counting(2), "kernels that are counted"],
  ["goes on after disposal", modelWith(() => ({ dispose: async () => {} })), "use after disposal"],
  [
    "cannot be disposed twice",
    modelWith((model) => {
      let disposed = false;
      return {
        dispose: async () => {
          if (disposed) untyped();
          disposed = true;
          await model.dispose();
        },
      };
    }),
    "use after disposal",
  ],
  [
    "takes the model away under a run",
    modelWith((model) => {
      let gone = false;
      return {
        dispose: async () => {
          gone = true;
          await model.dispose();
        },
        run: async (given, options) => {
          const results = await model.run(given, options);
          return gone ? untyped() : results;
        },
      };
    }),
    "disposal waits",
  ],
  [
    "has one model for all",
    (() => {
      let shared: Promise<TensorModel> | undefined;
      return backendWith(({ load }) => ({
        load: async (model, device, options) => {
          const own = await load(model, device, options);
          shared ??= Promise.resolve(own);
          return {
            ...own,
            run: async (...given) => (await shared!).run(...given),
            dispose: async () => (await shared!).dispose(),
          };
        },
      }));
    })(),
    "two loaded models",
  ],
];

describe("the conformance suite", () => {
  it("passes a correct backend", async () => expect(await failures(scaler)).toEqual([]));

  it("passes a backend that counts its kernels", async () => {
    expect(await failures(counting(1))).toEqual([]);
  });

  it("passes a backend with an entry that makes an equal one", async () => {
    const module = new URL("scripted-backend.ts", import.meta.url).href;
    const entry = { module, export: "scriptedBackend", options: "scaler" };
    expect(await failures(backendWith(() => ({ entry })))).toEqual([]);
  });

  it.each(broken)("fails a backend that %s", async (_fault, create, failing) => {
    expect((await failures(create)).filter((name) => name.includes(failing))).not.toEqual([]);
  });

  it("has no case that only a correct backend has run: every one fails for some fault above", async () => {
    const all = backendCases(subject(scaler)).map(({ name }) => name);
    expect(all.filter((name) => !broken.some(([, , failing]) => name.includes(failing)))).toEqual([]);
  });
});
