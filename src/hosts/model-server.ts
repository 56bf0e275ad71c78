/** The peer's side of a host: one backend, one model, one call at a time. */
import type { Backend, LanguageModel, LoadedModel, ProgramCounts } from "../contract/backend.ts";
import { InferyardError, wrapError } from "../contract/errors.ts";
import { checkTensorModel } from "../contract/shapes/held-contract.ts";
import { type ReplicaModel, type ReplicaSlot, type SharedReplicaState, sharesReplicas } from "../contract/replicas.ts";
import { reduceOutputs } from "./output-reduction.ts";
import type { TensorMap } from "../contract/tensor.ts";
import { loadLanguage } from "./language/load-language.ts";
import type {
  AnswerMessage,
  Call,
  CallMessage,
  LanguageCall,
  LanguageResults,
  ModelDescription,
  PeerPort,
  Results,
} from "./protocol.ts";

/** Imports the module of a backend's entry. */
export type ImportModule = (module: string) => Promise<Readonly<Record<string, unknown>>>;

/** Reads the state that is queued in a port. Undefined if there is none. */
export type ReceiveSharedState = (port: PeerPort) => SharedReplicaState | undefined;

type LoadCall = Extract<Call, { operation: "load" }>;

/** Executes the calls of a host in a worker thread or child process. */
export class ModelServer {
  readonly #kind: string;
  readonly #importModule: ImportModule;
  readonly #receive: ReceiveSharedState;
  #backend: Backend | undefined;
  #model: ReplicaModel | LanguageModel | undefined;

  /** `kind`: "worker" or "process", for messages. `receive`: for peers that can share memory; others receive no shared state. */
  constructor(
    kind: string,
    importModule: ImportModule = (module) => import(module),
    receive: ReceiveSharedState = () => undefined,
  ) {
    this.#kind = kind;
    this.#importModule = importModule;
    this.#receive = receive;
  }

  /** Memory that the model holds now. Undefined before it is loaded. */
  get memory(): LoadedModel["memory"] | undefined {
    return this.#model?.memory;
  }

  /** See `ModelBase.programs`. Undefined before the model is loaded. */
  get programs(): ProgramCounts | undefined {
    return this.#model?.programs;
  }

  /**
   * Executes a call. Never throws: a failure becomes an answer with an error. `guard` runs the work, so that the caller knows
   * when it is in progress.
   */
  async answer(message: CallMessage, guard: <Result>(work: () => Promise<Result>) => Promise<Result>): Promise<AnswerMessage> {
    const { number, operation } = message;
    try {
      return { number, ok: true, result: await guard(() => this.#perform(message)) };
    } catch (thrown) {
      return { number, ok: false, error: this.failure(operation, thrown).toJSON() };
    }
  }

  /** Converts a thrown value into the error of a call. */
  failure(operation: Call["operation"], thrown: unknown): InferyardError {
    const code = operation === "load" ? "LOAD_FAILED" : "RUN_FAILED";
    return wrapError(thrown, code, `the ${this.#kind}'s ${operation} failed`);
  }

  async #perform(call: Call): Promise<Results[keyof Results]> {
    switch (call.operation) {
      case "load":
        return this.#load(call);
      case "run":
        return this.#run(call);
      case "language":
        return this.#callLanguage(call.call);
      case "evidence":
        return this.#loaded().evidence();
      case "kernelCounts":
        return (await this.#loaded().kernelCounts?.()) ?? [];
      case "export":
        return this.#exportState(call.port);
      case "dispose":
        await this.#model?.dispose();
        await this.#backend?.dispose?.();
        return null;
    }
  }

  async #load(call: LoadCall): Promise<ModelDescription> {
    const module = await this.#importModule(call.entry.module);
    const create = module[call.entry.export];
    if (typeof create !== "function") {
      throw new InferyardError("CONTRACT_VIOLATION", `${call.entry.module} does not export a function "${call.entry.export}"`);
    }
    this.#backend = create(call.entry.options) as Backend;
    if (call.kind === "language") {
      const model = await loadLanguage(this.#backend, call.model, call.device, call.settings);
      this.#model = model;
      const { kind, limits, library, memory } = model;
      const savesSequences = model.saveSequence !== undefined && model.restoreSequence !== undefined;
      const readsCrossAttention = model.crossAttention !== undefined;
      const countsKernels = model.kernelCounts !== undefined;
      return { kind, limits, library, memory, savesSequences, readsCrossAttention, countsKernels };
    }
    const model = checkTensorModel(this.#backend, await this.#loadModel(this.#backend, call));
    this.#model = model;
    const { kind, inputs, outputs, library, memory, sharing } = model;
    const countsKernels = model.kernelCounts !== undefined;
    return { kind, inputs, outputs, library, memory, countsKernels, replicaBytes: sharing?.replicaBytes };
  }

  #loadModel(backend: Backend, { model, device, settings, replica }: LoadCall): Promise<ReplicaModel> {
    if (replica === undefined) return backend.load(model, device, settings);
    const slot = this.#slot(replica);
    return sharesReplicas(backend) ? backend.loadReplica(model, device, settings, slot) : backend.load(model, device, settings);
  }

  #slot({ liveReplicas, index, sharedState: port }: NonNullable<LoadCall["replica"]>): ReplicaSlot {
    const sharedState = port === undefined ? undefined : this.#receive(port);
    port?.close();
    return { liveReplicas, index, sharedState };
  }

  #exportState(port: PeerPort): boolean {
    try {
      const state = this.#tensorModel().sharing?.exportState();
      if (state !== undefined) port.postMessage(state);
      return state !== undefined;
    } finally {
      port.close(); // a message that was posted before is still received
    }
  }

  async #run({ inputs, outputs, reductions }: Extract<Call, { operation: "run" }>): Promise<TensorMap> {
    return reduceOutputs(await this.#tensorModel().run(inputs, outputs === undefined ? {} : { outputs }), reductions);
  }

  async #callLanguage({ method, arguments: given }: LanguageCall): Promise<LanguageResults[keyof LanguageResults]> {
    const model = this.#loaded();
    if (model.kind !== "language") throw new TypeError("the model in this peer is no language model");
    const call = model[method] as (...all: readonly unknown[]) => Promise<LanguageResults[keyof LanguageResults]>;
    return call.apply(model, given);
  }

  #tensorModel(): ReplicaModel {
    const model = this.#loaded();
    if (model.kind !== "tensor") throw new TypeError("the model in this peer is a language model");
    return model;
  }

  #loaded(): ReplicaModel | LanguageModel {
    if (this.#model === undefined) throw new InferyardError("DISPOSED", `no model is loaded in this ${this.#kind}`);
    return this.#model;
  }
}
