/** The bodies of the Open Inference Protocol, for the document. */
import { z } from "@hono/zod-openapi";
import { type Datatype, datatypes } from "./datatypes.ts";
import { loadProgressSchema } from "../load-progress-body.ts";

interface ServerMetadata {
  name: string;
  version: string;
  extensions: string[];
}

export interface TensorMetadata {
  name: string;
  datatype: Datatype;
  /** -1 where the size is free. */
  shape: number[];
}

export interface ModelMetadata {
  name: string;
  versions: string[];
  platform: string;
  inputs: TensorMetadata[];
  outputs: TensorMetadata[];
  properties: Record<string, string>;
}

interface IndexRow {
  name: string;
  version: string;
  state: "READY" | "UNAVAILABLE";
  reason: string;
}

const tensor = z.object({ name: z.string(), datatype: z.enum(datatypes), shape: z.array(z.int()) });

export const serverMetadata: z.ZodType<ServerMetadata> = z
  .object({ name: z.string(), version: z.string(), extensions: z.array(z.string()) })
  .openapi("ServerMetadata");

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

export const kserveErrorBody: z.ZodType = z
  .object({
    error: z.string(),
    code: z.string(),
    retryable: z.boolean(),
    retry_after_ms: z.number().optional(),
    loading: loadProgressSchema.optional(),
    request_id: z.string(),
  })
  .openapi("InferenceError");

export const repositoryIndex: z.ZodType<IndexRow[]> = z
  .array(z.object({ name: z.string(), version: z.string(), state: z.enum(["READY", "UNAVAILABLE"]), reason: z.string() }))
  .openapi("RepositoryIndex");
