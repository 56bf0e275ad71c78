/** Tasks on pictures and sound, which run on one or several graphs of a model. */
import type { ByteBudget } from "../../concurrency/byte-budget.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { LanguageModel } from "../../contract/language-model.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { usesCtc } from "../../models/language-tasks.ts";
import { nameOfSuffix } from "../../models/manifest/variant-names.ts";
import { readJsonObject } from "../../models/model-folder.ts";
import { ModelHandle } from "../../runtime/model-handle.ts";
import type { ModelRuntime } from "../../runtime/model-runtime.ts";
import type { ModelOptions } from "../../runtime/options/runtime-settings.ts";
import type { LoadedGraph, MediaModel, MediaTask } from "../../tasks/definition/media-task.ts";
import { textSettings } from "../../tasks/encoding/text-settings.ts";
import type { TokenizerCache } from "../../tasks/encoding/tokenizer-cache.ts";
import { refuseUnknownOptions } from "../model-call.ts";
import { type ModelRequest, modelOptions, refuseLoadOptions } from "../request-options.ts";
import type { TaskRun } from "../task-requests.ts";

/** Runs tasks on pictures and sound on the models of one runtime. */
export class MediaTasks {
  readonly #runtime: ModelRuntime;
  readonly #tokenizers: TokenizerCache;
  readonly #pictures: ByteBudget;

  /** `pictures`: memory that decoded pictures of all calls share. */
  constructor(runtime: ModelRuntime, tokenizers: TokenizerCache, pictures: ByteBudget) {
    this.#runtime = runtime;
    this.#tokenizers = tokenizers;
    this.#pictures = pictures;
  }

  /** Runs a task on the model of a request. The result has the target and the decision of the first graph that was loaded. */
  async perform<Input, Options extends object, Result>(
    task: MediaTask<Input, Options, Result>,
    input: Input,
    request: Options & ModelRequest,
  ): Promise<Result & TaskRun> {
    const { options, check, run } = await task.load();
    const withModel: ModelRequest = { model: task.defaultModel, ...request };
    refuseUnknownOptions({ verb: task.verb, optionNames: Object.keys(options), request: withModel });
    await check?.(input, request);
    return this.runOnModel(task.verb, withModel, (model) => run(model, input, request));
  }

  /** Whether a model transcribes by CTC, by the class that its files name. Throws MODEL_UNSUPPORTED for a model that does not transcribe. */
  async transcribesByCtc({ model, ...request }: ModelRequest): Promise<boolean> {
    if (model === undefined) return false;
    const manifest = model instanceof ModelHandle ? model.manifest : await this.#runtime.manifest(model, modelOptions(request));
    if (usesCtc(manifest)) return true;
    (await import("../../tasks/speech/transcribe.ts")).requireWhisper(manifest);
    return false;
  }

  /** Runs work on the graphs of a model, which are released afterwards. */
  async runOnModel<Result>(
    verb: string,
    { model, ...request }: ModelRequest,
    work: (model: MediaModel) => Promise<Result>,
  ): Promise<Result & TaskRun> {
    if (model === undefined)
      throw new InferyardError("INPUT_INVALID", `${verb} was given no model`, { remedy: "name one: a path or a reference" });
    const placement = modelOptions(request);
    if (model instanceof ModelHandle) refuseLoadOptions(placement);
    const manifest = model instanceof ModelHandle ? model.manifest : await this.#runtime.manifest(model, placement);
    const graphs = new GraphsOfModel(this.#runtime, manifest, { model, placement });
    const { directory, reference } = manifest;
    try {
      const started = performance.now();
      const result = await work({
        manifest,
        hasPart: (part) => findPart(manifest, part, placement.variant) !== undefined,
        part: (part) => graphs.part(part),
        main: () => graphs.main(),
        language: () => graphs.language(),
        pictureBudget: this.#pictures,
        readJson: (file) => readJsonObject({ path: directory, displayName: reference }, file),
        tokenizer: () => this.#tokenizers.get(textSettings(manifest)),
      });
      const { target, decision } = (await graphs.first()) ?? (await this.#whereItRuns(graphs));
      const milliseconds = performance.now() - started - graphs.loadMs;
      return { model: model instanceof ModelHandle ? model.reference : model, target, decision, ...result, milliseconds };
    } finally {
      await graphs.release();
    }
  }

  async #whereItRuns(graphs: GraphsOfModel): Promise<ModelHandle> {
    await graphs.main();
    const handle = await graphs.first();
    if (handle === undefined) throw new InferyardError("CONTRACT_VIOLATION", "a model was loaded, and there is no handle on it");
    return handle;
  }
}

/** Where a model comes from: a reference with options of loading, or a handle of the caller. */
interface ModelSource {
  readonly model: string | ModelHandle;
  readonly placement: ModelOptions;
}

/** The graphs of a model during one call. */
class GraphsOfModel {
  readonly #runtime: ModelRuntime;
  readonly #manifest: Manifest;
  readonly #source: ModelSource;
  readonly #handles = new Map<string, Promise<ModelHandle>>();
  readonly #languages: ReturnType<ModelHandle["holdLanguage"]>[] = [];
  /** Milliseconds in which graphs were loaded. */
  loadMs = 0;
  #loads = 0;
  #loadStarted = 0;

  constructor(runtime: ModelRuntime, manifest: Manifest, source: ModelSource) {
    this.#runtime = runtime;
    this.#manifest = manifest;
    this.#source = source;
  }

  async main(): Promise<LoadedGraph> {
    const { model, placement } = this.#source;
    return this.#hold("", model instanceof ModelHandle ? async () => model : () => this.#runtime.hold(model, placement));
  }

  async language(): Promise<LanguageModel> {
    const { model, placement } = this.#source;
    const load = (): Promise<ModelHandle> => {
      if (model instanceof ModelHandle) return Promise.resolve(model);
      return this.#runtime.hold(model, { ...placement, kind: placement.kind ?? "language" });
    };
    const held = (await this.#hold("language", load)).holdLanguage();
    this.#languages.push(held);
    return held.model;
  }

  async part(part: string): Promise<LoadedGraph> {
    const { model, placement } = this.#source;
    const variant = findPart(this.#manifest, part, placement.variant);
    if (variant === undefined)
      throw new InferyardError("MODEL_UNSUPPORTED", `${this.#manifest.name} has no file ${part}`, {
        remedy: `its files are ${this.#manifest.variants.map(({ name }) => name).join(", ")}`,
      });
    if (!(model instanceof ModelHandle))
      return this.#hold(variant.name, () => this.#runtime.hold(model, { ...placement, variant: variant.name }));
    if (model.decision.model.variant === variant.name) return this.#hold("", async () => model);
    const { reference, target } = model;
    return this.#hold(variant.name, () => this.#runtime.hold(reference, { target, variant: variant.name }));
  }

  /** The handle on the graph that was loaded first; undefined if none was. */
  async first(): Promise<ModelHandle | undefined> {
    const [first] = this.#handles.values();
    return first;
  }

  /** Gives all graphs back, but for the caller's own handle. */
  async release(): Promise<void> {
    for (const { release } of this.#languages) release();
    const handles = await Promise.allSettled(this.#handles.values());
    for (const outcome of handles)
      if (outcome.status === "fulfilled" && outcome.value !== this.#source.model) await outcome.value.dispose();
  }

  async #hold(key: string, load: () => Promise<ModelHandle>): Promise<ModelHandle> {
    const known = this.#handles.get(key);
    if (known !== undefined) return known;
    if (this.#loads++ === 0) this.#loadStarted = performance.now();
    const loading = load();
    this.#handles.set(key, loading);
    try {
      return await loading;
    } finally {
      if (--this.#loads === 0) this.loadMs += performance.now() - this.#loadStarted;
    }
  }
}

/**
 * The variant that holds a part of a model, by the name of its file. With `wanted`, a variant or dtype as "fp16" or "q8", the file with that suffix is preferred;
 * without it the file without a suffix, then the first.
 */
function findPart({ variants }: Manifest, part: string, wanted: string | undefined): Variant | undefined {
  const stems = variants.filter(({ name }) => name === part || name.startsWith(`${part}_`));
  const hasSuffix = ({ name }: Variant): boolean => {
    const { name: precision, aliases } = nameOfSuffix(name.slice(part.length + 1));
    return wanted !== undefined && (precision === wanted || aliases.includes(wanted));
  };
  return stems.find(hasSuffix) ?? stems.find(({ name }) => name === part) ?? stems[0];
}
