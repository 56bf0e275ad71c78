/** The tokens of texts, as text-generation-inference gives them: in the details of an answer, and one by one in its stream. */
import type {
  GeneratedLogprob,
  GeneratedText,
  GenerationEvent,
  PromptLogprob,
} from "../../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import { messageWithRemedy, publicError } from "../../http/public-error.ts";
import { serverSentEvent } from "../generation/streamed-body.ts";
import type { TokenTexts } from "../generation/token-texts.ts";
import type { TextsCall } from "./generation-request.ts";

/** Tokens in the form of a protocol. */
export interface ShownTokens {
  readonly texts: TokenTexts;
  /** What stands before the text of each prompt. */
  readonly before: readonly string[];
  readonly call: Pick<TextsCall, "details" | "topTokens">;
}

/** A token as the protocol has it. */
interface TgiToken {
  readonly id: number;
  readonly text: string;
  readonly logprob: number | null;
  readonly special: boolean;
}

/** `text`: what the token adds to its text. Default: the token by itself. */
function tokenOf({ token: id, logprob }: Pick<PromptLogprob, "token" | "logprob">, texts: TokenTexts, text?: string): TgiToken {
  const { text: alone, isSpecial } = texts.shown(id);
  return { id, text: text === undefined || isSpecial ? alone : text, logprob, special: isSpecial };
}

/** Why a text ended. */
function finishReason({ finishReason: reason, stop }: GeneratedText): "length" | "eos_token" | "stop_sequence" {
  if (reason === "length") return "length";
  return typeof stop === "string" ? "stop_sequence" : "eos_token";
}

function ending(result: GeneratedText): object {
  return {
    finish_reason: finishReason(result),
    generated_tokens: result.tokens.length,
    seed: result.seed ?? null,
  };
}

const topTokens = ({ top }: Pick<GeneratedLogprob, "top">, { texts }: ShownTokens): readonly TgiToken[] =>
  top.map((each) => tokenOf(each, texts));

/** The member `details` of an answer. */
export function generatedTokens(result: GeneratedText, shown: ShownTokens): object {
  const { texts, call } = shown;
  const logprobs = result.logprobs ?? [];
  return {
    ...ending(result),
    prefill: (result.promptLogprobs ?? []).map((each) => {
      const { special: _special, ...token } = tokenOf(each, texts);
      return token;
    }),
    tokens: logprobs.map((each) => tokenOf(each, texts)),
    ...(call.topTokens === 0 ? {} : { top_tokens: logprobs.map((each) => topTokens(each, shown)) }),
  };
}

/** The events of a stream: one for each token, the last of which has the whole text. */
export async function* tokenEvents(
  stream: GenerationStream<{ readonly results: readonly GeneratedText[] }>,
  shown: ShownTokens,
): AsyncGenerator<string, void> {
  const { texts, before, call } = shown;
  let held: object | undefined;
  let index = 0;
  for await (const event of stream) {
    if (event.type === "text") {
      if (held !== undefined) yield serverSentEvent({ ...held, generated_text: null, details: null });
      index += 1;
      held = { index, token: eventToken(event, texts), ...topOf(event, shown) };
      continue;
    }
    const { result } = event;
    // A text without tokens has no event of a token that the protocol demands.
    const token = { id: 0, text: "", logprob: null, special: true };
    const details = call.details ? { ...ending(result), input_length: result.promptTokens } : null;
    yield serverSentEvent({ ...(held ?? { index: 1, token }), generated_text: (before[0] ?? "") + result.text, details });
  }
}

/** The event that tells of what ended a stream. */
export function tokenFailure(thrown: unknown): string {
  const error = publicError(thrown);
  return serverSentEvent({
    error: messageWithRemedy(error),
    error_type: error.status >= 500 ? "generation" : "validation",
    code: error.code,
  });
}

function eventToken(event: Extract<GenerationEvent, { readonly type: "text" }>, texts: TokenTexts): TgiToken {
  return tokenOf({ token: event.token, logprob: event.logprob?.logprob ?? null }, texts, event.text);
}

function topOf({ logprob }: Extract<GenerationEvent, { readonly type: "text" }>, shown: ShownTokens): object {
  return shown.call.topTokens === 0 || logprob === undefined ? {} : { top_tokens: topTokens(logprob, shown) };
}
