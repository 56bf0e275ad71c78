/** GET /api/tags and /api/ps, POST /api/show: the models there are, those in memory, and one of them. Nothing is loaded for it. */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { getContextLength } from "../../../models/context-length.ts";
import { ggufArchitectureKey } from "../../../models/gguf/architecture-key.ts";
import { toSha256 } from "../../../storage/sha256.ts";
import { getCaller } from "../../http/context.ts";
import { nameField, requestObject } from "../../http/field-schemas.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type ModelFacts, getModelFacts, listModelFacts, requireManifest } from "../model-facts.ts";
import { modelInfo, ollamaCapabilities, samplingParameters } from "./model-description.ts";
import { withoutLatest } from "./request-fields.ts";

const details = z.object({
  parent_model: z.string(),
  format: z.string().openapi({ example: "onnx" }),
  family: z
    .string()
    .openapi({ description: "`model_type` of the model's config.json or the architecture of its GGUF file, else its format" }),
  families: z.array(z.string()),
  parameter_size: z.string().openapi({ description: "Empty: not counted" }),
  quantization_level: z
    .string()
    .openapi({ description: "Precision of the weights, where the files say, else empty", example: "fp32" }),
});

const described = {
  name: z.string(),
  model: z.string(),
  size: z.int().openapi({ description: "Bytes of the weights" }),
  digest: z.string().openapi({
    description: "SHA-256 of the weights, where the model's files state it, else of their name, size and time",
  }),
  details,
};
const listed = z.object({ ...described, modified_at: z.string() });
const running = z.object({
  ...described,
  size: z.int().openapi({ description: "Bytes that it holds in memory and on devices" }),
  size_vram: z.int().openapi({ description: "Bytes of it on devices other than the CPU" }),
  context_length: z.int().optional(),
  expires_at: z
    .string()
    .openapi({ description: "When its keep-alive ends, counted from now while it is in use; the year 9999: never" }),
});
const shown = z
  .object({
    modified_at: z.string(),
    details,
    model_info: z.record(z.string(), z.unknown()).openapi({
      description:
        "general.architecture, general.basename; and by the architecture sizes such as context_length (maximum tokens of a prompt with its answer, or of a text), where the files say",
    }),
    capabilities: z.array(z.string()).openapi({
      description: "completion, tools, thinking, insert, embedding, as Ollama; and what else it can do here",
      example: ["embedding", "rerank"],
    }),
    template: z.string().optional().openapi({ description: "The model's chat template, in Jinja" }),
    parameters: z.string().optional().openapi({ description: "What the model's files say of sampling, as lines of a Modelfile" }),
    license: z.string().optional(),
  })
  .openapi("OllamaShow");

const showRequest = requestObject({
  model: nameField().optional().openapi({ example: "builtin" }),
  name: nameField().optional().openapi({ description: "Older name of `model`" }),
  verbose: z.boolean().optional().openapi({ description: "Accepted and ignored: tokens and merges are not listed" }),
}).openapi("OllamaShowRequest");

/** `GET /api/tags`, `GET /api/ps` and `POST /api/show`. */
export function ollamaModelRoutes(service: Service): Route[] {
  return [
    {
      method: "get",
      path: "/api/tags",
      summary: "List models, as Ollama",
      description: "Every model that requests may name and whose files are on this machine",
      response: z.object({ models: z.array(listed) }).openapi("OllamaTags"),
      answer: async (context) => {
        const models = (await listModelFacts(service)).map((facts) => describe(facts).catch(() => []));
        return context.json({ models: (await Promise.all(models)).flat() }, 200);
      },
    },
    {
      method: "get",
      path: "/api/ps",
      summary: "List the models in memory, as Ollama",
      description: "Those that requests may name",
      response: z.object({ models: z.array(running) }).openapi("OllamaProcesses"),
      answer: async (context) => {
        const names = await service.names.list();
        const models = await Promise.all(names.map((model) => runningModels(service, model)));
        return context.json({ models: models.flat() }, 200);
      },
    },
    post({
      path: "/api/show",
      summary: "One model, as Ollama",
      schema: showRequest,
      response: shown,
      answer: async (request, context) => {
        const written = withoutLatest(request.model ?? request.name);
        if (written === undefined) throw invalidInput("the request names no model", "give its name in `model`");
        const { name: model } = await service.names.resolve(getCaller(context), written);
        const facts = await getModelFacts(service, model);
        const { modified_at, details } = await describe(facts);
        const manifest = requireManifest(facts);
        const { license, chatTemplates, text } = manifest;
        // A tokenizer that cannot be read fills in nothing.
        const tokenizer = text && (await service.runtime.getTokenizer(manifest).catch(() => undefined));
        const body = {
          modified_at,
          details,
          model_info: modelInfo(manifest, details.family),
          capabilities: ollamaCapabilities(manifest, tokenizer),
          ...omitUndefined({ template: chatTemplates?.["default"], parameters: samplingParameters(manifest), license }),
        };
        return context.json(body, 200);
      },
    }),
  ];
}

/** Describes a model by its files. Throws what reading them threw. */
async function describe(facts: ModelFacts): Promise<z.infer<typeof listed>> {
  const { name: model, fetched } = facts;
  const manifest = requireManifest(facts);
  const [variant] = manifest.variants;
  const { format = "", bytes = 0, precision, sha256, config = {}, path = manifest.directory } = variant ?? {};
  const stated = [config["model_type"], config[ggufArchitectureKey]].find((name) => typeof name === "string");
  const family = stated ?? format;
  const modified = fetched ?? (await stat(path)).mtime;
  return {
    name: model,
    model,
    modified_at: modified.toISOString(),
    size: bytes,
    digest: sha256 ?? fileDigest(basename(path), bytes, modified),
    details: {
      parent_model: "",
      format,
      family,
      families: [family],
      parameter_size: "",
      quantization_level: precision ?? "",
    },
  };
}

/** Tells files from one another where their content has not been read: hexadecimal, 64 characters. */
function fileDigest(name: string, bytes: number, modified: Date): string {
  return toSha256(`${name}\n${bytes}\n${modified.toISOString()}`);
}

const never = "9999-12-31T23:59:59Z";

/** The loaded instances of a model, one for each target that it was loaded on. */
async function runningModels(service: Service, model: string): Promise<z.infer<typeof running>[]> {
  const { reference } = await service.names.resolve({}, model);
  const resident = service.runtime.memory().models.filter((one) => one.reference === reference);
  if (resident.length === 0) return [];
  const facts = await getModelFacts(service, model);
  const { modified_at: _modified, ...about } = await describe(facts);
  const length = getContextLength(requireManifest(facts));
  return resident.map(({ bytes, expiresAt }) => {
    const { memory = 0, ...devices } = bytes;
    const onDevices = Object.values(devices).reduce((sum, held) => sum + held, 0);
    return {
      ...about,
      size: Math.round(memory + onDevices),
      size_vram: Math.round(onDevices),
      ...omitUndefined({ context_length: length }),
      expires_at: expiresAt === null ? never : new Date(expiresAt).toISOString(),
    };
  });
}
