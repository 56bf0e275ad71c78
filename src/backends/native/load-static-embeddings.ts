/**
 * Reads static embeddings from a safetensors file, in two layouts.
 *
 * model2vec (https://github.com/MinishLab/model2vec, `StaticModel`): `embeddings` [rows, dimensions] F32, F64, F16 or I8;
 * optionally `weights` [tokens], a factor for each token, and `mapping` [tokens], the row of each token. sentence-transformers
 * calls the matrix `embedding.weight`.
 *
 * Ours, for 4 bits: `embeddings.int4` U8 [rows, dimensions / 2] with metadata `bits` = "4" (embedding-matrix.ts describes the bytes),
 * and `weights`, the scale of each row. The tensor has a name of its own so that readers which do not know the layout reject it.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { ModelFiles } from "../../contract/backend.ts";
import type { DataType, Tensor } from "../../contract/tensor.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import { readSafetensorsHeader, readSafetensorsTensor } from "../../formats/safetensors/read-safetensors.ts";
import type { SafetensorsHeader } from "../../formats/safetensors/read-safetensors.ts";
import { decodeFloat16 } from "../../contract/float16.ts";
import { int8Matrix, float32Matrix, float16Matrix, int4Matrix } from "./embedding-matrix.ts";
import type { EmbeddingMatrix } from "./embedding-matrix.ts";
import type { StaticEmbeddings } from "./static-model.ts";

const packedName = "embeddings.int4";

/** Elements checked between two yields to the event loop. */
const elementsPerSlice = 500_000;

/** Loads static embeddings. Throws MODEL_UNSUPPORTED when the file holds another kind of model and MODEL_INVALID when its tensors are inconsistent. */
export async function loadStaticEmbeddings(model: ModelFiles, signal?: AbortSignal): Promise<StaticEmbeddings> {
  const header = await readSafetensorsHeader(model.path, signal);
  const name = ["embeddings", "embedding.weight", packedName].find((candidate) => header.tensors.has(candidate));
  if (name === undefined) {
    const names = [...header.tensors.keys()].slice(0, 5).map((key) => key.slice(0, 60));
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${model.path} does not hold static embeddings: it has no tensor "embeddings" (it has ${names.join(", ") || "none"})`,
      { remedy: "use a model2vec model, or make one: inferyard distill <model>" },
    );
  }
  const matrix = await readMatrix(header, name, signal);
  const mapping = header.tensors.has("mapping") ? await readMapping(header, matrix.rows, signal) : undefined;
  const tokenCount = mapping?.length ?? matrix.rows;
  const weights = header.tensors.has("weights") ? await readWeights(header, tokenCount, signal) : undefined;
  if (matrix.precision === "int4" && weights === undefined)
    throw invalid(header, 'int4 rows need their scales in a tensor "weights"');
  return { matrix, ...omitUndefined({ mapping, weights }) };
}

async function readMatrix(header: SafetensorsHeader, name: string, signal?: AbortSignal): Promise<EmbeddingMatrix> {
  const entry = header.tensors.get(name);
  const [count = 0, width = 0] = entry?.shape ?? [];
  if (entry?.shape.length !== 2 || count === 0 || width === 0) {
    throw invalid(
      header,
      `"${name}" has shape [${entry?.shape.slice(0, 8).join(", ")}], and a matrix [tokens, dimensions] is needed`,
    );
  }
  // Checked before the tensor's bytes are read.
  if (!["F32", "F64", "F16", "I8", "U8"].includes(entry.type)) throw unsupported(header, `"${name}" is ${entry.type}`);
  const bits = header.metadata.get("bits");
  if ((entry.type === "U8") !== (name === packedName) || (name === packedName && bits !== "4")) {
    throw unsupported(header, `"${name}" is ${entry.type}, and 4-bit rows are U8 in "${packedName}" with metadata bits = 4`);
  }
  const tensor = await readSafetensorsTensor(header, name, signal);
  const { data } = tensor;
  if (data instanceof Int8Array) return int8Matrix(data, width);
  if (data instanceof Uint8Array) return int4Matrix(data, 2 * width);
  await checkFinite(header, name, tensor, signal);
  if (data instanceof Uint16Array) return float16Matrix(data, width);
  return float32Matrix(data instanceof Float32Array ? data : Float32Array.from(data as Float64Array), width);
}

async function readMapping(header: SafetensorsHeader, rowCount: number, signal?: AbortSignal): Promise<Uint32Array> {
  const tensor = await readVector(header, "mapping", ["int64", "int32", "uint32", "uint16"], signal);
  const mapping = new Uint32Array(tensor.data.length);
  for (let token = 0; token < mapping.length; token++) {
    const row = Number(tensor.data[token]);
    if (row < 0 || row >= rowCount)
      throw invalid(header, `"mapping" sends token ${token} to row ${row}, and there are ${rowCount} rows`);
    mapping[token] = row;
  }
  return mapping;
}

async function readWeights(header: SafetensorsHeader, tokenCount: number, signal?: AbortSignal): Promise<Float32Array> {
  const tensor = await readVector(header, "weights", ["float32", "float64", "float16"], signal);
  if (tensor.data.length !== tokenCount) {
    throw invalid(header, `"weights" has ${tensor.data.length} elements, and the model has ${tokenCount} tokens`);
  }
  await checkFinite(header, "weights", tensor, signal);
  const { data } = tensor;
  if (data instanceof Uint16Array) return Float32Array.from(data, decodeFloat16);
  return data instanceof Float32Array ? data : Float32Array.from(data as Float64Array);
}

async function readVector(
  header: SafetensorsHeader,
  name: string,
  types: readonly DataType[],
  signal?: AbortSignal,
): Promise<Tensor> {
  const tensor = await readSafetensorsTensor(header, name, signal);
  if (tensor.shape.length !== 1) throw invalid(header, `"${name}" is not a vector`);
  if (!types.includes(tensor.dataType)) throw unsupported(header, `"${name}" is ${tensor.dataType}`);
  return tensor;
}

/** Throws MODEL_INVALID for NaN and infinities, which are a common sign of damage and would spread to every text with that token. */
async function checkFinite(header: SafetensorsHeader, name: string, tensor: Tensor, signal?: AbortSignal): Promise<void> {
  const data = tensor.data as Float32Array | Float64Array | Uint16Array;
  const half = tensor.dataType === "float16";
  const rowLength = tensor.shape[1] ?? 1; // `weights` has one axis: a value for each token
  for (let start = 0; start < data.length; start += elementsPerSlice) {
    throwIfAborted(signal);
    const end = Math.min(start + elementsPerSlice, data.length);
    for (let i = start; i < end; i++) {
      const value = data[i] ?? 0;
      if (half ? (value & 0x7c00) === 0x7c00 : !Number.isFinite(value)) {
        throw invalid(header, `"${name}" holds NaN or an infinity at row ${Math.floor(i / rowLength)}`);
      }
    }
    await yieldToEventLoop();
  }
}

function invalid(header: SafetensorsHeader, what: string): InferyardError {
  return new InferyardError("MODEL_INVALID", `${header.path}: ${what}`, {
    remedy: "get the file again and compare its sha256 with the publisher's",
  });
}

function unsupported(header: SafetensorsHeader, what: string): InferyardError {
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `${header.path}: ${what}, and static embeddings are F32, F64, F16, I8 or 4-bit U8`,
    {
      remedy: "make the model again: inferyard distill <model>",
    },
  );
}
