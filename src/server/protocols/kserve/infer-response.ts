/** Responses to inference requests: JSON, followed by the data of the outputs that are requested as binary data. */
import type { TensorMap } from "../../../contract/tensor.ts";
import { tensorToBytes } from "./binary-data.ts";
import { encodeJson } from "../../http/json-response.ts";
import { estimateJsonBytes } from "../../serving/plain-data.ts";
import { toDatatype } from "./datatypes.ts";
import type { InferRequest } from "./infer-request.ts";
import { invalid, tensorToJson } from "./json-data.ts";

/** Body and headers of a response. */
export interface InferResponse {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Estimated size of the response in bytes. */
export function estimateInferResponseBytes(request: InferRequest, tensors: TensorMap): number {
  const isBinary = new Map(request.outputs?.map(({ name, binary }) => [name, binary]));
  return Object.entries(tensors).reduce((sum, [name, { data }]) => {
    const binary = isBinary.get(name) ?? request.binary;
    return sum + (binary && ArrayBuffer.isView(data) ? data.byteLength : estimateJsonBytes(data));
  }, 0);
}

/**
 * The response with the requested outputs. Throws INPUT_INVALID for an output that the model does not have, and ABORTED once the signal is aborted.
 */
export async function writeInferResponse(
  model: string,
  version: string,
  request: InferRequest,
  tensors: TensorMap,
  signal?: AbortSignal,
): Promise<InferResponse> {
  const wanted = request.outputs ?? Object.keys(tensors).map((name) => ({ name, binary: request.binary }));
  const blocks: Uint8Array[] = [];
  const outputs = wanted.map(({ name, binary }) => {
    const tensor = Object.hasOwn(tensors, name) ? tensors[name] : undefined;
    if (tensor === undefined) throw invalid(`there is no output "${name}" (there is ${Object.keys(tensors).join(", ")})`);
    const head = { name, datatype: toDatatype(tensor.dataType), shape: tensor.shape };
    if (!binary) return { ...head, data: tensorToJson(name, tensor) };
    const bytes = tensorToBytes(tensor);
    blocks.push(bytes);
    return { ...head, parameters: { binary_data_size: bytes.byteLength } };
  });
  const id = request.id === undefined ? {} : { id: request.id };
  const head = await encodeJson({ model_name: model, model_version: version, ...id, outputs }, signal);
  if (blocks.length === 0) return { body: head, headers: { "content-type": "application/json" } };
  return {
    body: Buffer.concat([head, ...blocks]),
    headers: { "content-type": "application/octet-stream", "inference-header-content-length": String(head.byteLength) },
  };
}
