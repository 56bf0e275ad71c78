/** Kinds of models that predict tokens: decoder-only language models, and encoder-decoder models. */
import { at } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { feedTokens, type PromptTokens, withSequences } from "../../cross-validation/language-run.ts";
import { topToken } from "../../cross-validation/compare-logits.ts";
import { promptTokens, readTokenFacts } from "../../cross-validation/loaded-language.ts";
import type { LanguageModel } from "../../contract/language-model.ts";
import type { KindTest, MeasuredKind, MeasuredOutput, Subject, TokenRates, Workload, WorkloadOptions } from "./model-kind.ts";
import { longText } from "./sample-texts.ts";

type Language = Omit<LanguageModel, "dispose">;

/** Prompt of a test, and the number of tokens generated after it. */
const testPrompt = "Once upon a time there was a cat who sat on a mat.";
const testTokens = 8;

/** Workload of a measurement: prompt length and generated length in tokens, and the number of generations in the bulk call. */
const measuredPrompt = 64;
const measuredTokens = 16;
const defaultCount = 4;

/** If a model refuses longer prompts, prompts of this many tokens and of each smaller length are tried. */
const shortestPrompts = 8;

/** Language models. */
export const languageKind: MeasuredKind = { name: "language", unit: "generations", knobs: ["threads"], startTest, workload };

/** Encoder-decoder models. */
export const encoderDecoderKind: MeasuredKind = { ...languageKind, name: "encoder-decoder" };

/** Tokens of a test: the prompt, and the continuation that the first tested target chose (`followers`). */
interface TestTokens {
  readonly prompt: PromptTokens;
  readonly followers: readonly number[];
}

function startTest(): KindTest {
  let chosen: TestTokens | undefined;
  return {
    async alone(subject) {
      const model = subject.handle.language;
      const prompt = chosen?.prompt ?? (await fittingPrompt(subject, testPrompt, undefined, testTokens));
      const outputs: MeasuredOutput[] = [];
      const followers: number[] = [];
      const next = (logits: Float32Array): number | undefined => {
        if (chosen !== undefined) return chosen.followers[followers.length];
        return followers.length < testTokens ? topToken(logits).token : undefined;
      };
      const { signal } = subject;
      await feedTokens(
        model,
        prompt,
        (logits) => {
          const token = next(logits);
          if (token !== undefined) followers.push(token);
          return token;
        },
        (logits, position) => outputs.push({ name: `the logits of position ${position}`, values: logits.slice() }),
        { name: subject.handle.target, signal },
      );
      chosen ??= { prompt, followers };
      return outputs;
    },
    together: {
      name: "in one call, beside another sequence, equals token by token",
      async run({ handle, signal }) {
        const { prompt, followers } = chosen ?? { prompt: { tokens: [] }, followers: [] };
        const tokens = [...prompt.tokens, ...followers];
        return withSequences(handle.language, [prompt, prompt], signal, async ([first = 0, second = 0], decode) => {
          const steps = [
            { sequence: first, tokens, logits: tokens.length },
            { sequence: second, tokens: prompt.tokens, logits: 1 },
          ];
          const logits = at(await decode(steps), 0);
          const { vocabulary } = handle.language.limits;
          return tokens.map((_token, position) => ({
            name: `the logits of position ${position}`,
            values: logits.slice(position * vocabulary, (position + 1) * vocabulary),
          }));
        });
      },
    },
  };
}

async function workload(subject: Subject, { count = defaultCount }: WorkloadOptions): Promise<Workload> {
  const { handle, signal } = subject;
  const prompt = await fittingPrompt(subject, longText(measuredPrompt), measuredPrompt, measuredTokens);
  const read = prompt.source ?? prompt.tokens;
  const followers = Array.from({ length: measuredTokens }, (_token, index) => at(read, index % read.length));
  const generate = (sequences: number): Promise<TokenRates> =>
    generateTokens(handle.language, prompt, followers, sequences, signal);
  return {
    count,
    one: () => generate(1),
    async many() {
      await generate(count);
      return count * (read.length + followers.length);
    },
  };
}

/** Decodes the prompt in each sequence, then the given continuation token by token, as in sampling. */
async function generateTokens(
  model: Language,
  prompt: PromptTokens,
  followers: readonly number[],
  sequences: number,
  signal: AbortSignal | undefined,
): Promise<TokenRates> {
  const started = performance.now();
  const prompts = Array.from({ length: sequences }, () => prompt);
  return withSequences(model, prompts, signal, async (ids, decode) => {
    await decode(ids.map((sequence) => ({ sequence, tokens: prompt.tokens, candidates: 1 })));
    const read = performance.now();
    for (const token of followers) await decode(ids.map((sequence) => ({ sequence, tokens: [token], candidates: 1 })));
    const perSecond = (tokens: number, milliseconds: number): number => (tokens * sequences * 1000) / milliseconds;
    return {
      promptTokensPerSecond: perSecond((prompt.source ?? prompt.tokens).length, read - started),
      decodeTokensPerSecond: perSecond(followers.length, performance.now() - read),
    };
  });
}

/**
 * A prompt from a text, of at most `maxTokens` tokens, that the model accepts together with `behind` further tokens. Shorter lengths are tried, because a model
 * may accept only one length. For a model without a tokenizer, the prompt consists of token ids from all parts of the vocabulary.
 */
async function fittingPrompt(
  { handle, signal }: Subject,
  text: string,
  maxTokens: number | undefined,
  behind: number,
): Promise<PromptTokens> {
  const { limits } = handle.language;
  const facts = await readTokenFacts(handle.manifest);
  const ids = Array.from({ length: maxTokens ?? testTokens }, (_token, index) => index * 7919 + 1);
  const room = Math.max(1, (limits.contextLength ?? Number.POSITIVE_INFINITY) - behind);
  const read = facts.tokenizer?.encode(text, { maxTokens: Math.min(room, maxTokens ?? room) }).ids ?? ids;
  const known = read.slice(0, room).map((id) => id % limits.vocabulary); // a tokenizer may know more tokens than the model
  const whole = promptTokens(facts, known, limits);
  const lengths = Array.from({ length: shortestPrompts }, (_length, index) => shortestPrompts - index);
  let refusal: unknown;
  for (const length of [known.length, ...lengths.filter((each) => each < known.length)]) {
    const { tokens, source } = whole;
    const prompt = source === undefined ? { tokens: tokens.slice(0, length) } : { tokens, source: source.slice(0, length) };
    try {
      await generateTokens(handle.language, prompt, [], 1, signal);
      return prompt;
    } catch (error) {
      if (!(error instanceof InferyardError && (error.code === "INPUT_INVALID" || error.code === "INPUT_TOO_LONG"))) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}
