/** Limits of single models, by their references: a model has the same under each of its names. */
import { isDeepStrictEqual } from "node:util";
import { InferyardError } from "../../errors.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { AdmissionLimits } from "./admission.ts";
import type { ModelLimits, ServerSettings } from "../server-settings.ts";

export interface PerModelLimits {
  readonly admission: Partial<AdmissionLimits>;
  readonly timeoutMs?: number;
}

/** CONFIG_INVALID where two names of one model have different limits. */
export function modelLimits({ models = {} }: ServerSettings): ReadonlyMap<string, PerModelLimits> {
  const limits = new Map<string, { readonly name: string; readonly own: ModelLimits }>();
  for (const [name, model] of Object.entries(models)) {
    if (typeof model === "string") continue;
    const { reference, ...own } = model;
    if (Object.values(own).every((limit) => limit === undefined)) continue;
    const before = limits.get(reference);
    if (before !== undefined && !isDeepStrictEqual(before.own, own)) {
      throw new InferyardError(
        "CONFIG_INVALID",
        `server.models: ${name} and ${before.name} are one model with different limits`,
        {
          remedy: "say the limits of a model under one of its names alone",
        },
      );
    }
    limits.set(reference, { name, own });
  }
  return new Map(Array.from(limits, ([reference, { own }]) => [reference, limitsOf(own)]));
}

function limitsOf({ maxConcurrentRequests: running, maxQueue: waiting, requestTimeout }: ModelLimits): PerModelLimits {
  return {
    admission: { ...(running === undefined ? {} : { running }), ...(waiting === undefined ? {} : { waiting }) },
    ...(requestTimeout === undefined ? {} : { timeoutMs: parseDuration(requestTimeout) }),
  };
}
