/** How the commands that generate text show it. */
import type { ChatAnswer } from "../../tasks/generation/chat/chat.ts";
import type { GeneratedText, GenerationEvent } from "../../tasks/generation/generated-text.ts";
import type { DraftCounts } from "../../tasks/generation/speculation/speculation.ts";
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
  results: readonly (Pick<GeneratedText, "tokens" | "promptLookup" | "draftModel"> & { readonly finishReason: string })[],
  milliseconds: number,
): string {
  const tokens = results.reduce((sum, each) => sum + each.tokens.length, 0);
  const speed = ((tokens * 1000) / Math.max(milliseconds, 1)).toFixed(1);
  const cut = results.filter(({ finishReason }) => finishReason === "length").length;
  const ended = cut === 0 ? "" : ` · ${cut === results.length ? "" : `${cut} `}cut at the greatest length`;
  const copied = describeDrafts(
    results.map(({ promptLookup }) => promptLookup),
    "looked-up",
  );
  const drafted = describeDrafts(
    results.map(({ draftModel }) => draftModel),
    "drafted",
  );
  return `${plural(tokens, "token")} in ${formatMilliseconds(milliseconds)} · ${speed} tokens/s${copied}${drafted}${ended}`;
}

/** " · 5 of 8 drafted tokens kept", or nothing if there were none. */
function describeDrafts(counts: readonly (DraftCounts | undefined)[], kind: string): string {
  const sum = (name: keyof DraftCounts): number => counts.reduce((total, each) => total + (each?.[name] ?? 0), 0);
  return sum("drafted") === 0 ? "" : ` · ${sum("accepted")} of ${sum("drafted")} ${kind} tokens kept`;
}

/** A text as JSON, in snake case. */
export function generatedFields({
  finishReason,
  promptTokens,
  cachedTokens,
  promptLookup,
  draftModel,
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
    ...(draftModel === undefined ? {} : { draft_model: draftModel }),
    timings: { first_token_ms: firstTokenMs, total_ms: totalMs },
  };
}
