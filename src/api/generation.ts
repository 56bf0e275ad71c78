/** Calls of language models: generating, chatting and rewriting, whole or as a stream. */
import { LruMap } from "../concurrency/lru-map.ts";
import { at, omitUndefined } from "../contract/checked.ts";
import { type InferyardError, invalidInput } from "../contract/errors.ts";
import { requireTextInput } from "../models/language-tasks.ts";
import type { Manifest } from "../models/manifest.ts";
import { type HeldLanguage, ModelHandle } from "../runtime/model-handle.ts";
import type { ModelRuntime } from "../runtime/model-runtime.ts";
import type { LoadHooks } from "../runtime/residency/shared-models.ts";
import type { SequenceLimits } from "../runtime/options/sequence-settings.ts";
import { refuseUnlisted } from "../runtime/options/option.ts";
import { type ChatEvent, answerChat, getChatTemplate, prepareChat, renderPrompt } from "../tasks/generation/chat/chat.ts";
import { chatOptions } from "../tasks/generation/chat/chat-options.ts";
import type { ChatOptions } from "../tasks/generation/chat/generated-chat-options.ts";
import type { ChatTemplate, TemplateWorkers } from "../tasks/generation/chat/chat-template.ts";
import { type ChatMessage, checkConversation } from "../tasks/generation/chat/messages.ts";
import { chosenTools } from "../tasks/generation/chat/constrained-answer.ts";
import type { GeneratedText, GenerationEvent } from "../tasks/generation/generated-text.ts";
import { generateOptions } from "../tasks/generation/generate-options.ts";
import type { GenerateOptions } from "../tasks/generation/generated-generate-options.ts";
import { GenerationStream } from "../tasks/generation/generation-stream.ts";
import { type ConstraintCompiler, Generators, type SequenceCounts } from "../tasks/generation/open-generator.ts";
import { prepareRewrite, requireRewriteEncoder } from "../tasks/generation/rewrite/rewrite.ts";
import { rewriteOptions } from "../tasks/generation/rewrite/rewrite-options.ts";
import type { RewriteOptions } from "../tasks/generation/rewrite/generated-rewrite-options.ts";
import type { GenerationOptions } from "../tasks/generation/sampling/generated-generation-options.ts";
import { checkGenerationOptions } from "../tasks/generation/sampling/resolve-settings.ts";
import {
  type GenerateCall,
  type PrepareCall,
  type PreparedPrompts,
  type TextGenerator,
  getPromptTokens,
} from "../tasks/generation/text-generator.ts";
import { type FillInMiddle, fillInMiddleTokens, noFillInMiddle } from "../tasks/generation/text/fill-in-middle.ts";
import type { Prompt } from "../tasks/generation/text/prompt-tokens.ts";
import type { OptionTable } from "../runtime/options/option.ts";
import type { TokenizerCache } from "../tasks/encoding/tokenizer-cache.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { type HeldModelCall, holdModel, runTimed } from "./model-call.ts";
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

/** How language models are called in one runtime. */
export interface GenerationParts {
  /** How texts of several clients share a model. */
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

/** Chat templates that are kept for manifests that are read again. */
const maxKeptTemplates = 16;

/** Generates text for one runtime. */
export class Generation {
  readonly #runtime: Pick<ModelRuntime, "hold">;
  readonly #tokenizers: Pick<TokenizerCache, "get">;
  readonly #templateWorkers: TemplateWorkers | undefined;
  readonly #generators: Generators;
  readonly #templates = new WeakMap<Manifest, ChatTemplate>();
  readonly #templatesByText = new LruMap<ChatTemplate>(maxKeptTemplates);

  constructor(runtime: Pick<ModelRuntime, "hold">, tokenizers: Pick<TokenizerCache, "get">, settings: GenerationParts) {
    this.#runtime = runtime;
    this.#tokenizers = tokenizers;
    this.#templateWorkers = settings.templates;
    this.#generators = new Generators(settings);
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
        return openTexts(generator, await generator.prepare(list, options, given, forCall));
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
    if (list.some((text) => typeof text !== "string")) throw invalidInput("texts must be strings");
    return this.#start(
      { verb: "rewrite", optionNames: Object.keys(rewriteOptions), request, requireModel: requireRewriteEncoder },
      async (generator, { manifest }, forCall) => {
        const rewriting = { texts: list, options: toOptions(rewriteOptions, request), call: forCall };
        return openTexts(generator, await prepareRewrite(generator, manifest, rewriting));
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
    this.#templateWorkers?.prepareRender();
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

  /** Number of texts in generation and of waiting texts, by model. */
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
    const template = this.#templatesByText.get(key) ?? getChatTemplate(manifest, this.#templateWorkers);
    this.#templatesByText.set(key, template);
    return template;
  }

  /** Begins a call. Its model and its draft model are held until the generation has ended. */
  async #start<Result, Event>(
    { verb, optionNames, request, requireModel = () => {} }: StartedCall,
    open: Open<Result, Event>,
  ): Promise<GenerationStream<Result & TaskRun, Event>> {
    const { model, draftModel, signal } = request;
    const asked = model instanceof ModelHandle ? request : { ...request, kind: refuseOtherKinds(verb, request.kind) };
    const releases: Release[] = [];
    const releaseAll = async (): Promise<void> => {
      for (const release of releases.toReversed()) await release();
    };
    try {
      const drafting = draftModel === undefined ? undefined : await this.#hold(draftCall(verb, draftModel, signal), releases);
      const held = await this.#hold({ verb, optionNames, request: asked }, releases, {
        requireModel: async (manifest) => {
          requireTextInput(manifest);
          requireModel(manifest);
        },
      });
      const { handle, generator, target, decision, started } = held;
      requireTextInput(handle.manifest); // of a model that was loaded before this call, too
      const client = handle.schedulingKey;
      const { promptTokens, run } = await open(generator, handle, { signal, client: client.client });
      const draft = drafting === undefined ? {} : { draftModel: drafting.generator.draftFor(generator) };
      return new GenerationStream<Result & TaskRun, Event>(promptTokens, (emit, cancelled) => {
        const either = signal === undefined ? cancelled : AbortSignal.any([signal, cancelled]);
        const work = async (): Promise<Result & Pick<TaskRun, "target" | "decision">> => {
          const result = await run({ signal: either, emit, started, client, ...draft });
          return { ...result, target, decision }; // of the instance that ran: the library may have been reloaded meanwhile
        };
        return runTimed(handle, work).finally(releaseAll);
      });
    } catch (error) {
      await releaseAll();
      throw error;
    }
  }

  /** Holds the model of a call, which the functions that are added to `releases` give back, and makes its generator. */
  async #hold(call: HeldModelCall, releases: Release[], loadHooks?: LoadHooks): Promise<HeldGenerator> {
    const { handle, release } = await holdModel(this.#runtime, call, loadHooks);
    releases.push(release);
    const started = performance.now();
    const { model, target, decision, release: releaseInstance } = handle.holdLanguage();
    releases.push(releaseInstance);
    const { text } = handle.manifest;
    const tokenizer = text && (await this.#tokenizers.get(text));
    return { handle, generator: this.#generators.of(model, handle, tokenizer), target, decision, started };
  }
}

/** Texts that follow checked prompts. */
function openTexts(
  generator: TextGenerator,
  prepared: PreparedPrompts,
): OpenedGeneration<{ readonly results: readonly GeneratedText[] }, GenerationEvent> {
  return {
    promptTokens: getPromptTokens(prepared),
    run: async (call) => ({ results: await generator.generate(prepared, call) }),
  };
}

type Release = () => Promise<void> | void;

/** A model of a call, with its generator. */
interface HeldGenerator extends Pick<HeldLanguage, "target" | "decision"> {
  readonly handle: ModelHandle;
  readonly generator: TextGenerator;
  /** When the model was held, by `performance.now()`. */
  readonly started: number;
}

/** A call of a language model before `#start` begins it. */
interface StartedCall extends HeldModelCall {
  readonly request: ModelRequest & { readonly draftModel?: string | ModelHandle };
  /** Throws for a model that cannot serve the call, judged by its files before it is loaded. Default: no check. */
  readonly requireModel?: (manifest: Manifest) => void;
}

/** The call that holds a draft model. */
function draftCall(verb: string, model: string | ModelHandle, signal: AbortSignal | undefined): HeldModelCall {
  const kind = model instanceof ModelHandle ? undefined : ("language" as const);
  return { verb, optionNames: [], request: { model, ...omitUndefined({ kind, signal }) } };
}

/** Throws INPUT_INVALID for options that no model can obey. */
function checkRequest(
  request: GenerationOptions & { readonly stream?: boolean; readonly draftModel?: string | ModelHandle },
): void {
  checkGenerationOptions(request);
  const { draftModel, draftTokens, numBeams = 1 } = request;
  if (draftTokens !== undefined && draftModel === undefined) {
    throw invalidInput("draftTokens is given without a draft model", "give draftModel too");
  }
  if (draftModel !== undefined && numBeams > 1) {
    throw invalidInput("draftModel has no effect on beam search", "leave out draftModel or numBeams");
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
  throw invalidInput(`${verb} runs language models, and kind is "${kind}"`, "leave kind out");
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
  return invalidInput("prompts must be a text, a list of token ids, or a list of these");
}
