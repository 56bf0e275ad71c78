/** The tensors in files of weights: what their headers declare, and readers of their elements. */
import { required } from "../../contract/checked.ts";
import type { LoadOptions, ModelFiles } from "../../contract/backend.ts";
import type { TensorData } from "../../contract/tensor.ts";
import type { ByteSource, StoredTensor } from "../../engine/index.ts";
import { chooseI2SLayout } from "../../formats/gguf/models/i2s-layout.ts";
import { type GgufModelTensor, readGgufModel } from "../../formats/gguf/models/read-model.ts";
import { tableMatrices } from "../../formats/gguf/models/table-weights.ts";
import { ggufBlockFormat, ggufWeights, readGgufBlocks, readGgufWeight } from "../../formats/gguf/models/weights.ts";
import { readSafetensorsTensor, type SafetensorsHeader, tensorRange } from "../../formats/safetensors/read-safetensors.ts";
import { pathsOfWeights, readWeightsHeader } from "../../formats/safetensors/read-sharded.ts";
import { getNativeSettings } from "../../kernels/native-settings.ts";
import { openBlocking } from "../../platform/node/files.ts";
import type { OpenModelFiles } from "./open-model-files.ts";

/** Files of weights whose headers are read. */
export interface StoredWeights {
  /** Tensors by their names in a safetensors file. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** Returns functions that read a tensor, as long as the files are open. */
  read(name: string): Promise<WeightReaders>;
  /** Sentences for the evidence: how the files were read, where they leave a choice. Default: none. */
  readonly notes?: readonly string[];
}

/** Readers of the elements of one tensor, and of its blocks if it is quantized. */
export type WeightReaders = readonly [read: () => TensorData, readBlocks?: () => Uint8Array];

/** Opens a safetensors file or all that an index names. Throws as `readWeightsHeader` does. */
export async function openSafetensors(
  files: OpenModelFiles,
  { path }: ModelFiles,
  { signal }: Pick<LoadOptions, "signal">,
): Promise<StoredWeights> {
  const paths = openBlocking === undefined ? [] : await pathsOfWeights(path);
  const opened = await openAll(files, paths);
  const header = await readWeightsHeader(path, signal);
  for (const each of paths) files.check(each);
  return { tensors: header.tensors, read: openBlocking === undefined ? readAhead(header, signal) : readLazily(header, opened) };
}

/** Opens a GGUF file, or all parts of a divided one. Throws as `readGgufModel`, `chooseI2SLayout`, `tableMatrices` and `ggufWeights` do. */
export async function openGguf(files: OpenModelFiles, { path }: ModelFiles, options: LoadOptions): Promise<StoredWeights> {
  const { i2sLayout, tlTiles } = getNativeSettings(options);
  const model = await readGgufModel(path, path);
  const opened = await openAll(files, model.paths);
  for (const each of model.paths) files.check(each);
  const choice = chooseI2SLayout(model, i2sLayout);
  const tables = tableMatrices(model, tlTiles);
  const weights = ggufWeights(model, { i2sLayout: choice?.layout, tables });
  const notes = [choice?.sentence, tables.sentence].filter((each) => each !== undefined);
  const getSource = ({ path: part }: GgufModelTensor): ByteSource => required(opened.get(part), part);
  const tensors = [...weights].map(([name, weight]): readonly [string, StoredTensor] => {
    const { shape, isTransposed, tensor } = weight;
    const format = ggufBlockFormat(weight);
    return [
      name,
      { type: "F32", shape, isTransposed, ...(format === undefined ? {} : { blocks: { type: tensor.type, format } }) },
    ];
  });
  return {
    tensors: new Map(tensors),
    ...(notes.length === 0 ? {} : { notes }),
    read: async (name) => {
      const weight = required(weights.get(name), name);
      return [() => readGgufWeight(getSource, weight), () => readGgufBlocks(getSource, weight)];
    },
  };
}

async function openAll(files: OpenModelFiles, paths: readonly string[]): Promise<ReadonlyMap<string, ByteSource>> {
  const opened = new Map<string, ByteSource>();
  for (const path of paths) opened.set(path, await files.open(path));
  return opened;
}

/** Reads tensors ahead, on platforms without blocking file access. */
function readAhead(header: SafetensorsHeader, signal: AbortSignal | undefined): StoredWeights["read"] {
  return async (name) => {
    const { data } = await readSafetensorsTensor(header, name, signal);
    return [() => data];
  };
}

function readLazily(header: SafetensorsHeader, opened: ReadonlyMap<string, ByteSource>): StoredWeights["read"] {
  return async (name) => {
    const read = (): TensorData => {
      const part = tensorRange(header, name);
      const target = new Uint8Array(part.bytes);
      required(opened.get(part.path), part.path).read(target, part.start);
      return part.tensor(target.buffer).data;
    };
    return [read];
  };
}
