/** Ollama's request field `keep_alive`: how long a model stays in memory after the request. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InferyardError } from "../../../contract/errors.ts";
import { type Env, getCaller } from "../../http/context.ts";
import type { ServedModelName } from "../../serving/model-names.ts";
import type { Service } from "../../serving/service.ts";

/** The field as clients write it; null counts as absent. */
export type WrittenKeepAlive = number | string | null | undefined;

/** Response header that says that the field had no effect, and why. */
const refusalHeader = "x-inferyard-keep-alive";
const refusal = "ignored: keep_alive is obeyed for administrators, who may load and unload models";

/** Schema of the field. */
export const keepAliveField: z.ZodOptional<z.ZodType<number | string | null>> = z
  .union([z.number(), z.string().max(64), z.null()])
  .check((context) => {
    const problem = keepAliveProblem(context.value);
    if (problem !== undefined) context.issues.push({ code: "custom", input: context.value, message: problem });
  })
  .openapi({
    description:
      'How long the model stays in memory unused: seconds, or a duration such as "5m" or "1h30m"; 0 unloads it, a negative one keeps it. Obeyed for administrators, who may unload models. For others it is ignored, which the header x-inferyard-keep-alive says; a request that only loads or unloads is refused',
    example: "5m",
  })
  .optional();

/** LM Studio's field `ttl`, which its clients write in the requests of OpenAI's routes. */
export const ttlField: z.ZodOptional<z.ZodNumber> = z.number().optional().openapi({
  description: "As LM Studio: seconds that the model stays in memory unused. Obeyed for administrators, as `keep_alive`",
});

/** Applies the field to the model of a call that has been answered or is streamed. For a caller who may not unload models a response header says that it is ignored. */
export async function applyKeepAlive(
  service: Service,
  context: Context<Env>,
  model: ServedModelName,
  written: WrittenKeepAlive,
): Promise<void> {
  const milliseconds = keepAliveMs(written);
  if (milliseconds === undefined) return;
  if (context.get("role") === "admin") await service.calls.setKeepAlive(model, milliseconds);
  else context.header(refusalHeader, refusal);
}

/**
 * Loads the language model of a request without a prompt, or unloads it if the field is 0, as `ollama stop` requests. Returns which of both it did.
 * Throws FORBIDDEN if the caller gives the field and may not unload models.
 */
export async function loadOrUnload(
  service: Service,
  context: Context<Env>,
  model: string | undefined,
  written: WrittenKeepAlive,
): Promise<{ readonly model: string; readonly reason: "load" | "unload" }> {
  const caller = getCaller(context);
  const milliseconds = keepAliveMs(written);
  if (milliseconds !== undefined && caller.role !== "admin") throw forbidden(milliseconds);
  if (milliseconds === 0) {
    const { name, reference } = await service.names.resolve(caller, model);
    await service.runtime.unload(reference, { signal: caller.signal });
    return { model: name, reason: "unload" };
  }
  const call = { model, texts: 0, runsLanguageModel: true };
  const outcome = await service.calls.run(caller, call, async () => null);
  await applyKeepAlive(service, context, outcome.resolved, written);
  return { model: outcome.model, reason: "load" };
}

function forbidden(milliseconds: number): InferyardError {
  const effect = milliseconds === 0 ? "unloads the model" : "sets how long the model stays in memory";
  return new InferyardError("FORBIDDEN", `keep_alive without a prompt ${effect}, and this client may not`, {
    remedy: "use a key with the role admin, or leave keep_alive out",
  });
}

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Longer durations count as endless, since dates end. */
const longestMs = 100 * 365 * 24 * 3_600_000;

/**
 * The field in milliseconds: a number of seconds, or a duration as Go writes it (time.ParseDuration). Infinity for a negative one and for more than a
 * hundred years; undefined if the field is absent, or no duration.
 */
export function keepAliveMs(written: WrittenKeepAlive): number | undefined {
  if (written === undefined || written === null) return undefined;
  if (typeof written === "number") return bounded(written * 1000);
  const { sign, rest = "" } = /^(?<sign>[+-]?)(?<rest>.+)$/.exec(written)?.groups ?? {};
  const parts = [...rest.matchAll(/(?<amount>\d+(?:\.\d*)?|\.\d+)(?<unit>ns|us|µs|μs|ms|s|m|h)/g)];
  if (rest !== "0" && (parts.length === 0 || parts.map(([part]) => part).join("") !== rest)) return undefined;
  const sum = parts.reduce((ms, { groups }) => ms + Number(groups?.["amount"]) * (unitMs[groups?.["unit"] ?? ""] ?? 0), 0);
  return bounded(sign === "-" ? -sum : sum);
}

function bounded(milliseconds: number): number {
  return milliseconds < 0 || milliseconds > longestMs ? Number.POSITIVE_INFINITY : Math.max(milliseconds, 0);
}

/** Why the field is refused; undefined for a duration. */
function keepAliveProblem(written: number | string | null): string | undefined {
  if (written === null || keepAliveMs(written) !== undefined) return undefined;
  return `keep_alive is ${JSON.stringify(written)}, which is no duration: write seconds as a number, or a duration such as "5m"`;
}
