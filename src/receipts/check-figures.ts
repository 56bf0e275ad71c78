/** Checks whether the figures of a receipt can be true: times that add up, and a speed that a machine can reach. */
import { bandwidthBound, gigabytes } from "./memory-bandwidth.ts";
import type { Receipt } from "./receipt.ts";
import type { Finding, Refusal } from "./verification.ts";

/** Relative difference that rounding explains. */
const tolerance = 1e-6;
/** Milliseconds by which clocks of one machine may differ: `Date` jumps when the time is set, `performance.now` does not. */
const clockSlackMs = 1000;
/** Milliseconds by which the clocks of two machines may differ. */
const futureSlackMs = 5 * 60_000;
/** Tokens per second that no language model has on any machine, whatever its size: each token needs at least one call into the engine. */
const maxTokensPerSecond = 1e6;

/** Refusals about times. `now`: in milliseconds since 1970. */
export function* checkTimes(
  { figures, startedAt, finishedAt, decision, input, output }: Receipt,
  now: number,
): Generator<Refusal> {
  const impossible = (reason: string): Refusal => ({ code: "impossible-times", reason });
  const inTheFuture = (reason: string): Refusal => ({ code: "in-the-future", reason });
  const [started, finished, decided] = [startedAt, finishedAt, decision.at].map((time) => Date.parse(time)) as [
    number,
    number,
    number,
  ];
  if (finished > now + futureSlackMs)
    yield inTheFuture(`it ended at ${finishedAt}, and it is ${new Date(now).toISOString()} now`);
  if (started > now + futureSlackMs) yield inTheFuture(`it began at ${startedAt}, and it is ${new Date(now).toISOString()} now`);
  if (finished < started) yield impossible(`it ended at ${finishedAt}, before it began at ${startedAt}`);
  // A model that was loaded before has its decision from then.
  if (decided > finished + clockSlackMs) yield impossible(`the decision is of ${decision.at}, after the run`);
  const { loadMs, prefillMs, decodeMs, timeToFirstTokenMs, totalMs, promptTokens, generatedTokens } = figures;
  if (loadMs + totalMs > finished - started + clockSlackMs)
    yield impossible(
      `loading took ${loadMs} ms and the measured run ${totalMs} ms, and both began and ended within ${finished - started} ms`,
    );
  if (prefillMs + decodeMs > totalMs * (1 + tolerance))
    yield impossible(`prefill and decode took ${prefillMs} and ${decodeMs} ms, which is more than the whole run: ${totalMs} ms`);
  if (timeToFirstTokenMs < prefillMs * (1 - tolerance))
    yield impossible(`the first token was there after ${timeToFirstTokenMs} ms, and the prompt was read after ${prefillMs} ms`);
  if (timeToFirstTokenMs > totalMs * (1 + tolerance))
    yield impossible(`the first token was there after ${timeToFirstTokenMs} ms of ${totalMs} ms`);
  if (generatedTokens !== output.tokens.length)
    yield impossible(`it claims ${generatedTokens} generated tokens, and its output has ${output.tokens.length}`);
  if (generatedTokens === 0) yield impossible("it generated no token");
  // Models with an encoder read their prompt there: the decoder begins with one token.
  if (promptTokens > input.tokens.length)
    yield impossible(`it claims ${promptTokens} tokens of the prompt, and its input has ${input.tokens.length}`);
  const claims = [
    ["prefill", figures.prefillTokensPerSecond, rate(promptTokens, prefillMs)],
    ["decode", figures.decodeTokensPerSecond, generatedTokens < 2 ? null : rate(generatedTokens - 1, decodeMs)],
  ] as const;
  for (const [what, claimed, computed] of claims) {
    if (claimed === null && computed === null) continue;
    if (computed === Infinity) {
      yield impossible(`its tokens of ${what} took 0 ms`);
      continue;
    }
    if (claimed !== null && computed !== null && Math.abs(claimed - computed) <= computed * tolerance) continue;
    yield impossible(
      `it claims ${shown(claimed)} tokens per second of ${what}, and its tokens and times make ${shown(computed)}`,
    );
  }
}

/** Refuses a speed that the machine cannot have. */
export function* checkSpeed(receipt: Receipt): Generator<Finding> {
  const { figures, model } = receipt;
  const { decodeTokensPerSecond: decode, prefillTokensPerSecond: prefill } = figures;
  const impossible = (reason: string): Refusal => ({ code: "impossible-speed", reason });
  for (const [what, value] of [
    ["decode", decode],
    ["prefill", prefill],
  ] as const) {
    if (value !== null && value > maxTokensPerSecond)
      yield impossible(
        `it claims ${Math.round(value)} tokens per second of ${what}, and no engine reaches ${maxTokensPerSecond}`,
      );
  }
  const { weightBytesPerToken: bytes, files } = model;
  const { format } = receipt.decision.model;
  if (bytes === null && format !== "onnx")
    yield impossible(`it does not say how many bytes of weights a token needs, which ${format} files tell`);
  if (bytes === null || decode === null) {
    const reason =
      bytes === null
        ? "the format of the model does not say how many bytes a token needs: the speed was not held against the memory"
        : "it generated one token, so that there is no speed of decoding";
    return yield { unchecked: reason };
  }
  const held = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > held) yield impossible(`each token needs ${bytes} bytes of weights, and the model's files have ${held}`);
  const bound = bandwidthBound(receipt, bytes);
  const needed = decode * bytes;
  if (needed > bound.bytesPerSecond) {
    yield impossible(
      `${shown(decode)} tokens per second of decode, each of which reads ${bytes} bytes of weights, need ${gigabytes(needed)}, and this machine has at most ${gigabytes(bound.bytesPerSecond)}: ${bound.reason}`,
    );
  }
}

function rate(tokens: number, milliseconds: number): number {
  return (tokens * 1000) / milliseconds;
}

function shown(value: number | null): string {
  return value === null ? "no" : value.toPrecision(6);
}
