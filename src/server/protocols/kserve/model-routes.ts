/** What the routes of a model under /v2/models have in common. */
import type { Context } from "hono";
import { InferyardError } from "../../../contract/errors.ts";
import type { Env } from "../../http/context.ts";
import type { CallResult, Caller } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";
import { fileMetadata, loadedMetadata, notLoaded } from "./metadata.ts";
import type { ModelMetadata } from "./schemas.ts";

/** Every model has this one version. */
export const modelVersion = "1";

/** Paths of a model route, with and without a version. */
export function getPaths(suffix: string): readonly string[] {
  return [`/v2/models/{model}${suffix}`, `/v2/models/{model}/versions/{version}${suffix}`];
}

/** The model of the path. Throws MODEL_NOT_FOUND for a version it does not have. */
export function getModel(context: Context<Env>): string {
  const { model = "", version = modelVersion } = context.req.param() as { readonly model?: string; readonly version?: string };
  if (version === modelVersion) return model;
  throw new InferyardError("MODEL_NOT_FOUND", `the model ${JSON.stringify(model)} has no version ${JSON.stringify(version)}`, {
    remedy: `ask for version ${modelVersion}, or for none`,
  });
}

/** Metadata of a model, without loading it. Throws MODEL_LOADING if its files are not on this machine. */
export function describeModel(service: Service, caller: Caller, model: string): Promise<CallResult<ModelMetadata>> {
  return service.calls.describe(caller, model, {
    loaded: async (handle) => loadedMetadata(model, modelVersion, handle),
    files: async (manifest) => fileMetadata(model, modelVersion, manifest),
    missing: () => notLoaded(model, { reason: "its files are not on this machine yet" }),
  });
}
