/** Writes a GGUF model with its matrices in another type. */
import { existsSync } from "node:fs";
import { InferyardError, throwIfAborted, quoteOption, unsupportedModel } from "../../contract/errors.ts";
import { requireDecoder } from "../../formats/answers/decoder-answers.ts";
import { requireEncoder } from "../../formats/answers/encoder-answers.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { ggmlTensorBytes } from "../../formats/gguf/ggml-types.ts";
import { decodeTensor, isDecodable } from "../../formats/gguf/blocks/index.ts";
import { type EncodableType, encodeTensor } from "../../formats/gguf/blocks/encode.ts";
import type { GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import type { I2SLayout } from "../../formats/gguf/blocks/i2s.ts";
import { i2sLayoutKey } from "../../formats/gguf/models/i2s-layout.ts";
import { type GgufModel, type GgufModelTensor, readGgufModel } from "../../formats/gguf/models/read-model.ts";
import { ggufParts, type GgufTensorSource } from "../../formats/gguf/write-gguf.ts";
import { writeAtomically } from "../../platform/node/atomic-write.ts";
import { openBlocking } from "../../platform/node/files.ts";
import { withOutputErrors } from "../../platform/node/output-errors.ts";

/** Types that a model can be quantized to, in the spelling of the command line. */
export const quantizationTypes = ["q8_0", "q4_0", "q4_k", "tq2_0", "i2_s"] as const;

/** A type that a model can be quantized to. */
export type QuantizationType = (typeof quantizationTypes)[number];

/** Options of `quantizeGguf`. */
export interface QuantizeModelOptions {
  readonly to: QuantizationType;
  /** Path of the file to write. Default: the path of the model with the type in its name. */
  readonly output?: string;
  /** Whether a file at `output` is replaced. Default: false, it is an error. */
  readonly replace?: boolean;
  readonly signal?: AbortSignal;
}

/** The file that was written, its sizes and its types. */
export interface QuantizeReport {
  readonly output: string;
  /** Bytes of the model before and after. */
  readonly bytesBefore: number;
  readonly bytes: number;
  /** Tensors of each type that was written. */
  readonly types: readonly { readonly type: string; readonly tensors: number; readonly parameters: number }[];
  /** Matrices that have another type, because their rows are no whole blocks of `blockElements` elements. */
  readonly unfit: number;
  readonly blockElements: number;
}

/** What the types are called in the file, and the number of the whole (`llama_ftype` of llama.h; 40 is I2_S of BitNet). */
const targets: Readonly<Record<QuantizationType, { readonly type: EncodableType; readonly fileType: number }>> = {
  q8_0: { type: "Q8_0", fileType: 7 },
  q4_0: { type: "Q4_0", fileType: 2 },
  q4_k: { type: "Q4_K", fileType: 14 },
  tq2_0: { type: "TQ2_0", fileType: 37 },
  i2_s: { type: "I2_S", fileType: 40 },
};

/** Elements of a block, of which the length of a row must be a multiple. */
const blockElements: Readonly<Record<string, number>> = { Q8_0: 32, Q4_0: 32, Q4_K: 256, TQ2_0: 256, I2_S: 128 };

/**
 * Quantizes the GGUF model at `path`. `displayName` is the path as the user wrote it. Vectors stay in single precision. For ternary types the embeddings and
 * the output layer become Q8_0, since they are not ternary. A matrix whose rows do not fill whole blocks becomes Q8_0, or half precision if that does not fit
 * either. Throws MODEL_INVALID and MODEL_UNSUPPORTED as `readGgufModel` does, and OUTPUT_FAILED if the file cannot be written or exists.
 */
export async function quantizeGguf(path: string, displayName: string, options: QuantizeModelOptions): Promise<QuantizeReport> {
  const { to, replace = false, signal } = options;
  const output = options.output ?? getOutput(displayName, to);
  const model = await readGgufModel(path, displayName, "everything");
  if (!replace && existsSync(output)) {
    throw new InferyardError("OUTPUT_FAILED", `${output} exists`, {
      remedy: `choose another ${quoteOption("output")}, or set ${quoteOption("replace", true)}`,
    });
  }
  if (openBlocking === undefined) throw new InferyardError("OUTPUT_FAILED", "files cannot be written here");
  const open = openBlocking;
  const files = new Map(model.paths.map((each) => [each, open(each)]));
  try {
    const tensors = [...model.tensors.values()].map((tensor) =>
      quantized(tensor, targets[to].type, (bytes) => {
        throwIfAborted(signal);
        readExactly(files.get(tensor.path), bytes, tensor, displayName);
      }),
    );
    let bytes = 0;
    await write(output, async (append) => {
      for (const part of ggufParts(toMetadata(model, targets[to].fileType), tensors)) {
        await append(part);
        bytes += part.length;
      }
    });
    const { type } = targets[to];
    const block = blockElements[type] ?? 1;
    const unfit = tensors.filter(
      ({ shape, type: given }) => shape.length > 1 && given !== type && (shape[0] ?? 0) % block !== 0,
    ).length;
    return { output, bytesBefore: model.bytes, bytes, types: countTypes(tensors), unfit, blockElements: block };
  } finally {
    for (const file of files.values()) file.close();
  }
}

function getOutput(displayName: string, to: string): string {
  return displayName.replace(/(-\d{5}-of-\d{5})?\.gguf$/i, "").replace(/[-.](f32|f16|bf16)$/i, "") + `-${to}.gguf`;
}

async function write(output: string, fill: (append: (part: Uint8Array) => Promise<void>) => Promise<void>): Promise<void> {
  await withOutputErrors(output, () => writeAtomically(output, (file) => fill((part) => file.writeFile(part))));
}

type OpenFile = NonNullable<ReturnType<NonNullable<typeof openBlocking>>>;

function readExactly(file: OpenFile | undefined, target: Uint8Array, { start, name }: GgufModelTensor, shown: string): void {
  for (let done = 0; done < target.length;) {
    const count = file?.read(target, done, target.length - done, start + done) ?? 0;
    if (count === 0) throw modelInvalid(`${shown} ends within the tensor ${name}`, "download the file again");
    done += count;
  }
}

/** The tensor in its new type. */
function quantized(tensor: GgufModelTensor, wanted: EncodableType, read: (target: Uint8Array) => void): GgufTensorSource {
  const { name, shape, elements, type: old, bytes } = tensor;
  const stored = (): Uint8Array => {
    const target = new Uint8Array(bytes);
    read(target);
    return target;
  };
  const type = typeFor(tensor, wanted);
  if (type === old) return { name, type, shape, bytes, read: stored };
  if (!isDecodable(old)) {
    throw unsupportedModel(
      `the tensor "${name}" is of the type ${old}, which cannot be read`,
      "quantize the model in single or half precision",
    );
  }
  return {
    name,
    type,
    shape,
    bytes: ggmlTensorBytes(type, elements),
    read: () => {
      requireDecoder(old);
      requireEncoder(type);
      return encodeTensor(type, decodeTensor(old, stored(), elements));
    },
  };
}

/** Tensors that llama.cpp reads in single precision alone, by their names. */
const keptPrecise = /norm|^(position_embd|token_types|rope_)/;

function typeFor({ name, shape }: GgufModelTensor, wanted: EncodableType): EncodableType {
  if (shape.length < 2 || keptPrecise.test(name) || !name.endsWith(".weight")) return "F32";
  const isTernary = wanted === "TQ2_0" || wanted === "I2_S";
  const isEnd = name === "token_embd.weight" || name === "output.weight";
  const order: readonly EncodableType[] = isTernary && isEnd ? ["Q8_0"] : [wanted, "Q8_0"];
  const fits = (type: EncodableType): boolean => (shape[0] ?? 0) % (blockElements[type] ?? 1) === 0;
  return order.find(fits) ?? "F16";
}

function toMetadata({ metadata }: GgufModel, fileType: number): ReadonlyMap<string, GgufValue> {
  const kept = [...metadata].filter(([key]) => !key.startsWith("split.") && key !== i2sLayoutKey);
  const layout: I2SLayout = "x86"; // that of encodeTensor
  return new Map<string, GgufValue>([
    ...kept,
    ["general.file_type", { type: "uint32", value: fileType }],
    ["general.quantization_version", { type: "uint32", value: 2 }],
    ...(fileType === targets.i2_s.fileType
      ? ([[i2sLayoutKey, { type: "string", value: layout, bytes: layout.length }]] as const)
      : []),
  ]);
}

function countTypes(tensors: readonly GgufTensorSource[]): QuantizeReport["types"] {
  const types = [...new Set(tensors.map(({ type }) => type))];
  return types.map((type) => {
    const of = tensors.filter((tensor) => tensor.type === type);
    const parameters = of.reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
    return { type, tensors: of.length, parameters };
  });
}
