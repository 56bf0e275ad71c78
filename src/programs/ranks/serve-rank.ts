/** What a rank does that rank 0 has started: it opens the same device, and does what rank 0 tells it. */
import { required } from "../../contract/checked.ts";
import { InferyardError, wrapError } from "../../contract/errors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import type { ProgramBackends } from "../backends/program-backends.ts";
import { ExchangeFile } from "./exchange-file.ts";
import { type CompiledPart, RankExecutor } from "./rank-executor.ts";
import { RankGroup, type GroupMessage } from "./rank-group.ts";
import type { BufferChanges, RankCommand, RankMessage, RankStart } from "./rank-messages.ts";

/** One rank that takes messages of rank 0. */
export class RankServer {
  readonly #backends: ProgramBackends;
  readonly #send: (message: GroupMessage) => void;
  readonly #graphs = new Map<number, CompiledPart>();
  readonly #buffers = new Map<number, Tensor>();
  #group: RankGroup | undefined;
  #executor: RankExecutor | undefined;
  /** The end of the command in progress: commands are done one after the other. */
  #done: Promise<void> = Promise.resolve();

  constructor(backends: ProgramBackends, send: (message: GroupMessage) => void) {
    this.#backends = backends;
    this.#send = send;
  }

  /** Takes a message; what fails ends the group. */
  receive(message: RankMessage): void {
    switch (message.kind) {
      case "start":
        this.#attempt(() => this.#start(message));
        return;
      case "give":
      case "take":
      case "end":
      case "leave":
        this.#group?.receive(0, message);
        return;
      case "open":
      case "compile":
      case "run":
      case "dispose":
        this.#done = this.#done.then(async () => await this.#perform(message));
    }
  }

  #start({ rank, size, path, chunkBytes, backend: name, settings }: RankStart): void {
    const found = this.#backends.resolve(name);
    if (!("backend" in found)) throw new InferyardError("BACKEND_UNAVAILABLE", found.reason);
    this.#group = new RankGroup(rank, size, ExchangeFile.open(path, size, chunkBytes), new Map([[0, this.#send]]));
    this.#executor = new RankExecutor(this.#group, async (weights) => await found.backend.open({ ...settings, weights }));
  }

  async #perform(command: RankCommand): Promise<void> {
    if (this.#group === undefined || this.#executor === undefined || this.#group.failure !== undefined) return;
    try {
      await this.#execute(command, this.#executor);
    } catch (error) {
      // What fails within an exchange, rank 0 knows as well, and the ranks are still together. What fails outside of one ends them.
      if (!(error instanceof InferyardError)) this.#group.fail(wrapError(error, "RUN_FAILED"));
    }
  }

  async #execute(command: RankCommand, executor: RankExecutor): Promise<void> {
    switch (command.kind) {
      case "open":
        await executor.open();
        return;
      case "compile":
        this.#graphs.set(command.graph, await executor.compile(command.part, command.tag));
        return;
      case "run": {
        this.#change(command.changes);
        const inputs = Object.fromEntries(
          command.inputs.map(([name, buffer]) => [name, required(this.#buffers.get(buffer), `the buffer of "${name}"`)]),
        );
        const graph = required(this.#graphs.get(command.graph), "the graph");
        const results = await executor.run(graph, `run ${command.graph}`, inputs);
        for (const [name, buffer] of command.outputs) this.#buffers.set(buffer, required(results[name], name));
        return;
      }
      case "dispose":
        for (const graph of this.#graphs.get(command.graph)?.graphs ?? []) graph?.dispose();
        this.#graphs.delete(command.graph);
    }
  }

  #change({ written, freed }: BufferChanges): void {
    for (const { buffer, tensor } of written) this.#buffers.set(buffer, tensor);
    for (const buffer of freed) this.#buffers.delete(buffer);
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#send({ kind: "end", error: wrapError(error, "RUN_FAILED", "a rank could not start").toJSON() });
    }
  }
}
