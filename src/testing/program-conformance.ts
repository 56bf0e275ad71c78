/** The conformance suite of backends of programs. It does not depend on a test runner. */
import { strict as assert } from "node:assert";
import { type DataType, elementCount, type Tensor } from "../contract/tensor.ts";
import { InferyardError } from "../contract/errors.ts";
import { toLiteral } from "../engine/ir/literal.ts";
import {
  compileProgram,
  defineProgram,
  type Program,
  type ProgramBackend,
  ProgramBackends,
  type ProgramDecision,
  type ProgramDevice,
  type ProgramValue,
} from "../programs/index.ts";
import type { ConformanceCase } from "./conformance.ts";
import { operatorSamples, sampleChoices } from "./operator-samples.ts";

/** The backend of programs that the conformance suite tests. */
export interface ProgramBackendSubject {
  /** Creates a new instance of the backend. */
  create(): ProgramBackend;
  /** The level or device to test. Default: what the backend chooses. */
  readonly qualifier?: string;
  /** The types of elements that its buffers can have: all of them. */
  readonly dataTypes: readonly DataType[];
  /** Types of floats that operators are tested with. Default: "float32". */
  readonly floats?: readonly DataType[];
  /** Operators, by their names in the builder, that the backend refuses to compile. Default: none. */
  readonly refuses?: readonly string[];
  /** Samples of each operator and type, each of other shapes. Default: 3, of which the last has an empty dimension. */
  readonly samples?: number;
}

/**
 * All cases of the conformance suite for a backend of programs. Example: `for (const { name, run } of programBackendCases({ create: nativePrograms, dataTypes })) test(name, run)`.
 */
export function programBackendCases(subject: ProgramBackendSubject): ConformanceCase[] {
  return [...interfaceCases(subject), ...bufferCases(subject), ...programCases(subject), ...operatorCases(subject)];
}

const allTypes = [
  "float32",
  "float64",
  "float16",
  "bfloat16",
  "int8",
  "int16",
  "int32",
  "int64",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "bool",
  "string",
] as const;

async function withDevice(subject: ProgramBackendSubject, use: (device: ProgramDevice) => Promise<void>): Promise<void> {
  const device = await subject.create().open({ qualifier: subject.qualifier, weights: [], mode: "latency" });
  try {
    await use(device);
  } finally {
    await device.dispose();
  }
}

function interfaceCases(subject: ProgramBackendSubject): ConformanceCase[] {
  const { create, qualifier, dataTypes } = subject;
  return [
    {
      name: "a backend has a name, and its qualifiers are texts",
      async run() {
        const { name, qualifiers } = create();
        assert.match(name, /^[a-z][a-z0-9-]*$/);
        assert.ok(qualifiers.every((each) => /^[a-z][a-z0-9-]*$/.test(each)));
        assert.equal(create().name, name, "two instances have the same name");
      },
    },
    {
      name: "probe says what is there, with a reason",
      async run() {
        const found = await create().probe(qualifier);
        assert.ok(found.isAvailable, `the backend under test is there: ${found.reason}`);
        assert.notEqual(found.reason, "");
        assert.ok(found.devices.length > 0);
      },
    },
    {
      name: "a device states its target, memory, flags and types",
      run: () =>
        withDevice(subject, async (device) => {
          assert.ok(device.target.startsWith(create().name));
          for (const bytes of [device.maxMemory(), device.maxSharedMemory()])
            assert.ok(bytes === undefined || (Number.isFinite(bytes) && bytes > 0), "memory is a number above 0, or not known");
          assert.ok(device.flags().every((flag) => typeof flag === "string" && flag !== ""));
          const supported = allTypes.filter((type) => device.supportsDataType(type));
          assert.deepEqual(supported.toSorted(), [...dataTypes].toSorted());
        }),
    },
    {
      name: "a disposed device allocates nothing, and can be disposed again",
      async run() {
        const device = await create().open({ qualifier, weights: [], mode: "latency" });
        await device.dispose();
        await device.dispose();
        assert.throws(() => device.allocate({ dataType: "float32", shape: [1] }), { code: "DISPOSED" });
      },
    },
  ];
}

function bufferCases(subject: ProgramBackendSubject): ConformanceCase[] {
  const shapes = [[], [1], [3, 5], [0, 4], [2, 3, 17]] as const;
  return [
    ...subject.dataTypes.map((dataType) => ({
      name: `buffers of ${dataType} keep what is copied to them`,
      run: () =>
        withDevice(subject, async (device) => {
          for (const shape of shapes) {
            const tensor = counted(dataType, shape);
            const buffer = device.allocate({ dataType, shape });
            device.copyToDevice(tensor, buffer);
            assert.deepEqual(await device.copyFromDevice(buffer), tensor);
            device.free(buffer);
            device.free(buffer);
          }
        }),
    })),
    {
      name: "buffers refuse other types, other devices and use after free",
      run: () =>
        withDevice(subject, async (device) => {
          const type = { dataType: "float32", shape: [4] } as const;
          const buffer = device.allocate(type);
          assert.throws(() => device.copyToDevice(counted("float32", [5]), buffer), { code: "INPUT_INVALID" });
          device.copyToDevice(counted("float32", [4]), buffer);
          await withDevice(subject, async (other) => {
            await assert.rejects(async () => await other.copyFromDevice(buffer), { code: "INPUT_INVALID" });
          });
          device.free(buffer);
          await assert.rejects(async () => await device.copyFromDevice(buffer), { code: "DISPOSED" });
        }),
    },
    {
      name: "memory that buffers take is counted, and is free after them",
      run: () =>
        withDevice(subject, async (device) => {
          const before = device.bytes;
          const buffer = device.allocate({ dataType: "float32", shape: [1000] });
          device.copyToDevice(counted("float32", [1000]), buffer);
          assert.ok(device.bytes >= before + 4000);
          device.free(buffer);
          assert.equal(device.bytes, before);
          await device.synchronize();
        }),
    },
  ];
}

function programCases(subject: ProgramBackendSubject): ConformanceCase[] {
  const mlp = defineProgram(({ input, weight, matmul, silu, multiply, state, add, update }) => {
    const x = input("x", ["rows", 24]);
    const runs = state("runs", [1]);
    update(runs, add(runs, 1));
    return { y: multiply(silu(matmul(x, weight("gate", [24, 17]))), matmul(x, weight("up", [24, 17]))) };
  });
  const weights = { gate: counted("float32", [24, 17]), up: counted("float32", [24, 17]) };
  const compile = async (program: Program): Promise<Awaited<ReturnType<typeof compileProgram>>> =>
    await compileProgram(program, { backend: nameOf(subject), backends: new ProgramBackends([subject.create()]), weights });
  return [
    {
      name: "a program gives the same bits in each run, and leaves its inputs as they are",
      async run() {
        const kernel = await compile(mlp);
        try {
          const x = counted("float32", [5, 24]);
          const kept = structuredClone(x);
          const first = await kernel.run({ x });
          assert.deepEqual(await kernel.run({ x }), first);
          assert.deepEqual(x, kept);
        } finally {
          await kernel.dispose();
        }
      },
    },
    {
      name: "states stay between runs, and can be read and set",
      async run() {
        const kernel = await compile(mlp);
        try {
          const x = counted("float32", [2, 24]);
          for (let runs = 0; runs < 3; runs += 1) await kernel.run({ x });
          assert.deepEqual((await kernel.readStates())["runs"]?.data, Float32Array.of(3));
          await kernel.writeStates({ runs: Float32Array.of(10) });
          await kernel.run({ x });
          assert.deepEqual((await kernel.readStates())["runs"]?.data, Float32Array.of(11));
        } finally {
          await kernel.dispose();
        }
      },
    },
    {
      name: "runs of many sizes keep the memory bounded",
      async run() {
        const kernel = await compile(mlp);
        try {
          await kernel.run({ x: counted("float32", [3, 24]) });
          const before = kernel.memory.device;
          for (let runs = 0; runs < 20; runs += 1) await kernel.run({ x: counted("float32", [3, 24]) });
          assert.equal(kernel.memory.device, before);
        } finally {
          await kernel.dispose();
        }
      },
    },
  ];
}

function operatorCases(subject: ProgramBackendSubject): ConformanceCase[] {
  const { floats = ["float32"], refuses = [], samples = 3 } = subject;
  let backends: ProgramBackends | undefined; // one for all operators: what a backend has found out, it need not find out again
  return floats.flatMap((type) =>
    Object.keys(operatorSamples).map((operator) => ({
      name: `${operator} of ${type} agrees with the interpreter${refuses.includes(operator) ? ", or is refused" : ""}`,
      async run() {
        backends ??= new ProgramBackends([subject.create()]);
        for (let sample = 0; sample < samples; sample += 1) await checkSample(subject, backends, { operator, type, sample });
      },
    })),
  );
}

async function checkSample(
  subject: ProgramBackendSubject,
  backends: ProgramBackends,
  { operator, type, sample }: { readonly operator: string; readonly type: DataType; readonly sample: number },
): Promise<void> {
  const { refuses = [], samples = 3 } = subject;
  const program = defineProgram((build) => {
    const sampled = operatorSamples[operator]?.(build, sampleChoices(sample + 1, type, sample === samples - 1));
    const values: readonly ProgramValue[] = [sampled ?? []].flat();
    return Object.fromEntries(values.map((value, index) => [`y${index}`, value]));
  });
  const weights = Object.fromEntries(program.weights.map(({ name, dataType, shape }) => [name, counted(dataType, shape)]));
  try {
    const kernel = await compileProgram(program, { backend: nameOf(subject), backends, weights, mode: "throughput" });
    await kernel.dispose();
  } catch (error) {
    const decision = error instanceof InferyardError ? (error.data["decision"] as ProgramDecision | undefined) : undefined;
    const stage = decision?.candidates[0]?.stage;
    if (stage === "load" && refuses.includes(operator)) return;
    throw error;
  }
}

function nameOf({ create, qualifier }: ProgramBackendSubject): string {
  const { name } = create();
  return qualifier === undefined ? name : `${name}:${qualifier}`;
}

/** A tensor of small values that differ from one another, and that each type holds exactly. */
function counted(dataType: DataType, shape: readonly number[]): Tensor {
  const isBool = dataType === "bool";
  const values = Array.from({ length: elementCount(shape) }, (_, index) =>
    isBool ? index % 2 : ((index * 7) % 13) / (isInteger(dataType) ? 1 : 8),
  );
  return toLiteral(dataType, [...shape], values) as Tensor;
}

function isInteger(dataType: DataType): boolean {
  return dataType.includes("int");
}
