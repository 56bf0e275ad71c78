/** POST /api/embed/outputs: embeddings of texts in several forms, from one run of the model. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { type EmbedOutputsOptions, type EmbeddingForm, embeddingForms } from "../../../tasks/embedding/output-options.ts";
import {
  arrayAlternative,
  isText,
  listField,
  modelField,
  nameField,
  oneOfFields,
  requestObject,
  textField,
  texts,
} from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { runTask } from "../run-task.ts";
import { tokenRows } from "../text-vectors.ts";

const forms = listField<EmbeddingForm>(z.enum(embeddingForms), { min: 1, max: embeddingForms.length });

const vector = z.array(z.number());
const length = z.int().optional();
const response = z
  .object({
    model: z.string(),
    dimensions: z
      .object({ dense: length, sparse: length, multi_vector: length })
      .openapi({ description: "Number of components of one vector; of a sparse one the size of the vocabulary" }),
    dense: z.array(vector).optional().openapi({ description: "A vector per text" }),
    sparse: z
      .array(z.object({ indices: z.array(z.int()), values: vector }))
      .optional()
      .openapi({ description: "Weights of vocabulary tokens of each text, the largest first" }),
    multi_vector: z.array(z.array(vector)).optional().openapi({ description: "A vector per token of each text" }),
    tokens: z.array(z.int()).openapi({ description: "Number of tokens read of each text" }),
  })
  .openapi("EmbedOutputsResponse");

/** Dense, sparse and multi-vector embeddings from one run of a model. */
export function embedOutputsRoute(service: Service, limit: number): Route {
  return post({
    path: "/api/embed/outputs",
    summary: "Embeddings of texts in several forms",
    schema: requestObject({
      model: modelField,
      input: oneOfFields<string | string[]>("a string or an array of strings", [
        textField,
        arrayAlternative(texts(limit), isText),
      ]).openapi({
        description: "A text, or a list of texts",
        example: "hello",
      }),
      outputs: forms.openapi({ description: "Forms of the embeddings: dense, sparse, multi-vector", example: ["dense"] }),
      prompt: nameField().optional().openapi({ description: "Name of a prompt of the model that is prepended to every text" }),
      truncate: z
        .enum(["cut", "error"])
        .optional()
        .openapi({ description: "What to do with texts longer than the model reads. Default: cut" }),
    }).openapi("EmbedOutputsRequest"),
    response,
    answer: async ({ model, input, outputs, prompt, truncate }, context) => {
      const list = typeof input === "string" ? [input] : input;
      const options: EmbedOutputsOptions = { outputs, ...omitUndefined({ prompt, truncate }) };
      const call = { model, texts: list.length, key: ["embedOutputs", list, options] as const };
      const outcome = await runTask(service, context, call, (on) => service.runtime.embed(list, { ...options, ...on }));
      const { dense, sparse, multiVector, dimensions, tokens } = outcome.result;
      const { multiVector: tokenDimensions = 0, ...lengths } = dimensions;
      const body = {
        model: outcome.model,
        dimensions: multiVector === undefined ? lengths : { ...lengths, multi_vector: tokenDimensions },
        ...omitUndefined({
          dense,
          sparse: sparse?.map(({ indices, values }) => ({ indices: [...indices], values })),
          multi_vector: multiVector?.map((rows) => tokenRows(rows, tokenDimensions)),
        }),
        tokens,
      };
      return jsonResponse(context, body, outcome);
    },
  });
}
