/**
 * POST /v1/models/{model}:predict: KServe's V1 protocol, which TensorFlow Serving has as well. A row of the request is a text (for a ranking model: a pair of
 * query and document), or the values of the model's own inputs by name; a row of the response is what the model makes of it.
 */
import { z } from "@hono/zod-openapi";
import { at } from "../../../contract/checked.ts";
import type { ModelHandle } from "../../../runtime/model-handle.ts";
import { type Tensor, type TensorMap, elementCount } from "../../../contract/tensor.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { isText, listField, members, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, jsonRequest } from "../../http/routes/route.ts";
import { requestLimits } from "../../http/request-limits.ts";
import type { Service } from "../../serving/service.ts";
import { toDatatype } from "./datatypes.ts";
import { textLabels } from "../model-capabilities.ts";
import { runTask } from "../run-task.ts";
import { invalid, tensorFromJson, tensorToJson, unsupported } from "./json-data.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody } from "../../http/json-body.ts";
import { requestedTask, runTexts, textInput } from "./text-models.ts";

const toRequest = (limit: number) =>
  requestObject({
    instances: listField(z.unknown(), { min: 1, max: limit }).openapi({
      description: "Texts, objects with a `text`, pairs [query, document], or objects with the values of the model's inputs",
      example: ["a cat", "a dog"],
    }),
    parameters: members(requestLimits.parameters).optional().openapi({ description: "Must be empty" }),
    signature_name: z.literal("serving_default").optional().openapi({ description: "Models have this one signature" }),
  }).openapi("PredictRequest");

const response = z
  .object({
    predictions: z.array(z.unknown()).openapi({
      description:
        "One for each instance: a vector, a score, { label, score }; of a model with its own inputs the output, or an object of its outputs by name",
    }),
  })
  .openapi("PredictResponse");

/** `POST /v1/models/{model}:predict`. The body is JSON whatever its content type says. */
export function predictRoute(service: Service): Route {
  const request = toRequest(service.limits.maxTexts);
  return {
    method: "post",
    path: "/v1/models/{model}:predict",
    patterns: ["/v1/models/:call{.+:predict}"],
    summary: "Run a model on rows, as KServe's V1 protocol",
    request: jsonRequest(request),
    description: "The predictions",
    response,
    answer: async (context) => {
      const model = (context.req.param("call") ?? "").slice(0, -":predict".length);
      const { instances, parameters = {} } = takeFields(context, await jsonBody(context, true), request);
      const [unknown] = Object.keys(parameters);
      if (unknown !== undefined) throw invalid(`the parameter ${JSON.stringify(unknown)} is not supported`);
      const call = { model, texts: instances.length, key: ["predict", instances] as const };
      const served = await runTask(service, context, call, async ({ model: handle, signal }) => {
        const texts = toTexts(instances);
        if (texts === undefined) return (await service.runtime.run(handle, toTensors(handle, instances), { signal })).outputs;
        const task = requestedTask(handle, getOutput(handle, texts));
        if (task === undefined) throw invalid("the model takes no texts: send the values of its inputs by name");
        return (await runTexts(service.runtime, handle, task, { [textInput]: texts }, signal)).tensors;
      });
      return jsonResponse(context, { predictions: getRows(served.result, instances.length) }, served);
    },
  };
}

/** The output that tells the task of a model whose files do not name it: a score for pairs, a label where the model has labels. */
function getOutput({ manifest }: ModelHandle, texts: Tensor): readonly string[] {
  if (texts.shape.length === 2) return ["score"];
  return textLabels(manifest) === undefined ? [] : ["label"];
}

/** The instances as a tensor of texts or of pairs; undefined if they are values of the model's own inputs. */
function toTexts(instances: readonly unknown[]): Tensor | undefined {
  const plain = instances.map((one) => (isObject(one) && Object.keys(one).join() === textInput ? one[textInput] : one));
  if (plain.every(isText)) return { dataType: "string", shape: [plain.length], data: plain };
  if (!plain.every((one) => Array.isArray(one) && one.length === 2 && one.every(isText))) return undefined;
  return { dataType: "string", shape: [plain.length, 2], data: (plain as string[][]).flat() };
}

/** The instances as tensors of the model's inputs, whose first dimension is the number of instances. */
function toTensors({ inputs }: ModelHandle, instances: readonly unknown[]): TensorMap {
  const rows = instances.map((one, index) => {
    if (isObject(one)) return one;
    throw invalid(`instances.${index} is neither a text, a pair of texts, nor an object with the model's inputs`);
  });
  const names = Object.keys(rows[0] ?? {});
  const tensors = names.map((name) => {
    const info = inputs.find((one) => one.name === name);
    if (info === undefined)
      throw invalid(`there is no input ${JSON.stringify(name)} (there is ${inputs.map((one) => one.name).join(", ")})`);
    const values = rows.map((row) => row[name]);
    const shape = [rows.length, ...getShape(values[0])];
    return [name, tensorFromJson(name, toDatatype(info.dataType), shape, values)] as const;
  });
  const other = rows.findIndex((row) => Object.keys(row).length !== names.length);
  if (other !== -1) throw invalid(`instances.${other} has other inputs than the first`);
  return Object.fromEntries(tensors);
}

/** Shape of nested arrays, by their first elements. */
function getShape(value: unknown): number[] {
  return Array.isArray(value) ? [value.length, ...getShape(value[0])] : [];
}

/** One value for each instance: of the only output, or an object of all outputs. */
function getRows(tensors: TensorMap, count: number): unknown[] {
  const outputs = Object.entries(tensors).map(([name, tensor]) => {
    if (tensor.shape[0] !== count) {
      throw unsupported(
        `the output "${name}" has the shape [${tensor.shape.join(", ")}], and no row for each of ${count} instances`,
      );
    }
    const shape = tensor.shape.slice(1);
    const values = tensorToJson(name, tensor);
    const size = elementCount(shape);
    const rows = Array.from({ length: count }, (_row, row) => nested(values.slice(row * size, (row + 1) * size), shape));
    return [name, rows] as const;
  });
  const [first, ...more] = outputs;
  if (first !== undefined && more.length === 0) return first[1];
  return Array.from({ length: count }, (_row, row) => Object.fromEntries(outputs.map(([name, rows]) => [name, rows[row]])));
}

/** Flat values as nested arrays of a shape. */
function nested(values: readonly unknown[], shape: readonly number[]): unknown {
  const [length, ...rest] = shape;
  if (length === undefined) return at(values, 0);
  if (rest.length === 0) return values;
  const size = elementCount(rest);
  return Array.from({ length }, (_item, index) => nested(values.slice(index * size, (index + 1) * size), rest));
}
