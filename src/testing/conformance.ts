/** The conformance suite checks that a backend keeps the contract in `backend.ts`. It does not depend on a test runner. */
import { strict as assert } from "node:assert";
import type { Backend, Device, TensorModel, MachineFacts, ModelFiles, ModelFormat } from "../contract/backend.ts";
import { errorKinds } from "../contract/errors.ts";
import { type Tensor, type TensorMap, zeros } from "../contract/tensor.ts";
import { checkedCounts, checkGrowth } from "./kernel-counts.ts";
import { getErrorCode, hasErrorCode, refused } from "./refusals.ts";
import { scriptedMachine } from "./scripted-backend.ts";
import { tolerances, maxDifference } from "./tolerances.ts";

/** The backend that the conformance suite tests, with a model that it can run. */
export interface ConformanceSubject {
  /** Creates a new instance of the backend. */
  create(): Backend;
  /** The device to test. */
  readonly device: Device;
  /** A model the backend can run. */
  readonly model: ModelFiles;
  /** Inputs of that model. At least one input must have elements. */
  readonly inputs: TensorMap;
  /** Other inputs, for concurrent calls. Default: the same tensors with their elements in reverse order. */
  readonly otherInputs?: TensorMap;
  /** The outputs of the model for `inputs`, computed by another implementation. */
  readonly expected: TensorMap;
  /** Largest absolute difference from `expected`. Default: tolerances.hiddenStateFp32. */
  readonly tolerance?: number;
  /** A damaged file in a format of the backend. */
  readonly damaged: ModelFiles;
  /** Facts about the machine for probes. Default: a machine without accelerators. */
  readonly machine?: MachineFacts;
}

/**
 * One case of the conformance suite of backends: pass `name` and `run` to a test runner. `run` rejects if the backend breaks a
 * promise of the contract.
 */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * All cases of the conformance suite for a backend. Example: `for (const { name, run } of backendCases(subject)) test(name,
 * run)`.
 */
export function backendCases(subject: ConformanceSubject): ConformanceCase[] {
  return [...probeCases(subject), ...loadCases(subject), ...runCases(subject), ...endCases(subject)];
}

function probeCases({ create, device, machine = scriptedMachine() }: ConformanceSubject): ConformanceCase[] {
  return [
    {
      name: "creating a backend touches nothing and declares the contract",
      async run() {
        const backend = create();
        assert.match(backend.name, /^[a-z][a-z0-9-]*$/);
        assert.equal(backend.contractVersion, 1);
        assert.equal(create().name, backend.name, "two instances have the same name");
      },
    },
    {
      name: "probe answers without running anything, and never throws for absence",
      async run() {
        const barren: MachineFacts = { ...machine, accelerators: [], absent: {} };
        const availability = await create().probe({ machine: barren, run: false });
        if (!availability.present) return assert.notEqual(availability.reason, "", "absence has a reason");
        assert.notEqual(availability.library.version, "");
        for (const { state, reason } of availability.devices) {
          assert.ok(reason !== "", "each device has a reason");
          assert.ok(state !== "available", "a device on which nothing ran is present, not available");
        }
      },
    },
    {
      name: "probe runs a tiny computation when asked, and says how long it took",
      async run() {
        const availability = await create().probe({ machine, run: true, device });
        assert.ok(availability.present, "the backend under test is present");
        const report = availability.devices.find(
          (entry) => entry.device.type === device.type && entry.device.index === device.index,
        );
        assert.equal(report?.state, "available", `the device under test ran the tiny graph: ${report?.reason}`);
        assert.ok((report.milliseconds ?? -1) >= 0, "a run has a time");
      },
    },
    {
      name: "capabilities are plain data, equal at each call",
      async run() {
        const backend = create();
        assert.deepEqual(backend.capabilities(device), backend.capabilities(device));
        assert.deepEqual(structuredClone(backend.capabilities(device)), backend.capabilities(device));
      },
    },
    {
      name: "a device the backend does not know runs no models",
      async run() {
        assert.deepEqual(create().capabilities({ type: "no-such-device", index: 0 }).models, []);
      },
    },
    {
      name: "the entry, where there is one, makes an equal backend",
      async run() {
        const { entry, name } = create();
        if (entry === undefined) return;
        const module = (await import(entry.module)) as Record<string, (options?: unknown) => Backend>;
        assert.equal(module[entry.export]?.(structuredClone(entry.options)).name, name);
      },
    },
  ];
}

function loadCases(subject: ConformanceSubject): ConformanceCase[] {
  const { create, device, model, damaged } = subject;
  return [
    {
      name: "load describes the model and its memory",
      run: () =>
        withModel(subject, async (loaded) => {
          assert.equal(loaded.kind, "tensor");
          assert.deepEqual(loaded.inputs.map(({ name }) => name).toSorted(), Object.keys(subject.inputs).toSorted());
          assert.ok(loaded.outputs.length > 0);
          assert.ok(loaded.memory.bytes > 0);
          assert.notEqual(loaded.library.version, "");
        }),
    },
    {
      name: "a damaged file is refused by a typed error that lets the next candidate be tried",
      async run() {
        await refused(
          () => create().load(damaged, device, {}),
          (code) => errorKinds[code].tryNext,
        );
      },
    },
    {
      name: "a format the backend does not list is refused the same way",
      async run() {
        await refused(
          () => create().load({ ...model, ...foreignKind(subject) }, device, {}),
          (code) => errorKinds[code].tryNext,
        );
      },
    },
    {
      name: "a load that was cancelled before it began is ABORTED",
      async run() {
        await refused(() => create().load(model, device, { signal: AbortSignal.abort() }), hasErrorCode("ABORTED"));
      },
    },
  ];
}

function runCases(subject: ConformanceSubject): ConformanceCase[] {
  const { expected, tolerance = tolerances.hiddenStateFp32 } = subject;
  return [
    {
      name: "run gives the known answer",
      run: () => withModel(subject, async (loaded, { inputs }) => close(await loaded.run(inputs), expected, tolerance)),
    },
    {
      name: "inputs are left as they were",
      run: () =>
        withModel(subject, async (loaded, { inputs }) => {
          const before = structuredClone(inputs);
          await loaded.run(inputs);
          assert.deepEqual(inputs, before);
        }),
    },
    {
      name: "only the outputs asked for come back",
      run: () =>
        withModel(subject, async (loaded, { inputs }) => {
          const [wanted = ""] = Object.keys(expected);
          assert.deepEqual(Object.keys(await loaded.run(inputs, { outputs: [wanted] })), [wanted]);
          await refused(() => loaded.run(inputs, { outputs: ["no-such-output"] }), hasErrorCode("INPUT_INVALID"));
        }),
    },
    {
      name: "outputs belong to the caller: the next run leaves them as they were",
      run: () =>
        withModel(subject, async (loaded, { inputs, otherInputs }) => {
          const first = await loaded.run(inputs);
          const before = structuredClone(first);
          await loaded.run(otherInputs);
          assert.deepEqual(first, before);
        }),
    },
    {
      name: "calls that overlap give what serial calls give",
      run: () =>
        withModel(subject, async (loaded, { inputs, otherInputs }) => {
          const serial = [structuredClone(await loaded.run(inputs)), structuredClone(await loaded.run(otherInputs))];
          const calls = [inputs, otherInputs, inputs, otherInputs].map((given) => loaded.run(structuredClone(given)));
          const overlapping = await Promise.all(calls);
          for (const [index, result] of overlapping.entries()) close(result, serial[index % 2] ?? {}, tolerance);
        }),
    },
    ...wrongInputs(subject.inputs).map(({ fault, name, wrong }) => ({
      name: `an input that is ${fault} is refused by its name, and the next run works`,
      run: () =>
        withModel(subject, async (loaded, { inputs }) => {
          const error = await refused(() => loaded.run(wrong(inputs)), hasErrorCode("INPUT_INVALID"));
          assert.ok(error.message.includes(name), `the message names "${name}": ${error.message}`);
          close(await loaded.run(inputs), expected, tolerance);
        }),
    })),
    {
      name: "a run that was cancelled before it began is ABORTED, and the next one works",
      run: () =>
        withModel(subject, async (loaded, { inputs }) => {
          await refused(() => loaded.run(inputs, { signal: AbortSignal.abort() }), hasErrorCode("ABORTED"));
          close(await loaded.run(inputs), expected, tolerance);
        }),
    },
    {
      name: "a run that is cancelled while it waits or works ends, and the next one works",
      run: () =>
        withModel(subject, async (loaded, { inputs }) => {
          const controller = new AbortController();
          const runs = [loaded.run(structuredClone(inputs)), loaded.run(inputs, { signal: controller.signal })];
          controller.abort();
          const settled = await Promise.allSettled(runs);
          assert.equal(settled[0]?.status, "fulfilled");
          if (settled[1]?.status === "rejected") assert.equal(getErrorCode(settled[1].reason), "ABORTED");
          close(await loaded.run(inputs), expected, tolerance);
        }),
    },
    {
      name: "evidence is the engine's own words after a run",
      run: () =>
        withModel(subject, async (loaded, { inputs }) => {
          await loaded.run(inputs);
          const evidence = await loaded.evidence();
          for (const sentence of evidence) assert.equal(typeof sentence, "string");
        }),
    },
    {
      name: "kernels that are counted are counted once for each call, and counts never fall",
      run: () =>
        withModel(subject, async (loaded, { inputs }) => {
          if (loaded.kernelCounts === undefined) return; // the engine does not know its kernels
          await loaded.run(inputs);
          const first = checkedCounts(await loaded.kernelCounts());
          await loaded.run(inputs);
          const second = checkedCounts(await loaded.kernelCounts());
          await loaded.run(inputs);
          checkGrowth([first, second, checkedCounts(await loaded.kernelCounts())]);
        }),
    },
  ];
}

/** Inputs with one fault each. */
function wrongInputs(inputs: TensorMap): { fault: string; name: string; wrong: (inputs: TensorMap) => TensorMap }[] {
  const [name, { dataType, shape }] = Object.entries(inputs).find(([, tensor]) => tensor.shape.length > 0) ?? [
    "",
    zeros("float32", [1]),
  ];
  const instead =
    (tensor: Tensor) =>
    (given: TensorMap): TensorMap => ({ ...given, [name]: tensor });
  const otherType = dataType === "float64" ? "float32" : "float64";
  const without = (given: TensorMap): TensorMap => Object.fromEntries(Object.entries(given).filter(([other]) => other !== name));
  return [
    { fault: "unknown", name: "no-such-input", wrong: (given) => ({ ...given, "no-such-input": zeros("float32", [1]) }) },
    { fault: "missing", name, wrong: without },
    { fault: "of another type", name, wrong: instead(zeros(otherType, shape)) },
    { fault: "of another rank", name, wrong: instead(zeros(dataType, [...shape, 1])) },
    { fault: "not filling its shape", name, wrong: instead({ ...zeros(dataType, []), shape: shape.map((size) => size + 1) }) },
  ];
}

function reversed(inputs: TensorMap): TensorMap {
  const entries = Object.entries(inputs).map(([name, tensor]): [string, Tensor] => [name, reversedTensor(tensor)]);
  return Object.fromEntries(entries);
}

function reversedTensor({ dataType, shape, data }: Tensor): Tensor {
  return { dataType, shape, data: Array.isArray(data) ? data.toReversed() : structuredClone(data as Float32Array).reverse() };
}

function endCases(subject: ConformanceSubject): ConformanceCase[] {
  return [
    {
      name: "use after disposal is DISPOSED, and disposing twice is harmless",
      async run() {
        const loaded = await subject.create().load(subject.model, subject.device, {});
        await loaded.dispose();
        await loaded.dispose();
        await refused(() => loaded.run(structuredClone(subject.inputs)), hasErrorCode("DISPOSED"));
      },
    },
    {
      name: "disposal waits for a run under way",
      async run() {
        const loaded = await subject.create().load(subject.model, subject.device, {});
        const running = loaded.run(structuredClone(subject.inputs));
        const disposal = loaded.dispose();
        close(await running, subject.expected, subject.tolerance ?? tolerances.hiddenStateFp32);
        await disposal;
      },
    },
    {
      name: "two loaded models of the same files are independent",
      async run() {
        const { create, model, device, inputs, expected, tolerance = tolerances.hiddenStateFp32 } = subject;
        const backend = create();
        const [one, other] = await Promise.all([backend.load(model, device, {}), backend.load(model, device, {})]);
        await one.dispose();
        close(await other.run(structuredClone(inputs)), expected, tolerance);
        await other.dispose();
        await backend.dispose?.();
      },
    },
  ];
}

/** Loads the model for one case. Each case gets its own copy of the inputs, so that a backend which modifies them does not affect other cases. */
async function withModel(
  subject: ConformanceSubject,
  check: (loaded: TensorModel, given: { readonly inputs: TensorMap; readonly otherInputs: TensorMap }) => Promise<void>,
): Promise<void> {
  const backend = subject.create();
  const inputs = structuredClone(subject.inputs);
  const otherInputs = structuredClone(subject.otherInputs ?? reversed(subject.inputs));
  const loaded = await backend.load(subject.model, subject.device, {});
  try {
    await check(loaded, { inputs, otherInputs });
  } finally {
    await loaded.dispose();
    await backend.dispose?.();
  }
}

function close(actual: TensorMap, expected: TensorMap, tolerance: number): void {
  for (const [name, tensor] of Object.entries(expected)) {
    const given = actual[name];
    assert.ok(given, `output "${name}" is there`);
    assert.equal(given.dataType, tensor.dataType);
    const difference = maxDifference(given, tensor);
    assert.ok(difference <= tolerance, `output "${name}" is off by ${difference}, and ${tolerance} is allowed`);
  }
}

/** A format that the backend does not list, or one of which it does not list the architecture. */
function foreignKind({ create, device }: ConformanceSubject): Pick<ModelFiles, "format" | "architecture"> {
  const { models } = create().capabilities(device);
  const lists = (format: ModelFormat, architecture?: string): boolean =>
    models.some((each) => each.format === format && (architecture === undefined || each.architectures === architecture));
  const all = ["gguf", "safetensors", "onnx"] as const;
  const foreign = all.find((format) => !lists(format)) ?? all.find((format) => !lists(format, "any"));
  assert.ok(foreign, "no backend runs everything");
  return { format: foreign, architecture: "NoSuchModel" };
}
