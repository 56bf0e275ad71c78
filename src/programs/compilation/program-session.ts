/** A program that is open on one device: its weights and states there, and its graphs for the sizes seen so far. */
import { required } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import { LruMap } from "../../concurrency/lru-map.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { withLazyStorage } from "../../engine/ir/literal.ts";
import type { OpenProgram, Program } from "../definition/program.ts";
import { type Sizes, sizedShape, statePrefix, traceProgram } from "../definition/trace-program.ts";
import { bufferBytes } from "../interface/host-buffer.ts";
import type { DeviceBuffer, DeviceGraph, DeviceSettings, ProgramBackend, ProgramDevice } from "../interface/program-backend.ts";
import { type DimensionBuckets, fitted, paddedSizes } from "./buckets.ts";
import { findWrongOutput } from "./probe-tensors.ts";
import type { ReferenceAnswers } from "./reference-answers.ts";

/** Number of combinations of sizes whose graphs are kept; the least recently used one is disposed of. */
const maxGraphs = 16;

/** The graph for one combination of sizes. */
interface SizedGraph {
  readonly program: DeviceGraph;
  /** Sizes of inputs, before padding, that were checked against the interpreter. */
  readonly checked: Set<string>;
}

/** Memory of an open program, in bytes. */
export interface ProgramMemoryUsage {
  /** Weights in the form in which the caller gave them. */
  readonly weights: number;
  readonly states: number;
  /** Intermediate values of the largest graph. */
  readonly temporary: number;
  /** All that the device has allocated for the program. */
  readonly device: number;
}

/** What a session is opened with. */
export interface SessionSettings extends Omit<DeviceSettings, "weights"> {
  readonly program: Program;
  readonly weights: ReadonlyMap<string, Literal>;
  readonly buckets: DimensionBuckets;
  readonly answers: ReferenceAnswers;
  /** Bytes that the program may take on the device. Undefined: what the device has. */
  readonly maxMemory: number | undefined;
}

/** The step in which a session failed. */
export type SessionStep = "requirement" | "load" | "verify";

/** A failure of a session, with the step in which it happened. */
export class SessionFailure extends Error {
  readonly step: SessionStep;

  constructor(step: SessionStep, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.step = step;
  }
}

/** Runs `work`; what it throws becomes a failure of this step. Aborted work stays ABORTED. */
async function inStep<Result>(step: SessionStep, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SessionFailure || (error instanceof InferyardError && error.code === "ABORTED")) throw error;
    throw new SessionFailure(step, error);
  }
}

/** A program on a device. Methods are called one at a time. */
export class ProgramSession {
  readonly device: ProgramDevice;
  readonly #settings: SessionSettings;
  readonly #backend: string;
  readonly #open: OpenProgram;
  readonly #weights: ReadonlyMap<string, Literal>;
  readonly #graphs = new LruMap<SizedGraph>(maxGraphs, ({ program }) => program.dispose());
  #states = new Map<string, DeviceBuffer>();

  private constructor(
    device: ProgramDevice,
    backend: string,
    settings: SessionSettings,
    { open, weights }: { readonly open: OpenProgram; readonly weights: ReadonlyMap<string, Literal> },
  ) {
    this.device = device;
    this.#backend = backend;
    this.#settings = settings;
    this.#open = open;
    this.#weights = weights;
  }

  /** Opens a device and allocates the states with their first elements. Throws SessionFailure, and ABORTED. */
  static async open(backend: ProgramBackend, settings: SessionSettings): Promise<ProgramSession> {
    const { program, qualifier, threads, mode } = settings;
    const open = program.open();
    // Each device has literals of its own: it may keep the elements in a form of its own, and let go of these.
    const weights = new Map(
      [...settings.weights].map(([name, { dataType, shape, data }]) => [
        name,
        withLazyStorage({ dataType, shape, data }, { materialize: () => data }),
      ]),
    );
    const all = [...weights.values(), ...open.ownWeights];
    const device = await inStep("load", async () => await backend.open({ qualifier, threads, mode, weights: all }));
    const session = new ProgramSession(device, backend.name, settings, { open, weights });
    try {
      await inStep("requirement", async () => session.#checkRequirements());
      await inStep("load", async () => session.#createStates());
      return session;
    } catch (error) {
      await session.dispose();
      throw error;
    }
  }

  get memory(): ProgramMemoryUsage {
    const states = [...this.#states.values()].reduce((sum, { type }) => sum + bufferBytes(type), 0);
    const temporary = Math.max(0, ...[...this.#graphs.values()].map(({ program }) => program.temporaryBytes));
    return { weights: this.#weightBytes(), states, temporary, device: this.device.bytes };
  }

  /** Facts about the code, each a sentence without a full stop. */
  evidence(): readonly string[] {
    const latest = [...this.#graphs.values()].at(-1);
    return [...(latest?.program.evidence() ?? []), ...this.device.evidence()];
  }

  /** Compiles the graph for inputs of these sizes, if there is none, and holds it against the interpreter. Throws SessionFailure, and ABORTED. */
  async prepare(sizes: Sizes, signal?: AbortSignal): Promise<void> {
    const graph = await this.#graphFor(sizes, signal);
    await this.#check(graph, sizes, signal);
  }

  /** Runs the program. The inputs are checked, and their graph is prepared. Throws what the device throws. */
  async run(inputs: TensorMap, sizes: Sizes, signal?: AbortSignal): Promise<TensorMap> {
    const { program } = await this.#graphFor(sizes, signal);
    return await this.#runWith(program, sizes, { inputs, states: this.#states, keepStates: true }, signal);
  }

  /** Copies of the states. */
  async readStates(): Promise<TensorMap> {
    const states: [string, Tensor][] = [];
    for (const [name, buffer] of this.#states) states.push([name, await this.device.copyFromDevice(buffer)]);
    return Object.fromEntries(states);
  }

  /** Sets the states. */
  writeStates(states: TensorMap): void {
    for (const [name, buffer] of this.#states) this.device.copyToDevice(required(states[name], `the state "${name}"`), buffer);
  }

  async dispose(): Promise<void> {
    for (const { program } of this.#graphs.values()) program.dispose();
    this.#graphs.clear();
    await this.device.dispose();
  }

  #weightBytes(): number {
    const own = this.#open.ownWeights as readonly { readonly dataType: Tensor["dataType"]; readonly shape: readonly number[] }[];
    const all = [...this.#settings.program.weights, ...own];
    return all.reduce((sum, type) => sum + bufferBytes(type), 0);
  }

  #checkRequirements(): void {
    const { program, maxMemory } = this.#settings;
    const { target } = this.device;
    const declared = [...program.inputs, ...program.states, ...program.weights];
    const other = declared.find(({ dataType }) => !this.device.supportsDataType(dataType));
    if (other !== undefined)
      throw new InferyardError("MODEL_UNSUPPORTED", `${target} has no tensors of ${other.dataType}, the type of "${other.name}"`);
    const needed = this.#weightBytes() + program.states.reduce((sum, type) => sum + bufferBytes(type), 0);
    const allowed = Math.min(maxMemory ?? Number.POSITIVE_INFINITY, this.device.maxMemory() ?? Number.POSITIVE_INFINITY);
    if (needed <= allowed) return;
    throw new InferyardError(
      "OUT_OF_MEMORY",
      `weights and states take ${needed} bytes, and ${allowed} are ${maxMemory === allowed ? "allowed" : `free for ${target}`}`,
    );
  }

  #createStates(): void {
    for (const { name, dataType, shape, initial } of this.#settings.program.states) {
      const buffer = this.device.allocate({ dataType, shape });
      this.#states.set(name, buffer);
      this.device.copyToDevice(initial, buffer);
    }
  }

  async #graphFor(sizes: Sizes, signal: AbortSignal | undefined): Promise<SizedGraph> {
    const padded = paddedSizes(sizes, this.#settings.buckets);
    const key = JSON.stringify([...padded]);
    const known = this.#graphs.get(key);
    if (known !== undefined) return known;
    const graph = await inStep("load", async (): Promise<SizedGraph> => {
      const { program } = this.#settings;
      const { fold } = this.device;
      const settings = { sizes: padded, weights: this.#weights, backend: this.#backend, fold };
      const { graph: traced, budget } = traceProgram(program, this.#open, settings);
      throwIfAborted(signal);
      return { program: await this.device.compile(traced, { budget }), checked: new Set() };
    });
    this.#graphs.set(key, graph);
    return graph;
  }

  /** Holds a graph against the interpreter, once for its own sizes and once for inputs that are padded to them. */
  async #check(graph: SizedGraph, sizes: Sizes, signal: AbortSignal | undefined): Promise<void> {
    const padded = paddedSizes(sizes, this.#settings.buckets);
    const isPadded = [...padded].some(([name, size]) => sizes.get(name) !== size);
    for (const each of isPadded ? [padded, sizes] : [padded]) {
      const kind = each === padded ? "exact" : "padded";
      if (graph.checked.has(kind)) continue;
      await inStep("verify", async () => {
        const { given, expected, tolerance } = await this.#settings.answers.get(each, signal);
        const { maxMemory } = this.#settings;
        const computed = await this.#runProbe(graph.program, each, given, signal);
        const difference = findWrongOutput(expected, computed, tolerance);
        if (difference !== undefined) throw new InferyardError("VERIFICATION_FAILED", describeDifference(difference, kind));
        if (maxMemory !== undefined && this.device.bytes > maxMemory)
          throw new SessionFailure(
            "requirement",
            new InferyardError("OUT_OF_MEMORY", `the program takes ${this.device.bytes} bytes, and ${maxMemory} are allowed`),
          );
        graph.checked.add(kind);
      });
    }
  }

  async #runProbe(program: DeviceGraph, sizes: Sizes, given: TensorMap, signal: AbortSignal | undefined): Promise<TensorMap> {
    const { program: definition } = this.#settings;
    const states = new Map<string, DeviceBuffer>();
    try {
      for (const { name, dataType, shape } of definition.states) {
        const buffer = this.device.allocate({ dataType, shape });
        states.set(name, buffer);
        this.device.copyToDevice(required(given[name], name), buffer);
      }
      const inputs = Object.fromEntries(definition.inputs.map(({ name }) => [name, required(given[name], name)]));
      return await this.#runWith(program, sizes, { inputs, states, keepStates: false }, signal);
    } finally {
      for (const buffer of states.values()) this.device.free(buffer);
    }
  }

  /** Runs a graph with padded inputs and returns cut outputs; with `keepStates` the states after the run replace those before it. */
  async #runWith(
    program: DeviceGraph,
    sizes: Sizes,
    {
      inputs,
      states,
      keepStates,
    }: { readonly inputs: TensorMap; readonly states: ReadonlyMap<string, DeviceBuffer>; readonly keepStates: boolean },
    signal: AbortSignal | undefined,
  ): Promise<TensorMap> {
    const padded = paddedSizes(sizes, this.#settings.buckets);
    const owned: DeviceBuffer[] = [];
    const given = new Map(states);
    try {
      for (const { name, dataType, shape } of this.#settings.program.inputs) {
        const tensor = fitted(required(inputs[name], `the input "${name}"`), sizedShape(shape, padded));
        const buffer = this.device.allocate({ dataType, shape: tensor.shape });
        owned.push(buffer);
        this.device.copyToDevice(tensor, buffer);
        given.set(name, buffer);
      }
      const results = await program.run(given, signal);
      owned.push(...results.values());
      const shapes = this.#outputShapes(sizes, padded);
      const outputs: [string, Tensor][] = [];
      for (const [name, buffer] of results) {
        if (keepStates && name.startsWith(statePrefix)) continue;
        const tensor = await this.device.copyFromDevice(buffer);
        outputs.push([name, fitted(tensor, shapes.get(name) ?? tensor.shape)]);
      }
      if (keepStates) this.#replaceStates(results, owned);
      return Object.fromEntries(outputs);
    } finally {
      for (const buffer of owned) this.device.free(buffer);
    }
  }

  /** Keeps the states after a run, which leave `owned`, and puts those before it there. */
  #replaceStates(results: ReadonlyMap<string, DeviceBuffer>, owned: DeviceBuffer[]): void {
    const next = new Map(this.#states);
    for (const [name, before] of this.#states) {
      const after = results.get(`${statePrefix}${name}`);
      if (after === undefined) continue;
      owned.splice(owned.indexOf(after), 1, before);
      next.set(name, after);
    }
    this.#states = next;
  }

  /** The shapes of the outputs for inputs without padding; empty if nothing was padded. */
  #outputShapes(sizes: Sizes, padded: Sizes): ReadonlyMap<string, readonly number[]> {
    if ([...padded].every(([name, size]) => sizes.get(name) === size)) return new Map();
    const { graph } = traceProgram(this.#settings.program, this.#open, { sizes, weights: this.#weights, fold: this.device.fold });
    return new Map(graph.outputs.map(({ name, value }) => [name, value.type.shape]));
  }
}

function describeDifference(difference: string, kind: "exact" | "padded"): string {
  const asked = kind === "padded" ? "inputs that are padded to a bucket" : "a probe";
  return `for ${asked} ${difference}, which the interpreter computes`;
}
