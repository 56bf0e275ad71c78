/** The body of an inference request: a JSON head, and behind it the data of those tensors that came as bytes. */
import { z } from "@hono/zod-openapi";
import { InferyardError, messageOf } from "../../errors.ts";
import { issueProblems } from "../../models/schema-problems.ts";
import type { Tensor, TensorMap } from "../../tensor.ts";
import { refuseDeep } from "../json-depth.ts";
import { tensorFromBytes } from "./binary-data.ts";
import { type Datatype, datatypes } from "./datatypes.ts";
import { invalid, tensorFromJson } from "./json-data.ts";

const parameters = z.record(z.string(), z.unknown());

const requestInput = z.object({
  name: z.string(),
  shape: z.array(z.int().nonnegative()).max(32),
  datatype: z.enum(datatypes),
  parameters: parameters.optional(),
  data: z.array(z.unknown()).optional().openapi({ description: "Elements, flat or nested; left out where they come as bytes" }),
});

const requestOutput = z.object({ name: z.string(), parameters: parameters.optional() });

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
    id: z.string().optional(),
    parameters: parameters.optional(),
    inputs: z.array(requestInput).min(1),
    outputs: z.array(requestOutput).optional(),
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

/** `headBytes`: header Inference-Header-Content-Length. INPUT_INVALID for whatever does not fit together. */
export function parseInferRequest(body: Uint8Array, headBytes: string | undefined, depth: number): InferRequest {
  const head = headLength(headBytes, body.byteLength);
  const request = parseHead(body.subarray(0, head), depth);
  const binary = truth(checked(request.parameters, known.request, "the request"), "binary_data_output") ?? false;
  let offset = head;
  const inputs: [string, Tensor][] = request.inputs.map(({ name, shape, datatype, data, parameters: given }) => {
    const size = checked(given, known.input, `input "${name}"`)["binary_data_size"];
    if (size === undefined) {
      if (data === undefined) throw invalid(`input "${name}" has no data`);
      return [name, tensorFromJson(name, datatype, shape, data)];
    }
    if (data !== undefined) throw invalid(`input "${name}" has data twice: as JSON and as bytes`);
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0 || offset + size > body.byteLength)
      throw invalid(
        `input "${name}" has a binary_data_size of ${JSON.stringify(size)}, and ${body.byteLength - offset} bytes are left`,
      );
    const bytes = body.subarray(offset, offset + size);
    offset += size;
    return [name, tensorFromBytes(name, datatype, shape, bytes)];
  });
  if (offset !== body.byteLength) throw invalid(`${body.byteLength - offset} bytes of the body belong to no input`);
  const names = inputs.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`input "${twice}" is given twice`);
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

function parseHead(bytes: Uint8Array, depth: number): InferHead {
  const text = new TextDecoder().decode(bytes);
  refuseDeep(text, depth);
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
  throw invalid(`the request is not right: ${issueProblems(parsed.error.issues).join("; ")}`);
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
