/** A device of programs that several ranks compute on, each on a device of its own. */
import { createHash } from "node:crypto";
import { getOrInsert, required } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { DataType, Tensor, TensorMap } from "../../contract/tensor.ts";
import type { Library } from "../../contract/backend.ts";
import { ConstantFoldingCache } from "../../engine/build/constant-folding-cache.ts";
import type { TraceBudget } from "../../engine/build/trace-budget.ts";
import type { ConstantFolder } from "../../engine/interpret/evaluate.ts";
import type { Graph, Value } from "../../engine/ir/graph.ts";
import { storageIdentity } from "../../engine/ir/literal.ts";
import { printGraph } from "../../engine/ir/print.ts";
import { HostBuffer, HostBuffers } from "../interface/host-buffer.ts";
import type {
  BufferType,
  DeviceBuffer,
  DeviceGraph,
  DeviceSettings,
  ProgramBackend,
  ProgramDevice,
} from "../interface/program-backend.ts";
import { type PartitionedGraph, type PartitionSettings, partitionGraph } from "./partition-graph.ts";
import { type CompiledPart, RankExecutor } from "./rank-executor.ts";
import type { RankGroup } from "./rank-group.ts";
import type { BufferChanges, RankCommand } from "./rank-messages.ts";
import type { RankPart } from "./rank-part.ts";

/** The other ranks, as the process of one rank reaches them. */
export interface RankTeam {
  readonly group: RankGroup;
  /** Sends a command to a rank that this process has started. Undefined if all ranks run the same program, and so do the same by themselves. */
  readonly command: ((rank: number, command: RankCommand) => void) | undefined;
  /** Runs `work`, during which the other ranks keep this process alive. */
  busy<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Ends the group, and the ranks that this process has started. */
  dispose(): Promise<void>;
}

/** How a program is divided among ranks. */
export interface RankSettings extends PartitionSettings {
  /** Whether this process starts the others, which then have no functions and objects of the program. */
  readonly startsRanks: boolean;
  /** Finds or starts the other ranks. Throws HOST_DIED if one ends, and RUN_FAILED if they do not come. */
  join(backend: string, settings: Omit<DeviceSettings, "weights">): Promise<RankTeam>;
}

/** The backend whose devices are groups of ranks with one device of `backend` each. */
export function rankedBackend(backend: ProgramBackend, ranks: RankSettings): ProgramBackend {
  return {
    name: backend.name,
    qualifiers: backend.qualifiers,
    probe: async (qualifier) => await backend.probe(qualifier),
    open: async ({ weights, ...settings }) => {
      const team = await ranks.join(backend.name, settings);
      const executor = new RankExecutor(team.group, async (parts) => await backend.open({ ...settings, weights: parts }));
      try {
        const facts = await team.busy(async () => {
          commandAll(team, () => ({ kind: "open" }));
          return await executor.open();
        });
        return new RankDevice(facts, { team, executor, ranks, fold: new ConstantFoldingCache(weights).fold });
      } catch (error) {
        await executor.dispose();
        await team.dispose();
        throw error;
      }
    },
  };
}

function commandAll({ group, command }: RankTeam, create: (rank: number) => RankCommand): void {
  if (command !== undefined) for (let rank = 1; rank < group.size; rank += 1) command(rank, create(rank));
}

interface RankDeviceParts {
  readonly team: RankTeam;
  readonly executor: RankExecutor;
  readonly ranks: RankSettings;
  readonly fold: ConstantFolder;
}

class RankDevice implements ProgramDevice {
  readonly target: string;
  readonly library: Library;
  readonly fold: ConstantFolder;
  readonly #facts: ProgramDevice;
  readonly #team: RankTeam;
  readonly #executor: RankExecutor;
  readonly #ranks: RankSettings;
  readonly #buffers: SharedBuffers = new SharedBuffers();
  readonly #numbers = new Map<object, number>();
  readonly #evidence = new Map<number, readonly string[]>();
  #graphs = 0;
  #disposal: Promise<void> | undefined;

  constructor(facts: ProgramDevice, { team, executor, ranks, fold }: RankDeviceParts) {
    this.#facts = facts;
    this.target = facts.target;
    this.library = facts.library;
    this.#team = team;
    this.#executor = executor;
    this.#ranks = ranks;
    this.fold = fold;
  }

  async compile(graph: Graph, { budget }: { readonly budget: TraceBudget }): Promise<DeviceGraph> {
    this.#refuseFunctions(graph);
    const divided = partitionGraph(graph, this.#ranks);
    const number = this.#graphs;
    this.#graphs += 1;
    const tag = `${number} ${digestOf(graph)}`;
    const compiled = await this.#team.busy(async () => {
      commandAll(this.#team, (rank) => ({ kind: "compile", graph: number, tag, part: toPlain(this.#part(divided, rank)) }));
      return await this.#executor.compile(this.#part(divided, this.#team.group.rank), tag, budget);
    });
    this.#evidence.set(number, divided.evidence);
    return {
      temporaryBytes: compiled.graphs.reduce((sum, each) => sum + (each?.temporaryBytes ?? 0), 0),
      run: async (inputs) => await this.#team.busy(async () => await this.#run(number, compiled, inputs)),
      evidence: () => [...divided.evidence, ...compiled.graphs.flatMap((each) => each?.evidence() ?? [])],
      dispose: () => {
        for (const each of compiled.graphs) each?.dispose();
        if (this.#evidence.delete(number)) commandAll(this.#team, () => ({ kind: "dispose", graph: number }));
      },
    };
  }

  flags(): readonly string[] {
    return this.#facts.flags();
  }

  allocate(type: BufferType): DeviceBuffer {
    return this.#buffers.allocate(type);
  }

  free(buffer: DeviceBuffer): void {
    this.#buffers.free(buffer);
  }

  copyToDevice(tensor: Tensor, buffer: DeviceBuffer): void {
    this.#buffers.copyTo(tensor, buffer);
  }

  async copyFromDevice(buffer: DeviceBuffer): Promise<Tensor> {
    return this.#buffers.read(buffer);
  }

  async synchronize(): Promise<void> {
    const { failure } = this.#team.group;
    if (failure !== undefined) throw failure;
  }

  maxMemory(): number | undefined {
    return this.#facts.maxMemory();
  }

  maxSharedMemory(): number | undefined {
    return this.#facts.maxSharedMemory();
  }

  supportsDataType(type: DataType): boolean {
    return this.#facts.supportsDataType(type);
  }

  /** Of this rank alone. */
  get bytes(): number {
    return this.#executor.devices.reduce((sum, { bytes }) => sum + bytes, this.#buffers.bytes);
  }

  evidence(): readonly string[] {
    return this.#executor.devices.at(-1)?.evidence() ?? [];
  }

  dispose(): Promise<void> {
    this.#disposal ??= (async (): Promise<void> => {
      this.#buffers.dispose();
      await this.#team.dispose();
      await this.#executor.dispose();
    })();
    return this.#disposal;
  }

  async #run(
    number: number,
    compiled: CompiledPart,
    inputs: ReadonlyMap<string, DeviceBuffer>,
  ): Promise<ReadonlyMap<string, DeviceBuffer>> {
    const given = [...inputs].map(([name, buffer]) => ({ name, buffer, number: this.#buffers.number(buffer) }));
    const outputs = compiled.part.outputs.map(({ name }) => [name, this.#buffers.nextNumber()] as const);
    const changes = this.#buffers.takeChanges();
    const command: RankCommand = {
      kind: "run",
      graph: number,
      changes,
      inputs: given.map((each) => [each.name, each.number] as const),
      outputs,
    };
    commandAll(this.#team, () => command);
    const tensors: TensorMap = Object.fromEntries(given.map(({ name, buffer }) => [name, this.#buffers.peek(buffer)]));
    const results = await this.#executor.run(compiled, `run ${number}`, tensors);
    return new Map(
      outputs.map(([name, each]) => [name, this.#buffers.wrap(required(results[name], `the output "${name}"`), each)]),
    );
  }

  #part(divided: PartitionedGraph, rank: number): RankPart {
    return divided.part(rank, ({ constant }: Value) =>
      getOrInsert(this.#numbers, storageIdentity(required(constant, "a constant")), () => this.#numbers.size),
    );
  }

  /** A function of this process cannot be sent to ranks that it starts. */
  #refuseFunctions({ nodes }: Graph): void {
    if (this.#team.command === undefined) return;
    for (const { operation } of nodes)
      if (operation.kind === "call" && operation.implementation !== undefined)
        throw new InferyardError(
          "MODEL_UNSUPPORTED",
          `the operator "${operation.function.replace("user:", "")}" is a function of this process, which other ranks do not have`,
          { remedy: "start each rank with the program itself, with RANK and WORLD_SIZE in its environment" },
        );
  }
}

/** Buffers that all ranks have, in the memory of each. Changes are told with the next run. */
class SharedBuffers {
  readonly #buffers = new HostBuffers();
  readonly #numbers = new Map<HostBuffer, number>();
  readonly #written = new Set<HostBuffer>();
  /** Numbers of the buffers whose elements other ranks have. */
  readonly #shared = new Set<number>();
  #freed: number[] = [];
  #next = 0;

  get bytes(): number {
    return this.#buffers.bytes;
  }

  allocate(type: BufferType): HostBuffer {
    const buffer = this.#buffers.allocate(type);
    this.#numbers.set(buffer, this.nextNumber());
    this.#written.add(buffer);
    return buffer;
  }

  /** A buffer that all ranks have computed. */
  wrap(tensor: Tensor, number: number): HostBuffer {
    const buffer = this.#buffers.wrap(tensor);
    this.#numbers.set(buffer, number);
    this.#shared.add(number);
    return buffer;
  }

  copyTo(tensor: Tensor, buffer: DeviceBuffer): void {
    this.#buffers.copyTo(tensor, buffer);
    if (buffer instanceof HostBuffer) this.#written.add(buffer);
  }

  free(buffer: DeviceBuffer): void {
    this.#buffers.free(buffer);
    if (!(buffer instanceof HostBuffer)) return;
    const number = this.#numbers.get(buffer);
    this.#numbers.delete(buffer);
    this.#written.delete(buffer);
    if (number !== undefined && this.#shared.delete(number)) this.#freed.push(number);
  }

  read(buffer: DeviceBuffer): Tensor {
    return this.#buffers.read(buffer);
  }

  peek(buffer: DeviceBuffer): Tensor {
    return this.#buffers.peek(buffer);
  }

  number(buffer: DeviceBuffer): number {
    return required(buffer instanceof HostBuffer ? this.#numbers.get(buffer) : undefined, "the buffer of this device");
  }

  nextNumber(): number {
    this.#next += 1;
    return this.#next;
  }

  /** What changed since the last call. */
  takeChanges(): BufferChanges {
    const written = [...this.#written].map((buffer) => ({ buffer: this.number(buffer), tensor: buffer.tensor }));
    const changes = { written, freed: this.#freed };
    for (const { buffer } of written) this.#shared.add(buffer);
    this.#written.clear();
    this.#freed = [];
    return changes;
  }

  dispose(): void {
    this.#buffers.dispose();
    this.#numbers.clear();
    this.#written.clear();
  }
}

/** The part with constants as plain data, which can be sent. */
function toPlain(part: RankPart): RankPart {
  const values = new Map<Value, Value>();
  const plain = (value: Value): Value =>
    value.constant === undefined
      ? value
      : getOrInsert(values, value, () => {
          const { dataType, shape, data } = required(value.constant, "a constant");
          return { type: value.type, constant: { dataType, shape, data } };
        });
  return {
    ...part,
    weights: part.weights.map(({ value, key }) => ({ value: plain(value), key })),
    steps: part.steps.map(({ graph, collectives }) => ({
      collectives,
      graph:
        graph === undefined
          ? undefined
          : {
              inputs: graph.inputs,
              nodes: graph.nodes.map((node) => ({ ...node, inputs: node.inputs.map(plain) })),
              outputs: graph.outputs.map(({ name, value }) => ({ name, value: plain(value) })),
            },
    })),
  };
}

function digestOf(graph: Graph): string {
  return createHash("sha256").update(printGraph(graph)).digest("hex").slice(0, 16);
}
