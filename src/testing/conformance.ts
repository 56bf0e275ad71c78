/** The conformance suite: what the contract in `backend.ts` promises, checked on any backend. Free of any test runner. */
import { strict as assert } from "node:assert";
import type { Backend, Device, LoadedModel, MachineFacts, ModelFiles } from "../backend.ts";
import { type ErrorCode, InferyardError, errorKinds } from "../errors.ts";
import { type Tensor, type TensorMap, zeros } from "../tensor.ts";
import { scriptedMachine } from "./scripted-backend.ts";
import { tolerances, worstDifference } from "./tolerances.ts";

/** What the suite needs to know of the backend under test. */
export interface ConformanceSubject {
  /** Makes a new instance. */
  create(): Backend;
  readonly device: Device;
  /** A model the backend can run. */
  readonly model: ModelFiles;
  /** Inputs of that model; at least one input must not be empty. */
  readonly inputs: TensorMap;
  /** Its outputs for those inputs, from a source other than this backend. */
  readonly expected: TensorMap;
  /** Largest difference from `expected`. Default: tolerances.hiddenStateFp32. */
  readonly tolerance?: number;
  /** A file of the right kind that is damaged. */
  readonly damaged: ModelFiles;
  /** Facts for probes. Default: a plain machine without accelerators. */
  readonly machine?: MachineFacts;
}

/** One test: give `name` and `run` to your runner. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/** All cases. `for (const { name, run } of backendCases(subject)) test(name, run)` */
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
        for (const { available, reason } of availability.devices) assert.ok(available || reason !== "", "absence has a reason");
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
        assert.ok(report?.available, `the device under test is available: ${report?.reason}`);
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
      name: "a device the backend does not know has no formats",
      async run() {
        assert.deepEqual(create().capabilities({ type: "no-such-device", index: 0 }).formats, {});
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
      run: () =>
        refused(
          () => create().load(damaged, device, {}),
          (code) => errorKinds[code].tryNext,
        ),
    },
    {
      name: "a format the backend does not list is refused the same way",
      run: () =>
        refused(
          () => create().load({ ...model, format: foreignFormat(subject) }, device, {}),
          (code) => errorKinds[code].tryNext,
        ),
    },
    {
      name: "a load that was cancelled before it began is ABORTED",
      run: () => refused(() => create().load(model, device, { signal: AbortSignal.abort() }), is("ABORTED")),
    },
  ];
}

function runCases(subject: ConformanceSubject): ConformanceCase[] {
  const { inputs, expected, tolerance = tolerances.hiddenStateFp32 } = subject;
  const [[firstName, firstTensor] = ["", zeros("float32", [])]] = Object.entries(inputs);
  return [
    {
      name: "run gives the known answer",
      run: () => withModel(subject, async (loaded) => close(await loaded.run(inputs), expected, tolerance)),
    },
    {
      name: "inputs are left as they were",
      run: () =>
        withModel(subject, async (loaded) => {
          const before = structuredClone(inputs);
          await loaded.run(inputs);
          assert.deepEqual(inputs, before);
        }),
    },
    {
      name: "only the outputs asked for come back",
      run: () =>
        withModel(subject, async (loaded) => {
          const [wanted = ""] = Object.keys(expected);
          assert.deepEqual(Object.keys(await loaded.run(inputs, { outputs: [wanted] })), [wanted]);
          await refused(() => loaded.run(inputs, { outputs: ["no-such-output"] }), is("INPUT_INVALID"));
        }),
    },
    {
      name: "calls that overlap give what serial calls give",
      run: () =>
        withModel(subject, async (loaded) => {
          const results = await Promise.all(Array.from({ length: 4 }, () => loaded.run(inputs)));
          for (const result of results) close(result, expected, tolerance);
        }),
    },
    {
      name: "wrong inputs are refused by name: unknown, missing, of another type, of another rank, not filling their shape",
      run: () =>
        withModel(subject, async (loaded) => {
          const wrong: Record<string, Tensor> = { ...inputs };
          const otherType = firstTensor.dataType === "float64" ? "float32" : "float64";
          await refused(() => loaded.run({ ...inputs, "no-such-input": zeros("float32", [1]) }), is("INPUT_INVALID"));
          delete wrong[firstName];
          await refused(() => loaded.run(wrong), is("INPUT_INVALID"));
          await refused(() => loaded.run({ ...inputs, [firstName]: zeros(otherType, firstTensor.shape) }), is("INPUT_INVALID"));
          await refused(
            () => loaded.run({ ...inputs, [firstName]: zeros(firstTensor.dataType, [...firstTensor.shape, 1]) }),
            is("INPUT_INVALID"),
          );
          const short = { ...zeros(firstTensor.dataType, []), shape: firstTensor.shape.map((size) => size + 1) };
          await refused(() => loaded.run({ ...inputs, [firstName]: short }), is("INPUT_INVALID"));
          close(await loaded.run(inputs), expected, tolerance);
        }),
    },
    {
      name: "a run that was cancelled before it began is ABORTED, and the next one works",
      run: () =>
        withModel(subject, async (loaded) => {
          await refused(() => loaded.run(inputs, { signal: AbortSignal.abort() }), is("ABORTED"));
          close(await loaded.run(inputs), expected, tolerance);
        }),
    },
    {
      name: "a run that is cancelled while it waits or works ends, and the next one works",
      run: () =>
        withModel(subject, async (loaded) => {
          const controller = new AbortController();
          const runs = [loaded.run(inputs), loaded.run(inputs, { signal: controller.signal })];
          controller.abort();
          const settled = await Promise.allSettled(runs);
          assert.equal(settled[0]?.status, "fulfilled");
          if (settled[1]?.status === "rejected") assert.equal(codeOf(settled[1].reason), "ABORTED");
          close(await loaded.run(inputs), expected, tolerance);
        }),
    },
    {
      name: "evidence is the engine's own words after a run",
      run: () =>
        withModel(subject, async (loaded) => {
          await loaded.run(inputs);
          const evidence = await loaded.evidence();
          for (const sentence of evidence) assert.equal(typeof sentence, "string");
        }),
    },
  ];
}

function endCases(subject: ConformanceSubject): ConformanceCase[] {
  return [
    {
      name: "use after disposal is DISPOSED, and disposing twice is harmless",
      async run() {
        const loaded = await subject.create().load(subject.model, subject.device, {});
        await loaded.dispose();
        await loaded.dispose();
        await refused(() => loaded.run(subject.inputs), is("DISPOSED"));
      },
    },
    {
      name: "disposal waits for a run under way",
      async run() {
        const loaded = await subject.create().load(subject.model, subject.device, {});
        const running = loaded.run(subject.inputs);
        const disposal = loaded.dispose();
        close(await running, subject.expected, subject.tolerance ?? tolerances.hiddenStateFp32);
        await disposal;
      },
    },
    {
      name: "two copies of a model do not disturb each other",
      async run() {
        const { create, model, device, inputs, expected, tolerance = tolerances.hiddenStateFp32 } = subject;
        const backend = create();
        const [one, other] = await Promise.all([backend.load(model, device, {}), backend.load(model, device, {})]);
        await one.dispose();
        close(await other.run(inputs), expected, tolerance);
        await other.dispose();
        await backend.dispose?.();
      },
    },
  ];
}

async function withModel(subject: ConformanceSubject, check: (loaded: LoadedModel) => Promise<void>): Promise<void> {
  const backend = subject.create();
  const loaded = await backend.load(subject.model, subject.device, {});
  try {
    await check(loaded);
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
    const difference = worstDifference(given, tensor);
    assert.ok(difference <= tolerance, `output "${name}" is off by ${difference}, and ${tolerance} is allowed`);
  }
}

async function refused(call: () => Promise<unknown>, allowed: (code: ErrorCode) => boolean): Promise<void> {
  const thrown = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  const code = codeOf(thrown);
  assert.ok(code !== undefined && allowed(code), `refused by a typed error, not by ${String(thrown)}`);
}

function codeOf(thrown: unknown): ErrorCode | undefined {
  return thrown instanceof InferyardError ? thrown.code : undefined;
}

function is(wanted: ErrorCode): (code: ErrorCode) => boolean {
  return (code) => code === wanted;
}

function foreignFormat({ create, device }: ConformanceSubject): ModelFiles["format"] {
  const { formats } = create().capabilities(device);
  const foreign = (["gguf", "safetensors", "onnx"] as const).find((format) => formats[format] === undefined);
  assert.ok(foreign, "no backend runs every format");
  return foreign;
}
