/** Inference requests: JSON, followed by the data of the inputs that are sent as binary data. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, getMessage, invalidInput } from "../../../contract/errors.ts";
import { type Tensor, type TensorMap, elementCount } from "../../../contract/tensor.ts";
import type { Env } from "../../http/context.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { anyList, members, nameField, requestObject } from "../../http/field-schemas.ts";
import { tensorFromBytes } from "./binary-data.ts";
import { type Datatype, datatypes } from "./datatypes.ts";
import { invalid, metadataRemedy, tensorFromJson } from "./json-data.ts";

const parameters = members(requestLimits.parameters);

const requestInput = requestObject({
  name: nameField(),
  shape: z.array(z.int().nonnegative()).max(requestLimits.dimensions),
  datatype: z.enum(datatypes),
  parameters: parameters.optional(),
  data: anyList().optional().openapi({ description: "Elements, flat or nested; left out where they come as bytes" }),
});

const requestOutput = requestObject({ name: nameField(), parameters: parameters.optional() });

const head = requestObject({
  id: nameField().optional(),
  parameters: parameters.optional(),
  inputs: z.array(requestInput).min(1).max(requestLimits.tensors),
  outputs: z.array(requestOutput).max(requestLimits.tensors).optional(),
}).openapi("InferRequest");

type InferHead = z.infer<typeof head>;

/** Schema of the JSON part of an inference request; binary tensor data may follow it in the body. */
export const inferRequest: z.ZodType = head;

/** A validated inference request. */
export interface InferRequest {
  readonly id?: string;
  readonly inputs: TensorMap;
  /** Requested outputs in their order, each as JSON or as binary data. Default: all outputs, in the form of `binary`. */
  readonly outputs?: readonly { readonly name: string; readonly binary: boolean }[];
  /** Whether outputs are binary data by default. */
  readonly binary: boolean;
}

/** Supported parameters. Any other is refused, since it would be ignored. */
const known = { request: ["binary_data_output"], input: ["binary_data_size"], output: ["binary_data"] } as const;

/** Options of reading the body of an inference request: the length of its JSON part, and limits. */
export interface InferOptions {
  /**
   * Value of the header Inference-Header-Content-Length: the length of the JSON, after which the binary data begins. Undefined: there is no
   * binary data.
   */
  readonly headBytes: string | undefined;
  /** Maximum number of elements of a BYTES tensor. */
  readonly maxTexts: number;
}

/** Reads a request. Throws INPUT_INVALID for a request that is malformed or inconsistent, LIMIT_EXCEEDED for one that exceeds a limit. */
export async function readInferRequest(context: Context<Env>, { headBytes, maxTexts }: InferOptions): Promise<InferRequest> {
  const requestBody = context.get("body");
  if (headBytes === undefined) return toRequest(getHead(context, await requestBody.text()), new Uint8Array(0), maxTexts);
  const body = await requestBody.bytes();
  const head = headLength(headBytes, body.byteLength);
  return toRequest(getHead(context, await requestBody.jsonPart(body.subarray(0, head))), body.subarray(head), maxTexts);
}

/** `body`: the binary data after the JSON. */
function toRequest(request: InferHead, body: Uint8Array, maxTexts: number): InferRequest {
  const binary = booleanParameter(supported(request.parameters, known.request, "the request"), "binary_data_output") ?? false;
  refuseDuplicates("input", request.inputs);
  refuseDuplicates("output", request.outputs ?? []);
  let offset = 0;
  const inputs: [string, Tensor][] = request.inputs.map(({ name, shape, datatype, data, parameters: given }) => {
    const size = supported(given, known.input, `input "${name}"`)["binary_data_size"];
    if (size === undefined) {
      if (data === undefined) throw invalid(`input "${name}" has no data`);
      const tensor = tensorFromJson(name, datatype, shape, data);
      refuseManyTexts(name, datatype, shape, maxTexts);
      return [name, tensor];
    }
    if (data !== undefined) throw invalid(`input "${name}" has data twice: as JSON and as bytes`);
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0 || offset + size > body.byteLength)
      throw invalid(
        `input "${name}" has a binary_data_size of ${JSON.stringify(size)}, and ${body.byteLength - offset} bytes are left`,
      );
    refuseManyTexts(name, datatype, shape, maxTexts);
    const bytes = body.subarray(offset, offset + size);
    offset += size;
    return [name, tensorFromBytes(name, datatype, shape, bytes)];
  });
  if (offset !== body.byteLength) throw invalid(`${body.byteLength - offset} bytes of the body belong to no input`);
  const outputs = request.outputs?.map(({ name, parameters: given }) => ({
    name,
    binary: booleanParameter(supported(given, known.output, `output "${name}"`), "binary_data") ?? binary,
  }));
  return {
    ...omitUndefined({ id: request.id }),
    inputs: Object.fromEntries(inputs),
    ...(outputs === undefined || outputs.length === 0 ? {} : { outputs }),
    binary,
  };
}

function headLength(written: string | undefined, bodyBytes: number): number {
  if (written === undefined) return bodyBytes;
  const length = Number(written);
  if (/^\d+$/.test(written) && length <= bodyBytes) return length;
  throw invalid(
    `Inference-Header-Content-Length is ${JSON.stringify(written.slice(0, 40))}, and the body has ${bodyBytes} bytes`,
  );
}

/** Throws INPUT_INVALID for a name that occurs twice: a repeated output would be computed once and sent again. */
function refuseDuplicates(what: string, tensors: readonly { readonly name: string }[]): void {
  const names = new Set<string>();
  for (const { name } of tensors) {
    if (names.has(name)) throw invalid(`${what} "${name}" is given twice`);
    names.add(name);
  }
}

function refuseManyTexts(name: string, datatype: Datatype, shape: readonly number[], limit: number): void {
  const count = datatype === "BYTES" ? elementCount(shape) : 0;
  if (count <= limit) return;
  throw new InferyardError("LIMIT_EXCEEDED", `input "${name}" has ${count} texts by its shape, and the limit is ${limit}`, {
    remedy: "send them in several requests, or raise maxTexts",
    data: { texts: count, limit },
  });
}

function getHead(context: Context<Env>, text: string): InferHead {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidInput(
      `the body is not JSON: ${getMessage(error).slice(0, 60)}`,
      "send an inference request of the Open Inference Protocol",
    );
  }
  return takeFields(context, value, head, { remedy: metadataRemedy });
}

/** The parameters. Throws INPUT_INVALID for one that is not supported. */
function supported(
  given: Readonly<Record<string, unknown>> | undefined,
  names: readonly string[],
  where: string,
): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(given ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`${where} has the parameter ${JSON.stringify(unknown)}, which is not supported`);
  return given ?? {};
}

/** A boolean parameter; undefined if it is not given. */
function booleanParameter(given: Readonly<Record<string, unknown>>, name: string): boolean | undefined {
  const value = given[name];
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(`the parameter ${name} is not a boolean`);
}
