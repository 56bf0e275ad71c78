/** The models of the section `server`. */
import { InferyardError } from "../../contract/errors.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { RuntimeSettings } from "../../runtime/options/runtime-settings.ts";
import type { ServerModel } from "../../settings/server-maps.ts";
import type { ServedModel } from "../server-settings.ts";

/** The models of a server as its parts take them. */
export interface ModelsOfServer {
  /** For the handler, by the name that clients use. */
  readonly served: Readonly<Record<string, ServedModel>>;
  /** Settings of single models for the runtime. */
  readonly settings: NonNullable<RuntimeSettings["models"]>;
  /** Names of those that are loaded at the start. */
  readonly early: readonly string[];
}

/**
 * The models of the section. `settings`: those of single models in the settings of the runtime. Throws CONFIG_INVALID if two names of one model have
 * different strategies.
 */
export function getModels(
  models: Readonly<Record<string, string | ServerModel>>,
  settings: NonNullable<RuntimeSettings["models"]>,
): ModelsOfServer {
  const entries = Object.entries(models).map(([name, model]) => ({
    name,
    strategy: "lazy" as const,
    ...(typeof model === "string" ? { reference: model } : model),
  }));
  const ofRuntime = { ...settings };
  for (const { reference, strategy, name } of entries) {
    if (strategy === "lazy") continue;
    const before = ofRuntime[reference]?.strategy;
    if (before !== undefined && before !== strategy) {
      throw new InferyardError(
        "CONFIG_INVALID",
        `server.models: ${name} is ${strategy}, and another name of ${reference} ${before}`,
        {
          remedy: "give one model one strategy",
        },
      );
    }
    ofRuntime[reference] = { ...ofRuntime[reference], strategy };
  }
  return {
    served: Object.fromEntries(entries.map(({ name, strategy: _strategy, ...model }) => [name, model])),
    settings: ofRuntime,
    early: entries.filter(({ strategy }) => strategy !== "lazy").map(({ name }) => name),
  };
}

/** The longest request timeout in milliseconds: no request waits for a run that takes longer. `requestTimeout`: that of the server. */
export function getMaxTimeout(models: Readonly<Record<string, string | ServerModel>>, requestTimeout: number | string): number {
  const own = Object.values(models).flatMap((model) => (typeof model === "string" ? [] : (model.requestTimeout ?? [])));
  return Math.max(...[requestTimeout, ...own].map(parseDuration));
}
