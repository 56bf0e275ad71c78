/** Makes the text generator of a loaded language model. */
import { omitUndefined } from "../../contract/checked.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import { getGenerationConfig } from "./sampling/end-of-turn.ts";
import type { GrammarHost } from "./constraints/grammar-host.ts";
import { type DecodeLimits, DecodeScheduler, type DecodingModel } from "./decode-scheduler.ts";
import { TextGenerator } from "./text-generator.ts";

/** A loaded language model, for its generator. */
export interface GeneratorModel {
  readonly manifest: Manifest;
  readonly reference: string;
  readonly target: string;
}

/** Worker threads that compile constraints. */
export interface GrammarWorkers extends GrammarHost {
  /** Ends the threads. */
  dispose(): Promise<void>;
}

/** Where constraints are compiled, and how much of them is kept. */
export interface ConstraintCompiler {
  readonly host: GrammarWorkers;
  /** Bytes for each model. Default: 32 MiB. */
  readonly cacheBytes?: number;
}

/** Numbers of texts of one model. */
export interface SequenceCounts {
  readonly reference: string;
  /** Texts that are being generated. */
  readonly running: number;
  /** Texts that wait for their turn and have not begun. */
  readonly waiting: number;
  /** Texts that have begun and wait for their next turn. */
  readonly parked: number;
  /** How often texts were parked. */
  readonly preemptions: number;
  /** Bytes of cache for their tokens and for kept prompts. */
  readonly cacheBytes: number;
  /** Bytes of cache of as many texts as run at once, each as long as the model's context. Absent if the model states no context. */
  readonly cacheCapacityBytes?: number;
}

/** Options shared by the generators of a runtime. */
export interface GeneratorsOptions {
  /** Limits of each model. Omitted ones have defaults. */
  readonly limits?: Partial<DecodeLimits>;
  /** Compiler of constraints. Default: the calling thread compiles them. */
  readonly compiler?: ConstraintCompiler | undefined;
  /** Default of the option `unlistedMembers`. Default: false. */
  readonly unlistedMembers?: boolean | undefined;
}

/** Generators of loaded models, made at the first use: texts of all calls share the model's steps. */
export class Generators {
  readonly #compiler: ConstraintCompiler | undefined;
  readonly #known = new WeakMap<DecodingModel, TextGenerator>();
  readonly #limits: Partial<DecodeLimits>;
  readonly #unlistedMembers: boolean | undefined;
  /** The schedulers of the last load of each model on each target. */
  readonly #schedulers = new Map<string, { readonly reference: string; readonly scheduler: DecodeScheduler }>();

  constructor({ limits = {}, compiler, unlistedMembers }: GeneratorsOptions = {}) {
    this.#limits = limits;
    this.#unlistedMembers = unlistedMembers;
    this.#compiler = compiler;
  }

  /** The generator of a model. `tokenizer`: undefined if it has none. Throws MODEL_INVALID and MODEL_UNSUPPORTED for its generation_config.json. */
  of(model: DecodingModel, { manifest, reference, target }: GeneratorModel, tokenizer: Tokenizer | undefined): TextGenerator {
    const known = this.#known.get(model);
    if (known !== undefined) return known;
    const config = getGenerationConfig(manifest, tokenizer);
    const scheduler = new DecodeScheduler(model, this.#limits);
    const made = new TextGenerator({
      limits: model.limits,
      scheduler,
      tokenizer,
      config,
      tokenizerSettings: manifest.text,
      grammarHost: this.#compiler?.host,
      unlistedMembers: this.#unlistedMembers,
      maxGrammarBytes: this.#compiler?.cacheBytes,
    });
    this.#known.set(model, made);
    this.#schedulers.set(`${reference} ${target}`, { reference, scheduler });
    return made;
  }

  /** Number of texts in generation and of waiting texts, by model. */
  get sequences(): readonly SequenceCounts[] {
    return [...this.#schedulers.values()].map(({ reference, scheduler }) => ({
      reference,
      running: scheduler.runningSequences,
      waiting: scheduler.waitingSequences,
      parked: scheduler.parkedSequences,
      preemptions: scheduler.preemptions,
      cacheBytes: scheduler.cacheBytes,
      ...omitUndefined({ cacheCapacityBytes: scheduler.cacheCapacityBytes }),
    }));
  }
}
