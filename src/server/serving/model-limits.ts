/** Limits of single models. They belong to the reference of the model, so that they hold under each of its names. */
import { isDeepStrictEqual } from "node:util";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { AdmissionLimits } from "./admission.ts";
import type { ModelLimits, ServerSettings } from "../server-settings.ts";

/** Limits of single models in addition to the server's. */
export interface PerModelLimits {
  readonly admission: Partial<AdmissionLimits>;
  /** Request timeout in milliseconds, in place of the server's. Default: the server's. */
  readonly timeoutMs?: number;
}

/** Limits of the models that have their own, by reference. Throws CONFIG_INVALID if two names of one model have different limits. */
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
        `server.models: ${name} and ${before.name} name the same model with different limits`,
        {
          remedy: "set the limits of a model under one of its names only",
        },
      );
    }
    limits.set(reference, { name, own });
  }
  return new Map(Array.from(limits, ([reference, { own }]) => [reference, getLimits(own)]));
}

function getLimits({ maxConcurrentRequests: maxRunning, maxQueue: maxWaiting, requestTimeout }: ModelLimits): PerModelLimits {
  return {
    admission: {
      ...omitUndefined({ maxRunning, maxWaiting }),
    },
    ...(requestTimeout === undefined ? {} : { timeoutMs: parseDuration(requestTimeout) }),
  };
}
