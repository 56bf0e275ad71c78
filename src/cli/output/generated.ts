/** How the commands that generate text show it. */
import type { ChatAnswer } from "../../tasks/generation/chat/chat.ts";
import type { GeneratedText, GenerationEvent } from "../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../tasks/generation/generation-stream.ts";
import type { TaskRun } from "../../api/task-requests.ts";
import { type Terminal, writeAll } from "../terminal.ts";
import { formatMilliseconds, plural } from "./units.ts";

/** Writes the texts to stdout: one as it is generated, several when they are finished, each with its number. */
export async function showTexts<Result extends TaskRun & { readonly results: readonly GeneratedText[] }>(
  stream: GenerationStream<Result>,
  isOne: boolean,
  terminal: Terminal,
): Promise<Result> {
  if (isOne) {
    for await (const event of stream) await showEvent(event, terminal);
    await writeAll(terminal.stdout, "\n");
    return stream.finish();
  }
  const result = await stream.finish();
  for (const [index, { text }] of result.results.entries()) await writeAll(terminal.stdout, `[${index + 1}] ${text}\n`);
  return result;
}

async function showEvent({ text }: GenerationEvent, terminal: Terminal): Promise<void> {
  if (text !== "") await writeAll(terminal.stdout, text);
}

/** "12 tokens in 0.2 s (60.0 tokens/s)", and how many texts were cut at their greatest length. */
export function describeGeneration(
  results: readonly (Pick<GeneratedText, "tokens" | "promptLookup"> & { readonly finishReason: string })[],
  milliseconds: number,
): string {
  const tokens = results.reduce((sum, each) => sum + each.tokens.length, 0);
  const speed = ((tokens * 1000) / Math.max(milliseconds, 1)).toFixed(1);
  const cut = results.filter(({ finishReason }) => finishReason === "length").length;
  const ended = cut === 0 ? "" : ` · ${cut === results.length ? "" : `${cut} `}cut at the greatest length`;
  const lookups = results.flatMap(({ promptLookup }) => promptLookup ?? []);
  const accepted = lookups.reduce((sum, each) => sum + each.accepted, 0);
  const drafted = lookups.reduce((sum, each) => sum + each.drafted, 0);
  const copied = drafted === 0 ? "" : ` · ${accepted} of ${drafted} looked-up tokens kept`;
  return `${plural(tokens, "token")} in ${formatMilliseconds(milliseconds)} · ${speed} tokens/s${copied}${ended}`;
}

/** A text as JSON, in snake case. */
export function generatedFields({
  finishReason,
  promptTokens,
  cachedTokens,
  promptLookup,
  timings,
  ...rest
}: GeneratedText | ChatAnswer): object {
  const { firstTokenMs, totalMs } = timings;
  return {
    ...rest,
    finish_reason: finishReason === "toolCalls" ? "tool_calls" : finishReason,
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    ...(promptLookup === undefined ? {} : { prompt_lookup: promptLookup }),
    timings: { first_token_ms: firstTokenMs, total_ms: totalMs },
  };
}
