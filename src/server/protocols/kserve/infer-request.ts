/** The body of an inference request: a JSON head, and behind it the data of those tensors that came as bytes. */
import { z } from "@hono/zod-openapi";
import { InferyardError, messageOf } from "../../../errors.ts";
import { type Tensor, type TensorMap, elementCount } from "../../../tensor.ts";
import type { RequestBody } from "../../http/bodies/request-body.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { anyList, members, name } from "../../http/field-schemas.ts";
import { invalidRequest } from "../../http/validation.ts";
import { tensorFromBytes } from "./binary-data.ts";
import { type Datatype, datatypes } from "./datatypes.ts";
import { invalid, metadataRemedy, tensorFromJson } from "./json-data.ts";

const parameters = members(requestLimits.parameters);

const requestInput = z.object({
  name: name(),
  shape: z.array(z.int().nonnegative()).max(requestLimits.dimensions),
  datatype: z.enum(datatypes),
  parameters: parameters.optional(),
  data: anyList().optional().openapi({ description: "Elements, flat or nested; left out where they come as bytes" }),
});

const requestOutput = z.object({ name: name(), parameters: parameters.optional() });

/** What stands in the JSON head. */
interface InferHead {
  id?: string | undefined;
  parameters?: Record<string, unknown> | undefined;
  inputs: {
    name: string;
    shape: number[];
    datatype: Datatype;
    parameters?: Record<string, unknown> | undefined;
    data?: unknown[] | undefined;
  }[];
  outputs?: { name: string; parameters?: Record<string, unknown> | undefined }[] | undefined;
}

export const inferRequest: z.ZodType<InferHead> = z
  .object({
    id: name().optional(),
    parameters: parameters.optional(),
    inputs: z.array(requestInput).min(1).max(requestLimits.tensors),
    outputs: z.array(requestOutput).max(requestLimits.tensors).optional(),
  })
  .openapi("InferRequest");

export interface InferRequest {
  readonly id?: string;
  readonly inputs: TensorMap;
  /** In the order asked for. Left out: all, each in the form of `binary`. */
  readonly outputs?: readonly { readonly name: string; readonly binary: boolean }[];
  readonly binary: boolean;
}

/** Parameters that are obeyed; any other would be ignored, and is refused. */
const known = { request: ["binary_data_output"], input: ["binary_data_size"], output: ["binary_data"] } as const;

export interface InferOptions {
  /** Header Inference-Header-Content-Length: the length of the JSON, behind which the bytes of tensors stand. Default: there are none. */
  readonly headBytes: string | undefined;
  /** Elements of a BYTES tensor. */
  readonly maxTexts: number;
}

/** INPUT_INVALID for whatever does not fit together; LIMIT_EXCEEDED for what is too much. */
export async function readInferRequest(requestBody: RequestBody, { headBytes, maxTexts }: InferOptions): Promise<InferRequest> {
  if (headBytes === undefined) return requestOf(await requestBody.text(), new Uint8Array(0), maxTexts);
  const body = await requestBody.bytes();
  const head = headLength(headBytes, body.byteLength);
  return requestOf(await requestBody.jsonPart(body.subarray(0, head)), body.subarray(head), maxTexts);
}

/** `body`: the bytes behind the head. */
function requestOf(text: string, body: Uint8Array, maxTexts: number): InferRequest {
  const request = headOf(text);
  const binary = truth(checked(request.parameters, known.request, "the request"), "binary_data_output") ?? false;
  refuseTwice("input", request.inputs);
  refuseTwice("output", request.outputs ?? []);
  let offset = 0;
  const inputs: [string, Tensor][] = request.inputs.map(({ name, shape, datatype, data, parameters: given }) => {
    const size = checked(given, known.input, `input "${name}"`)["binary_data_size"];
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
    binary: truth(checked(given, known.output, `output "${name}"`), "binary_data") ?? binary,
  }));
  return {
    ...(request.id === undefined ? {} : { id: request.id }),
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

/** INPUT_INVALID for a name that stands twice: what is asked for again would be computed once and sent again. */
function refuseTwice(what: string, tensors: readonly { readonly name: string }[]): void {
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

function headOf(text: string): InferHead {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `the body is not JSON: ${messageOf(error).slice(0, 60)}`, {
      remedy: "send an inference request of the Open Inference Protocol",
    });
  }
  const parsed = inferRequest.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues, metadataRemedy);
}

function checked(
  given: Readonly<Record<string, unknown>> | undefined,
  names: readonly string[],
  where: string,
): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(given ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`${where} has the parameter ${JSON.stringify(unknown)}, which is not served here`);
  return given ?? {};
}

function truth(given: Readonly<Record<string, unknown>>, name: string): boolean | undefined {
  const value = given[name];
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(`the parameter ${name} is neither true nor false`);
}
