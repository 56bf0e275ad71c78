/** Calls of language models: generating, chatting and rewriting, whole or as a stream. */
import { at, omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import type { Manifest } from "../models/manifest.ts";
import { type HeldLanguage, ModelHandle } from "../runtime/model-handle.ts";
import type { LoadHooks } from "../runtime/residency/shared-models.ts";
import type { SequenceLimits } from "../runtime/options/sequence-settings.ts";
import { refuseUnlisted } from "../runtime/options/options.ts";
import { type ChatEvent, answerChat, getChatTemplate, prepareChat, renderPrompt } from "../tasks/generation/chat/chat.ts";
import { type ChatOptions, chatOptions } from "../tasks/generation/chat/chat-options.ts";
import type { ChatTemplate, TemplateWorkers } from "../tasks/generation/chat/chat-template.ts";
import { type ChatMessage, checkConversation } from "../tasks/generation/chat/messages.ts";
import { chosenTools } from "../tasks/generation/chat/constrained-answer.ts";
import type { GeneratedText, GenerationEvent } from "../tasks/generation/generated-text.ts";
import { type GenerateOptions, generateOptions } from "../tasks/generation/generate-options.ts";
import { GenerationStream } from "../tasks/generation/generation-stream.ts";
import { type ConstraintCompiler, Generators, type SequenceCounts } from "../tasks/generation/open-generator.ts";
import { prepareRewrite, requireEncoder } from "../tasks/generation/rewrite/rewrite.ts";
import { type RewriteOptions, rewriteOptions } from "../tasks/generation/rewrite/rewrite-options.ts";
import type { GenerationOptions } from "../tasks/generation/sampling/generation-options.ts";
import { checkGenerationOptions } from "../tasks/generation/sampling/resolve-settings.ts";
import {
  type GenerateCall,
  type PrepareCall,
  type Prompt,
  type TextGenerator,
  getPromptTokens,
} from "../tasks/generation/text-generator.ts";
import { type FillInMiddle, fillInMiddleTokens, noFillInMiddle } from "../tasks/generation/text/fill-in-middle.ts";
import type { OptionTable } from "../runtime/options/option.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { type ModelRequest, toList } from "./request-options.ts";
import type {
  ChatPrompt,
  ChatPromptRequest,
  ChatRequest,
  ChatResult,
  GenerateRequest,
  GenerateResult,
  RewriteRequest,
  RewriteResult,
  TaskRun,
} from "./task-requests.ts";

/** What a runtime gives to calls of language models. */
export interface GenerationHost {
  /** Runs work on the model of a request, which is held until the work has ended. */
  readonly onModel: <Result>(
    call: { readonly verb: string; readonly optionNames: readonly string[]; readonly request: ModelRequest },
    prepare: (handle: ModelHandle) => Promise<() => Promise<Result>>,
    loadHooks?: LoadHooks,
  ) => Promise<Result & TaskRun>;
  readonly tokenizer: (handle: ModelHandle) => Promise<Tokenizer>;
  /** How clients share a model. */
  readonly limits: SequenceLimits;
  /** Threads that render chat templates. Default: the calling thread does. */
  readonly templates?: TemplateWorkers | undefined;
  /** Compiles constraints. Default: the calling thread does. */
  readonly compiler?: ConstraintCompiler | undefined;
  /** Default of the option `unlistedMembers`. Default: false. */
  readonly unlistedMembers?: boolean | undefined;
}

/** A call whose input was checked: the numbers of tokens of its prompts, and what generates. */
interface OpenedGeneration<Result, Event> {
  readonly promptTokens: readonly number[];
  readonly run: (
    call: Pick<GenerateCall, "started" | "client" | "draftModel"> & {
      readonly signal: AbortSignal;
      readonly emit: (event: Event) => Promise<void>;
    },
  ) => Promise<Result>;
}

/** Checks the input of a call on an opened model. */
type Open<Result, Event> = (
  generator: TextGenerator,
  handle: ModelHandle,
  call: PrepareCall,
) => Promise<OpenedGeneration<Result, Event>>;

interface Texts {
  readonly results: readonly GeneratedText[];
}

/** Chat templates that are kept for manifests that are read again. */
const maxKeptTemplates = 16;

/** Generates text for one runtime. */
export class Generation {
  readonly #host: GenerationHost;
  readonly #generators: Generators;
  readonly #templates = new WeakMap<Manifest, ChatTemplate>();
  readonly #templatesByText = new Map<string, ChatTemplate>();

  constructor(host: GenerationHost) {
    this.#host = host;
    this.#generators = new Generators(host);
  }

  /** Generates what follows prompts. The stream is returned once the model is loaded and the input is checked. */
  async generate(
    prompts: Prompt | readonly Prompt[],
    request: GenerateRequest & Pick<GenerateOptions, "stream">,
  ): Promise<GenerationStream<GenerateResult>> {
    checkRequest(request);
    const list = toPrompts(prompts);
    const { addSpecialTokens, suffix } = request;
    return this.#start(
      { verb: "generate", optionNames: [...Object.keys(generateOptions), "draftModel"], request },
      async (generator, { manifest }, forCall) => {
        const fillIn = suffix === undefined || suffix === "" ? undefined : fillInOf(suffix, manifest, generator.tokenizer);
        const given = omitUndefined({ addSpecialTokens, fillIn });
        const ends = request.ignoreEndTokens === true ? [] : (fillIn?.tokens.ends ?? []);
        const options = ends.length === 0 ? request : { ...request, stopTokens: [...(request.stopTokens ?? []), ...ends] };
        const prepared = await generator.prepare(list, options, given, forCall);
        const run: OpenedGeneration<Texts, GenerationEvent>["run"] = async (call) => ({
          results: await generator.generate(prepared, call),
        });
        return { promptTokens: getPromptTokens(prepared), run };
      },
    );
  }

  /** Summarizes, translates or otherwise rewrites texts. */
  async rewrite(
    texts: string | readonly string[],
    request: RewriteRequest & Pick<RewriteOptions, "stream">,
  ): Promise<GenerationStream<RewriteResult>> {
    checkRequest(request);
    const list = toList(texts);
    if (list.some((text) => typeof text !== "string")) throw new InferyardError("INPUT_INVALID", "texts must be strings");
    return this.#start(
      { verb: "rewrite", optionNames: Object.keys(rewriteOptions), request, requireModel: requireEncoder },
      async (generator, { manifest }, forCall) => {
        const rewriting = { texts: list, options: toOptions(rewriteOptions, request), call: forCall };
        const prepared = await prepareRewrite(generator, manifest, rewriting);
        const run: OpenedGeneration<Texts, GenerationEvent>["run"] = async (call) => ({
          results: await generator.generate(prepared, call),
        });
        return { promptTokens: getPromptTokens(prepared), run };
      },
    );
  }

  /** Answers a conversation. */
  async chat(
    messages: readonly ChatMessage[],
    request: ChatRequest & Pick<ChatOptions, "stream">,
  ): Promise<GenerationStream<ChatResult, ChatEvent>> {
    checkRequest(request);
    checkConversation(messages, request.tools ?? []);
    this.#host.templates?.prepareRender();
    return this.#start(
      {
        verb: "chat",
        optionNames: [...Object.keys(chatOptions), "draftModel"],
        request,
        requireModel: (manifest) => void this.#getTemplate(manifest),
      },
      async (generator, { manifest }, forCall) => {
        const conversation = { messages, options: toOptions(chatOptions, request), call: forCall };
        const prepared = await prepareChat(generator, this.#getTemplate(manifest), conversation);
        const run: OpenedGeneration<Pick<ChatResult, "message" | "results">, ChatEvent>["run"] = async (call) => {
          const results = await answerChat(generator, prepared, call);
          return { message: at(results, 0).message, results };
        };
        return { promptTokens: getPromptTokens(prepared.prepared), run };
      },
    );
  }

  /** Texts that are generated, and those that wait, by model. */
  get sequences(): readonly SequenceCounts[] {
    return this.#generators.sequences;
  }

  /** The prompt of a conversation, which no model is loaded for. */
  async prompt(
    messages: readonly ChatMessage[],
    manifest: Manifest,
    tokenizer: Tokenizer,
    request: ChatPromptRequest,
  ): Promise<ChatPrompt> {
    const { tools = [], toolChoice = "auto", templateVariables: variables = {}, template: source } = request;
    checkConversation(messages, tools);
    const template = this.#getTemplate(source === undefined ? manifest : { ...manifest, chatTemplates: { default: source } });
    const offered = chosenTools(tools, toolChoice);
    const continues = request.continueFinalMessage ?? false;
    const conversation = { messages, tools: offered, variables, now: request.date?.getTime(), continues };
    const text = await renderPrompt(template, conversation);
    const given = { addSpecialTokens: request.addSpecialTokens ?? false, maxTokens: Number.POSITIVE_INFINITY };
    const { ids } = await (tokenizer.encodeOnThread?.(text, given) ?? tokenizer.encode(text, given));
    return { text, tokens: ids };
  }

  #getTemplate(manifest: Manifest): ChatTemplate {
    const known = this.#templates.get(manifest) ?? this.#equalTemplate(manifest);
    this.#templates.set(manifest, known);
    return known;
  }

  /** The templates of a manifest that was read again, with what was learned of them. */
  #equalTemplate(manifest: Manifest): ChatTemplate {
    const key = JSON.stringify([manifest.chatTemplates, manifest.text?.tokenizerConfig]);
    const template = this.#templatesByText.get(key) ?? getChatTemplate(manifest, this.#host.templates);
    this.#templatesByText.delete(key);
    this.#templatesByText.set(key, template); // the last one used is the last one dropped
    for (const oldest of this.#templatesByText.keys()) {
      if (this.#templatesByText.size <= maxKeptTemplates) break;
      this.#templatesByText.delete(oldest);
    }
    return template;
  }

  async #start<Result, Event>(
    { verb, optionNames, request, requireModel = () => {} }: StartedCall,
    open: Open<Result, Event>,
  ): Promise<GenerationStream<Result & TaskRun, Event>> {
    const { model, draftModel, signal } = request;
    const asked = model instanceof ModelHandle ? request : { ...request, kind: refuseOtherKinds(verb, request.kind) };
    const loadHooks: LoadHooks = { requireModel: async (manifest) => requireModel(manifest) };
    return new Promise((resolve, reject) => {
      const generate = (drafting: TextGenerator | undefined): Promise<Result & TaskRun> =>
        this.#host.onModel(
          { verb, optionNames, request: asked },
          async (handle) => {
            const started = performance.now();
            const { target, decision, ...held } = handle.holdLanguage();
            try {
              const generator = await this.#getGenerator(handle, held);
              const forCall = { signal, client: handle.schedulingKey.client };
              const { promptTokens, run: work } = await open(generator, handle, forCall);
              const draft = drafting === undefined ? {} : { draftModel: drafting.draftFor(generator) };
              return async () => {
                const cancelled = new AbortController();
                const stream = new GenerationStream<Result & TaskRun, Event>(cancelled, promptTokens, run);
                resolve(stream);
                const either = signal === undefined ? cancelled.signal : AbortSignal.any([signal, cancelled.signal]);
                const client = handle.schedulingKey;
                const working = work({ signal: either, emit: (event) => stream.offer(event), started, client, ...draft });
                return { ...(await working.finally(held.release)), target, decision };
              };
            } catch (error) {
              held.release();
              throw error;
            }
          },
          loadHooks,
        );
      const run = draftModel === undefined ? generate(undefined) : this.#withDraftModel({ verb, draftModel, signal }, generate);
      run.catch(reject);
    });
  }

  /** Loads the draft model and holds it until the work has ended. */
  async #withDraftModel<Result>(
    { verb, draftModel, signal }: { verb: string; draftModel: string | ModelHandle; signal: AbortSignal | undefined },
    work: (drafting: TextGenerator) => Promise<Result>,
  ): Promise<Result> {
    const kind = draftModel instanceof ModelHandle ? {} : { kind: "language" as const };
    const request = { model: draftModel, ...kind, ...omitUndefined({ signal }) };
    const { result } = await this.#host.onModel({ verb, optionNames: [], request }, async (handle) => {
      const held = handle.holdLanguage();
      try {
        const generator = await this.#getGenerator(handle, held);
        return async () => ({ result: await work(generator).finally(held.release) });
      } catch (error) {
        held.release();
        throw error;
      }
    });
    return result;
  }

  async #getGenerator(handle: ModelHandle, { model }: Pick<HeldLanguage, "model">): Promise<TextGenerator> {
    const tokenizer = handle.manifest.text === undefined ? undefined : await this.#host.tokenizer(handle);
    return this.#generators.of(model, handle, tokenizer);
  }
}

/** A call of a language model before `#start` begins it. */
interface StartedCall {
  readonly verb: string;
  readonly optionNames: readonly string[];
  readonly request: SpeculativeRequest;
  /** Throws for a model that cannot serve the call, judged by its files before it is loaded. Default: no check. */
  readonly requireModel?: (manifest: Manifest) => void;
}

/** The part of a request that names its models. */
type SpeculativeRequest = ModelRequest & { readonly draftModel?: string | ModelHandle };

/** Throws INPUT_INVALID for options that no model can obey. */
function checkRequest(
  request: GenerationOptions & { readonly stream?: boolean; readonly draftModel?: string | ModelHandle },
): void {
  checkGenerationOptions(request);
  const { draftModel, draftTokens, numBeams = 1 } = request;
  if (draftTokens !== undefined && draftModel === undefined) {
    throw new InferyardError("INPUT_INVALID", "draftTokens is given without a draft model", { remedy: "give draftModel too" });
  }
  if (draftModel !== undefined && numBeams > 1) {
    throw new InferyardError("INPUT_INVALID", "draftModel has no effect on beam search", {
      remedy: "leave out draftModel or numBeams",
    });
  }
  refuseUnlisted<unknown>("stream", request.stream, [undefined, true, false]);
}

/** How a text is filled in before `suffix`. Throws INPUT_INVALID for a model that was not trained for it. */
function fillInOf(
  suffix: string,
  { name, text }: Manifest,
  tokenizer: Tokenizer | undefined,
): { readonly suffix: string; readonly tokens: FillInMiddle } {
  const tokens = tokenizer === undefined ? undefined : fillInMiddleTokens(tokenizer, text?.tokenizerConfig);
  if (tokens === undefined) throw noFillInMiddle(name);
  return { suffix, tokens };
}

/** The options of a task in a request. */
function toOptions<Options extends object>(table: OptionTable<Options>, request: Options): Options {
  return Object.fromEntries(Object.entries(request).filter(([name]) => Object.hasOwn(table, name))) as Options;
}

function refuseOtherKinds(verb: string, kind: ModelRequest["kind"]): "language" {
  if (kind === undefined || kind === "language") return "language";
  throw new InferyardError("INPUT_INVALID", `${verb} runs language models, and kind is "${kind}"`, { remedy: "leave kind out" });
}

function toPrompts(prompts: Prompt | readonly Prompt[]): readonly Prompt[] {
  if (typeof prompts === "string") return [prompts];
  if (!Array.isArray(prompts)) throw wrongPrompts();
  const list: readonly unknown[] = prompts;
  if (list.length > 0 && list.every((each) => typeof each === "number")) return [list];
  if (!list.every(isPrompt)) throw wrongPrompts();
  return list;
}

function isPrompt(value: unknown): value is Prompt {
  return typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "number"));
}

function wrongPrompts(): InferyardError {
  return new InferyardError("INPUT_INVALID", "prompts must be a text, a list of token ids, or a list of these");
}
