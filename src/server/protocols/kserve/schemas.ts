/** Response bodies of the Open Inference Protocol, for the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { type Datatype, datatypes } from "./datatypes.ts";

/** An input or output of a model. */
export interface TensorMetadata {
  name: string;
  datatype: Datatype;
  /** Dimensions; -1 where the size is dynamic. */
  shape: number[];
}

/** Metadata of a model. */
export interface ModelMetadata {
  name: string;
  versions: string[];
  platform: string;
  inputs: TensorMetadata[];
  outputs: TensorMetadata[];
  properties: Record<string, string>;
}

const tensor = z.object({ name: z.string(), datatype: z.enum(datatypes), shape: z.array(z.int()) });

/** Body of GET /v2. */
export const serverMetadata: z.ZodType = z
  .object({ name: z.string(), version: z.string(), extensions: z.array(z.string()) })
  .openapi("ServerMetadata");

/** Body of GET /v2/models/{model}. */
export const modelMetadataBody: z.ZodType<ModelMetadata> = z
  .object({
    name: z.string(),
    versions: z.array(z.string()),
    platform: z.string(),
    inputs: z.array(tensor),
    outputs: z.array(tensor),
    properties: z.record(z.string(), z.string()),
  })
  .openapi("ModelMetadata");

/** JSON of the response to an inference request. */
export const inferResponse: z.ZodType = z
  .object({
    model_name: z.string(),
    model_version: z.string(),
    id: z.string().optional(),
    outputs: z.array(
      tensor.extend({
        data: z.array(z.union([z.number(), z.string(), z.boolean()])).optional(),
        parameters: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
  })
  .openapi("InferResponse");

/** Body of POST /v2/repository/index. */
export const repositoryIndex: z.ZodType = z
  .array(z.object({ name: z.string(), version: z.string(), state: z.enum(["READY", "UNAVAILABLE"]), reason: z.string() }))
  .openapi("RepositoryIndex");
