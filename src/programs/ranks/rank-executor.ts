/** Compiles and runs one rank's parts of graphs on a device of the rank, with the exchanges between their steps. */
import { at, required } from "../../contract/checked.ts";
import { type DataType, elementBytes, elementCount, type Tensor, type TensorMap, viewBytes } from "../../contract/tensor.ts";
import { TraceBudget } from "../../engine/build/trace-budget.ts";
import type { Graph, Value } from "../../engine/ir/graph.ts";
import { isBigIntType } from "../../engine/ir/element-types.ts";
import { type Literal, toLiteral, toNumbers, withLazyStorage, zeroLiteral } from "../../engine/ir/literal.ts";
import type { DeviceBuffer, DeviceGraph, ProgramDevice } from "../interface/program-backend.ts";
import { contribute, type RankGroup } from "./rank-group.ts";
import type { Collective, RankPart } from "./rank-part.ts";
import { joinShards, localShape } from "./sharding.ts";

/** Opens a device of this rank with these weights. */
export type OpenRankDevice = (weights: readonly Literal[]) => Promise<ProgramDevice>;

/** A device with the weights that it was opened with. */
interface OpenDevice {
  readonly device: ProgramDevice;
  readonly keys: ReadonlySet<string>;
}

/** A compiled part of a graph. */
export interface CompiledPart {
  readonly part: RankPart;
  readonly device: ProgramDevice;
  readonly graphs: readonly (DeviceGraph | undefined)[];
}

/** One rank's devices and programs. Methods are called one at a time, on all ranks in the same order. */
export class RankExecutor {
  readonly #group: RankGroup;
  readonly #open: OpenRankDevice;
  readonly #devices: OpenDevice[] = [];
  readonly #weights = new Map<string, Literal>();

  constructor(group: RankGroup, open: OpenRankDevice) {
    this.#group = group;
    this.#open = open;
  }

  /** All devices that are open: one, unless graphs for later sizes needed other parts of the weights. */
  get devices(): readonly ProgramDevice[] {
    return this.#devices.map(({ device }) => device);
  }

  /** Opens a device without weights on each rank, so that its facts can be asked. Throws the error of the first rank that has none, on all ranks. */
  async open(): Promise<ProgramDevice> {
    let opened: ProgramDevice | undefined;
    const contribution = await contribute(async () => {
      opened = await this.#openWith(new Map());
    });
    await this.#group.exchange("open", contribution);
    return required(opened, "the device");
  }

  /** Compiles this rank's part on all ranks. Throws the error of the first rank on which it fails, on all ranks. `tag`: equal on all ranks for the same graph. */
  async compile(part: RankPart, tag: string, budget: TraceBudget = budgetFor(part)): Promise<CompiledPart> {
    let compiled: CompiledPart | undefined;
    const contribution = await contribute(async () => {
      compiled = await this.#compile(part, budget);
    });
    await this.#group.exchange(`compile ${tag}`, contribution);
    return required(compiled, "the compiled part");
  }

  /** Runs a compiled part on all ranks. `inputs` by the names of the graph's inputs, and whole. Returns the outputs, whole, on each rank. */
  async run({ part, device, graphs }: CompiledPart, tag: string, inputs: TensorMap): Promise<TensorMap> {
    const values = new RankValues(device);
    try {
      let waiting: (() => Promise<void> | void)[] = [
        () => {
          for (const { name, result } of part.inputs) values.setTensor(result, required(inputs[name], `the input "${name}"`));
        },
      ];
      for (const [index, { graph, collectives }] of part.steps.entries()) {
        const program = graphs[index];
        if (program !== undefined) waiting.push(async () => await values.run(program, required(graph, "the graph")));
        const isLast = index === part.steps.length - 1;
        if (collectives.length === 0 && !isLast) continue;
        const works = waiting;
        waiting = [];
        const compute = async (): Promise<void> => {
          // oxlint-disable-next-line no-await-in-loop -- each step reads the results of the one before it
          for (const work of works) await work();
        };
        // oxlint-disable no-await-in-loop -- each step reads the results of the one before it
        if (collectives.length > 0) await this.#exchange(values, collectives, `${tag} step ${index}`, compute);
        else await this.#group.exchange(`${tag} end`, await contribute(compute));
        // oxlint-enable no-await-in-loop
      }
      const outputs: [string, Tensor][] = [];
      // oxlint-disable-next-line no-await-in-loop -- a device copies one buffer at a time
      for (const { name, result } of part.outputs) outputs.push([name, await values.getTensor(result)]);
      return Object.fromEntries(outputs);
    } finally {
      values.free();
    }
  }

  /** Frees all devices and programs. */
  async dispose(): Promise<void> {
    await Promise.all(this.devices.map(async (device) => await device.dispose()));
  }

  async #openWith(weights: ReadonlyMap<string, Literal>): Promise<ProgramDevice> {
    const device = await this.#open([...weights.values()]);
    this.#devices.push({ device, keys: new Set(weights.keys()) });
    return device;
  }

  async #compile(part: RankPart, budget: TraceBudget): Promise<CompiledPart> {
    const weights = new Map(
      part.weights.map(({ value, key }) => {
        const literal = this.#weights.get(key) ?? asWeight(required(value.constant, "the constant"));
        this.#weights.set(key, literal);
        return [key, literal];
      }),
    );
    const known = this.#devices.find(({ keys }) => [...weights.keys()].every((key) => keys.has(key)));
    const device = known?.device ?? (await this.#openWith(weights));
    const values = new Map(
      part.weights.map(({ value, key }): [Value, Value] => [
        value,
        { type: value.type, constant: required(weights.get(key), key) },
      ]),
    );
    const graphs: (DeviceGraph | undefined)[] = [];
    for (const { graph } of part.steps)
      // oxlint-disable-next-line no-await-in-loop -- a device compiles one graph at a time
      graphs.push(graph === undefined ? undefined : await device.compile(withConstants(graph, values), { budget }));
    return { part, device, graphs };
  }

  async #exchange(
    values: RankValues,
    collectives: readonly Collective[],
    tag: string,
    compute: () => Promise<void>,
  ): Promise<void> {
    const { rank } = this.#group;
    const all = await this.#group.allGather(tag, async () => {
      await compute();
      const parts: Uint8Array[] = [];
      for (const collective of collectives)
        // oxlint-disable-next-line no-await-in-loop -- a device copies one buffer at a time
        if (isGivenBy(collective, rank)) parts.push(getBytes(await values.getTensor(collective.source)));
      return Buffer.concat(parts);
    });
    const offsets = all.map(() => 0);
    for (const collective of collectives) {
      const parts = all.map((bytes, from): Tensor | undefined => {
        if (!isGivenBy(collective, from)) return undefined;
        const tensor = readTensor(bytes, at(offsets, from), partType(collective, from));
        offsets[from] = at(offsets, from) + byteLength(tensor);
        return tensor;
      });
      values.setTensor(collective.result, combine(collective, parts));
    }
  }
}

/** The values of one run on one rank, in the memory of the device or of the process, wherever they were computed or are needed. */
class RankValues {
  readonly #device: ProgramDevice;
  readonly #tensors = new Map<string, Tensor>();
  readonly #buffers = new Map<string, DeviceBuffer>();

  constructor(device: ProgramDevice) {
    this.#device = device;
  }

  setTensor(name: string, tensor: Tensor): void {
    this.#tensors.set(name, tensor);
  }

  async getTensor(name: string): Promise<Tensor> {
    const known = this.#tensors.get(name);
    if (known !== undefined) return known;
    const tensor = await this.#device.copyFromDevice(required(this.#buffers.get(name), `the value ${name}`));
    this.#tensors.set(name, tensor);
    return tensor;
  }

  async run(program: DeviceGraph, { inputs }: Graph): Promise<void> {
    const results = await program.run(new Map(inputs.map(({ name }) => [name, this.#getBuffer(name)])));
    for (const [name, buffer] of results) this.#buffers.set(name, buffer);
  }

  free(): void {
    for (const buffer of this.#buffers.values()) this.#device.free(buffer);
  }

  #getBuffer(name: string): DeviceBuffer {
    const known = this.#buffers.get(name);
    if (known !== undefined) return known;
    const tensor = required(this.#tensors.get(name), `the value ${name}`);
    const buffer = this.#device.allocate({ dataType: tensor.dataType, shape: tensor.shape });
    this.#buffers.set(name, buffer);
    this.#device.copyToDevice(tensor, buffer);
    return buffer;
  }
}

function budgetFor({ weights }: RankPart): TraceBudget {
  return new TraceBudget({ weightElements: weights.reduce((sum, { value }) => sum + elementCount(value.type.shape), 0) });
}

/** A constant that the device may keep in a form of its own. */
function asWeight(literal: Literal): Literal {
  if (literal.storage !== undefined) return literal;
  const { dataType, shape, data } = literal;
  return withLazyStorage({ dataType, shape, data }, { materialize: () => data });
}

/** The graph with other values in the place of constants. */
function withConstants({ inputs, nodes, outputs }: Graph, values: ReadonlyMap<Value, Value>): Graph {
  const replaced = (value: Value): Value => values.get(value) ?? value;
  return {
    inputs,
    nodes: nodes.map((node) => ({ ...node, inputs: node.inputs.map(replaced) })),
    outputs: outputs.map(({ name, value }) => ({ name, value: replaced(value) })),
  };
}

function isGivenBy({ kind }: Collective, rank: number): boolean {
  return kind.name !== "copy" || kind.from === rank;
}

type ElementsType = Pick<Tensor, "dataType" | "shape">;

function partType({ kind, type }: Collective, rank: number): ElementsType {
  const dataType = type.dataType as DataType;
  return { dataType, shape: kind.name === "join" ? localShape(type.shape, kind.split, rank) : type.shape };
}

function getBytes({ dataType, data }: Tensor): Uint8Array {
  if (dataType === "string") throw new TypeError("texts are not exchanged between ranks");
  const { buffer, byteOffset, byteLength: length } = data as Uint8Array;
  return new Uint8Array(buffer, byteOffset, length);
}

function byteLength({ dataType, shape }: ElementsType): number {
  return elementCount(shape) * elementBytes(dataType as Exclude<DataType, "string">);
}

function readTensor(bytes: Uint8Array, start: number, type: ElementsType): Tensor {
  const part = bytes.slice(start, start + byteLength(type)); // a copy begins where elements may
  return { ...type, data: viewBytes(type.dataType as Exclude<DataType, "string">, part.buffer) };
}

function combine({ kind, type }: Collective, parts: readonly (Tensor | undefined)[]): Tensor {
  const given = parts.filter((part) => part !== undefined);
  if (kind.name === "copy") return at(given, 0);
  if (kind.name === "sum") return sumParts(given);
  return joinShards(
    given.map(({ data }) => data),
    kind.split,
    type,
  ) as Tensor;
}

/** The sum in the order of the ranks, in float64 for floats, rounded once: equal on each rank and in each run. Integers wrap around. */
export function sumParts(parts: readonly Tensor[]): Tensor {
  const { dataType, shape } = at(parts, 0);
  if (isBigIntType(dataType)) {
    const sum = zeroLiteral(dataType, shape);
    const into = sum.data as BigInt64Array;
    for (const { data } of parts)
      for (let index = 0; index < into.length; index += 1) into[index] = at(into, index) + at(data as BigInt64Array, index);
    return sum as Tensor;
  }
  const sums = new Float64Array(elementCount(shape));
  for (const part of parts) {
    const numbers = toNumbers(part);
    for (let index = 0; index < sums.length; index += 1) sums[index] = (sums[index] ?? 0) + (numbers[index] ?? 0);
  }
  return toLiteral(dataType, shape, sums) as Tensor;
}
