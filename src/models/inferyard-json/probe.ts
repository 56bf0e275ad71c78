/** Decodes the `probe` of inferyard.json: base64 becomes vectors, JSON arrays become tensors. */
import { decodeBase64, float32FromBytes } from "../../platform/base64.ts";
import { elementCount, zeros, type Tensor } from "../../contract/tensor.ts";
import type { ProbeJson, ProbeTensorJson } from "./schema.ts";
import type { ModelProbe } from "../manifest.ts";

/**
 * Decodes the field `probe` of inferyard.json, the input with which a loaded model is verified. Returns undefined unless the field has one of its
 * three forms. Problems are appended to `problems` as sentences.
 */
export function readProbe(stated: ProbeJson, problems: string[]): ModelProbe | undefined {
  const { texts, inputs, continuations } = stated;
  if ([texts, inputs, continuations].filter((each) => each !== undefined).length !== 1) {
    problems.push('probe: give one of the two "texts" and "inputs", or "continuations" for a language model');
    return undefined;
  }
  if (continuations !== undefined) return { kind: "tokens", answers: continuations };
  if (inputs !== undefined) {
    const entries = Object.entries(inputs).map(
      ([name, tensor]) => [name, readTensor(tensor, `probe.inputs.${name}: `, problems)] as const,
    );
    return { kind: "tensors", inputs: Object.fromEntries(entries) };
  }
  const answers = (texts ?? []).map(({ text, embedding, tolerance }, index) => {
    return { text, tolerance, embedding: readVector(embedding, `probe.texts.${index}.embedding: `, problems) };
  });
  return { kind: "text", answers };
}

function readVector(base64: string, field: string, problems: string[]): Float32Array {
  const bytes = decodeBase64(base64);
  if (bytes.length % 4 !== 0) problems.push(`${field}${bytes.length} bytes are not a whole number of 32-bit floats`);
  const vector = float32FromBytes(bytes);
  if (vector.some((value) => !Number.isFinite(value))) problems.push(`${field}it holds a value that is not a number`);
  return vector;
}

function readTensor({ dataType, shape, data }: ProbeTensorJson, field: string, problems: string[]): Tensor {
  const needed = elementCount(shape);
  if (data.length !== needed) {
    problems.push(`${field}${data.length} values, and the shape [${shape.join(", ")}] needs ${needed}`);
    return zeros(dataType, [0]);
  }
  if (dataType === "string") return { dataType, shape, data: data.map(String) };
  const tensor = zeros(dataType, shape);
  const target = tensor.data as { [index: number]: number | bigint };
  const wrong = data.findIndex((value, index) => !storeElement(target, index, value, dataType));
  if (wrong !== -1) problems.push(`${field}value ${wrong} (${JSON.stringify(data[wrong])}) is no ${dataType}`);
  return tensor;
}

/** Stores a value and returns true if the type can hold it exactly; a typed array alone would wrap it silently. Floats are rounded. */
function storeElement(
  target: { [index: number]: number | bigint },
  index: number,
  value: number | string | boolean,
  dataType: string,
): boolean {
  if (dataType === "int64" || dataType === "uint64") {
    if (typeof value === "boolean" || !/^-?\d+$/.test(String(value))) return false;
    const whole = BigInt(value);
    target[index] = whole;
    return target[index] === whole;
  }
  if (typeof value === "string") return false;
  if (dataType === "bool" && typeof value === "number" && value > 1) return false;
  target[index] = Number(value);
  return dataType.startsWith("float") || target[index] === Number(value);
}
