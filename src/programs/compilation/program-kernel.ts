/** A compiled program. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { Mutex } from "../../concurrency/mutex.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import type { Sizes } from "../definition/trace-program.ts";
import { type TensorArgument, toTensors } from "../definition/tensor-arguments.ts";
import { readSizes } from "./buckets.ts";
import type { CandidateList, ProgramRequest, SelectedSession } from "./candidate-list.ts";
import type { ProgramDecision } from "./program-decision.ts";
import { type ProgramMemoryUsage, type ProgramSession, SessionFailure } from "./program-session.ts";

/** Milliseconds of runs after which the event loop gets its turn: runs compute on the calling thread. */
const maxBlockedMs = 20;

/** Options of one run. */
export interface ProgramRunOptions {
  /** Aborts the run between its steps; the states keep the values that they had before it. */
  readonly signal?: AbortSignal;
}

/** A program on a backend, made by `compileProgram`. Runs and switches may overlap: they are computed one after the other, in the order of the calls. */
export class ProgramKernel {
  readonly #request: ProgramRequest;
  readonly #candidates: CandidateList;
  /** Orders runs and the exchange of sessions. */
  readonly #runs = new Mutex();
  /** Orders what opens sessions. */
  readonly #changes = new Mutex();
  /** Sizes that runs had, so that a switch compiles for them before it takes over. */
  readonly #sizes = new Map<string, Sizes>();
  #session: ProgramSession;
  #decision: ProgramDecision;
  #disposal: Promise<void> | undefined;
  /** When a run last let the event loop have its turn, as a time of performance.now(). */
  #yieldedAt = performance.now();

  /** @internal */
  constructor(request: ProgramRequest, candidates: CandidateList, session: ProgramSession, decision: ProgramDecision) {
    this.#request = request;
    this.#candidates = candidates;
    this.#session = session;
    this.#decision = decision;
  }

  /** The name of the backend that computes, as it was asked for. */
  get backend(): string {
    return this.#decision.selected?.backend ?? "";
  }

  /** The record of how the backend was chosen, with the reasons against each other candidate. */
  get decision(): ProgramDecision {
    return this.#decision;
  }

  /** Bytes of the program on its device. */
  get memory(): ProgramMemoryUsage {
    return this.#session.memory;
  }

  /** Settings of the backend's compiler, as it spells them. */
  get flags(): readonly string[] {
    return this.#session.device.flags();
  }

  /**
   * Runs the program on the calling thread and returns its outputs by name, in memory that the caller owns. Inputs are checked before anything runs. For sizes that no run had before, a
   * graph is compiled and checked; if that fails, the next backend of the list takes over, with the states. Throws INPUT_INVALID, BACKEND_UNAVAILABLE or NO_BACKEND if
   * no backend is left, RUN_FAILED, HOST_DIED if a rank has ended, OUT_OF_MEMORY, ABORTED, and DISPOSED.
   */
  async run(inputs: Readonly<Record<string, TensorArgument>> = {}, { signal }: ProgramRunOptions = {}): Promise<TensorMap> {
    this.#refuseDisposed();
    const { program } = this.#request.session;
    const tensors = toTensors(program.inputs, inputs);
    const sizes = readSizes(program.inputs, tensors);
    return await this.#runs.runExclusive(async () => {
      if (performance.now() - this.#yieldedAt > maxBlockedMs) {
        await yieldToEventLoop();
        this.#yieldedAt = performance.now();
      }
      throwIfAborted(signal);
      await this.#prepare(sizes, signal);
      return await this.#session.run(tensors, sizes, signal);
    });
  }

  /** Copies of the states, by name. */
  async readStates(): Promise<TensorMap> {
    this.#refuseDisposed();
    return await this.#runs.runExclusive(async () => await this.#session.readStates());
  }

  /** Sets all states, each of its type. Throws INPUT_INVALID. */
  async writeStates(states: Readonly<Record<string, TensorArgument>>): Promise<void> {
    this.#refuseDisposed();
    const tensors = toTensors(this.#request.session.program.states, states);
    await this.#runs.runExclusive(async () => this.#session.writeStates(tensors));
  }

  /**
   * Moves the program to another backend, with its states. Until the other one has compiled the program and was checked, runs continue here; each run sees the states
   * of the run before it. Throws INPUT_INVALID for an unknown name, and BACKEND_UNAVAILABLE with the reason if the backend does not run the program: then nothing has changed.
   */
  async switchTo(backend: string, { signal }: ProgramRunOptions = {}): Promise<ProgramDecision> {
    this.#refuseDisposed();
    return await this.#changes.runExclusive(async () => {
      const opened = await this.#candidates.open(backend, [...this.#sizes.values()], signal);
      return await this.#runs.runExclusive(async () => {
        await this.#takeOver(opened);
        return opened.decision;
      });
    });
  }

  /** Waits for pending runs, then frees everything on the device. Calling it again does nothing more. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#changes.runExclusive(
      async () => await this.#runs.runExclusive(async () => await this.#session.dispose()),
    );
    return this.#disposal;
  }

  /** As `dispose`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** Begins `dispose`, for `using`. */
  [Symbol.dispose](): void {
    void this.dispose();
  }

  /** Compiles for new sizes, on the next backend if the present one fails. */
  async #prepare(sizes: Sizes, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.#session.prepare(sizes, signal);
    } catch (error) {
      if (!(error instanceof SessionFailure)) throw error;
      await this.#session.device.synchronize(); // throws for a device whose ranks have ended: no other backend takes over then
      this.#candidates.fail(this.backend, error);
      await this.#takeOver(await this.#candidates.select(sizes, signal));
    }
    this.#sizes.set(JSON.stringify([...sizes]), sizes);
  }

  /** Copies the states to another session, which takes the place of the present one. */
  async #takeOver({ session, decision }: SelectedSession): Promise<void> {
    try {
      if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "the program was disposed");
      session.writeStates(await this.#session.readStates());
    } catch (error) {
      await session.dispose();
      throw error;
    }
    const before = this.#session;
    this.#session = session;
    this.#decision = decision;
    await before.dispose();
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "the program was disposed");
  }
}
