/** GET /api/v0/models of LM Studio's REST API. Its chat, completions and embeddings are as in OpenAI's API, also below /api/v0. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { getContextLength, getTextConfig } from "../../models/context-length.ts";
import { usualKind } from "../../models/language-tasks.ts";
import { getModelCapabilities } from "./model-capabilities.ts";
import { type ModelFacts, getModelFacts, listModelFacts, requireManifest } from "./model-facts.ts";
import { openAiErrors } from "./openai/errors.ts";
import type { Protocol } from "./protocol.ts";

const model = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    type: z.enum(["llm", "embeddings"]).openapi({ description: "llm: it writes text" }),
    publisher: z.string().openapi({ description: "The part of the name before a slash; else empty" }),
    arch: z.string().openapi({ description: "`model_type` of config.json, else the format" }),
    compatibility_type: z.string().openapi({ description: "Format of the weights", example: "gguf" }),
    quantization: z.string().openapi({ description: "Precision of the weights, where the files say" }),
    state: z.enum(["loaded", "not-loaded"]),
    max_context_length: z.int().optional().openapi({ description: "Tokens; absent: the files do not say" }),
    loaded_context_length: z.int().optional(),
    capabilities: z.array(z.string()).openapi({ description: "tool_use, if its chat template takes tools" }),
  })
  .openapi("LmStudioModel");

const path = "/api/v0/models";

/** The routes /api/v0/models. */
export const lmStudio: Protocol = {
  errors: openAiErrors,
  prefixes: ["/api/v0"],
  routes: (service) => [
    {
      method: "get",
      path,
      summary: "List models, as LM Studio",
      description: "Every model that requests may name and whose files are on this machine",
      response: z.object({ object: z.literal("list"), data: z.array(model) }).openapi("LmStudioModels"),
      answer: async (context) => {
        const known = (await listModelFacts(service)).filter(({ manifest }) => manifest !== undefined);
        return context.json({ object: "list", data: known.map(getModel) }, 200);
      },
    },
    {
      method: "get",
      path: `${path}/{model}`,
      patterns: [`${path}/:model{.+}`],
      summary: "One model, as LM Studio",
      description: "The model",
      response: model,
      answer: async (context) => {
        const name = context.req.param("model") ?? "";
        if ((await service.names.list()).includes(name)) return context.json(getModel(await getModelFacts(service, name)));
        throw new InferyardError("MODEL_NOT_FOUND", `there is no model ${JSON.stringify(name)} here`, {
          remedy: `GET ${path} lists those there are`,
        });
      },
    },
  ],
};

/** Describes a model by its files. Throws what reading them threw. */
function getModel(facts: ModelFacts): z.infer<typeof model> {
  const { name: id, isLoaded } = facts;
  const manifest = requireManifest(facts);
  const { format = "", precision = "" } = manifest.variants[0] ?? {};
  const family = getTextConfig(manifest)["model_type"];
  const context = getContextLength(manifest);
  return {
    id,
    object: "model",
    type: usualKind(manifest) === "language" ? "llm" : "embeddings",
    publisher: id.includes("/") ? (id.split("/", 1)[0] ?? "") : "",
    arch: typeof family === "string" ? family : format,
    compatibility_type: format,
    quantization: precision,
    state: isLoaded ? "loaded" : "not-loaded",
    ...omitUndefined({ max_context_length: context, loaded_context_length: isLoaded ? context : undefined }),
    capabilities: getModelCapabilities(manifest).includes("tools") ? ["tool_use"] : [],
  };
}
