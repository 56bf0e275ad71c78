/** A language model in a peer. */
import type { DecodeOptions, DecodeStep, LanguageModelLimits, SequenceId, SequenceOptions } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { HostedLanguageModel } from "../host.ts";
import { type ModelPeer, PeerModel } from "../model-peer.ts";
import type { LanguageCall, LanguageModelDescription, LanguageResults } from "../protocol.ts";
import { SequenceTable } from "../../contract/sequence-table.ts";

/** A sequence in a peer: its number there, and the number of the peer. */
interface RemoteSequence {
  readonly id: SequenceId;
  readonly generation: number;
}

/** Calls a language model in a peer. It numbers sequences itself, so that sequences of a dead peer are not confused with a successor's. */
export class RemoteLanguageModel extends PeerModel implements HostedLanguageModel {
  readonly kind = "language";
  readonly limits: LanguageModelLimits;
  readonly saveSequence?: (sequence: SequenceId) => Promise<Uint8Array>;
  readonly restoreSequence?: (bytes: Uint8Array) => Promise<SequenceId>;
  readonly crossAttention?: Required<HostedLanguageModel>["crossAttention"];
  readonly #sequences = new SequenceTable<RemoteSequence>();

  constructor(peer: ModelPeer, description: LanguageModelDescription) {
    super(peer, description);
    this.limits = description.limits;
    if (description.readsCrossAttention)
      this.crossAttention = async (sequence, tokens, heads, { signal } = {}) => {
        const { id, generation } = this.#sequences.get(sequence);
        return this.#call("crossAttention", [id, tokens, heads], generation, signal);
      };
    if (!description.savesSequences) return;
    this.saveSequence = async (sequence) => {
      const { id, generation } = this.#sequences.get(sequence);
      return this.#call("saveSequence", [id], generation);
    };
    this.restoreSequence = async (bytes) => {
      const generation = await peer.ready();
      return this.#add(generation, await this.#call("restoreSequence", [bytes], generation));
    };
  }

  async createSequence({ source, features, signal }: SequenceOptions = {}): Promise<SequenceId> {
    const generation = await this.peer.ready(signal);
    return this.#add(generation, await this.#call("createSequence", [omitUndefined({ source, features })], generation, signal));
  }

  async decode(steps: readonly DecodeStep[], { signal }: DecodeOptions = {}): Promise<readonly Float32Array[]> {
    const sequences = steps.map(({ sequence }) => this.#sequences.get(sequence));
    const generation = sequences[0]?.generation ?? (await this.peer.ready(signal));
    const there = steps.map((step, index) => ({ ...step, sequence: sequences[index]?.id ?? 0 }));
    return this.#call("decode", [there], generation, signal);
  }

  async forkSequence(sequence: SequenceId): Promise<SequenceId> {
    const { id, generation } = this.#sequences.get(sequence);
    return this.#add(generation, await this.#call("forkSequence", [id], generation));
  }

  async truncateSequence(sequence: SequenceId, length: number): Promise<void> {
    const { id, generation } = this.#sequences.get(sequence);
    await this.#call("truncateSequence", [id, length], generation);
  }

  /** Never throws HOST_DIED: the sequences of a dead peer are freed. */
  async releaseSequence(sequence: SequenceId): Promise<void> {
    const { id, generation } = this.#sequences.release(sequence);
    this.peer.holdsSequences = this.#sequences.size > 0;
    try {
      await this.#call("releaseSequence", [id], generation);
    } catch (error) {
      if (!(error instanceof InferyardError && error.code === "HOST_DIED")) throw error;
    }
  }

  #add(generation: number, id: SequenceId): SequenceId {
    this.peer.holdsSequences = true;
    return this.#sequences.add({ id, generation });
  }

  async #call<Method extends keyof LanguageResults>(
    method: Method,
    given: Extract<LanguageCall, { readonly method: Method }>["arguments"],
    generation: number,
    signal?: AbortSignal,
  ): Promise<LanguageResults[Method]> {
    const call = { method, arguments: given } as LanguageCall;
    return (await this.peer.call<"language">({ operation: "language", call }, signal, generation)) as LanguageResults[Method];
  }
}
