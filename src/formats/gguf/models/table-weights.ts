/** Matrices in TL1 and TL2 of BitNet: which tiles they have, where their scale is, and how they are read. */
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, getMessage } from "../../../contract/errors.ts";
import type { ByteSource } from "../../byte-source.ts";
import { modelInvalid } from "../../format-errors.ts";
import { tableCodeBytes, tableScaleOffset, unpackTables } from "../blocks/lookup-tables.ts";
import { parseTiles, publishedTiles, type TableTiles, type TableType, tileProblem } from "../blocks/tl-tiles.ts";
import type { GgufModel, GgufModelTensor } from "./read-model.ts";

/** A matrix in TL1 or TL2. */
export interface TableMatrix {
  readonly type: TableType;
  readonly tensor: GgufModelTensor;
  readonly tiles: TableTiles;
  /** The tensor of its scale. Default: the scale is after the codes. */
  readonly scale?: GgufModelTensor;
}

/** The matrices of a model in TL1 and TL2. */
export interface TableMatrices {
  /** By the names of their tensors. */
  readonly matrices: ReadonlyMap<string, TableMatrix>;
  /** Names of tensors that hold scales of matrices. */
  readonly scales: ReadonlySet<string>;
  /** For the evidence; undefined if there are no matrices. */
  readonly sentence: string | undefined;
}

const bitnetRemedy = "download the file again, or convert the model again";

/**
 * The matrices in TL1 and TL2. `wanted`: `LoadSettings.tlTiles`; other shapes have the tiles for which BitNet's `setup_env.py` generates kernels. Throws
 * INPUT_INVALID for texts of another form, MODEL_UNSUPPORTED for a shape whose tiles are not known or do not fit, and MODEL_INVALID for a tensor that is too
 * short.
 */
export function tableMatrices({ tensors }: Pick<GgufModel, "tensors">, wanted: readonly string[] = []): TableMatrices {
  const given = givenTiles(wanted);
  const matrices = new Map<string, TableMatrix>();
  const scales = new Set<string>();
  const sources = new Map<string, string>();
  for (const tensor of tensors.values()) {
    const { type, name } = tensor;
    if (type !== "TL1" && type !== "TL2") continue;
    const [columns = 0, rows = 0] = tensor.shape;
    const shape = `${rows}x${columns}`;
    const tiles = getTiles(tensor, type, given.get(shape));
    const scale = tensors.get(`${name}_scale`);
    checkBytes(tensor, type, scale);
    if (scale !== undefined) scales.add(scale.name);
    matrices.set(name, { type, tensor, tiles, ...omitUndefined({ scale }) });
    const by = given.has(shape) ? "tlTiles gives them" : "BitNet's setup_env.py has them for this shape";
    sources.set(`${type} ${shape}`, `${shape}=${tiles.rows}/${tiles.columns}/${tiles.registerRows} (${by})`);
  }
  const shapes = new Set([...matrices.values()].map(({ tensor: { shape } }) => `${shape[1]}x${shape[0]}`));
  const unused = [...given.keys()].filter((shape) => !shapes.has(shape));
  return { matrices, scales, sentence: getSentence(matrices, [...sources.values()], unused) };
}

function getSentence(
  matrices: ReadonlyMap<string, TableMatrix>,
  sources: readonly string[],
  unused: readonly string[],
): string | undefined {
  const without = unused.length === 0 ? "" : `; tlTiles has tiles for ${unused.join(", ")}, and no matrix has this shape`;
  const types = [...new Set([...matrices.values()].map(({ type }) => type))].join(" and ");
  return types === ""
    ? undefined
    : `${matrices.size} matrices in ${types} are repacked to 2 bits while loading; tiles of their layout: ${sources.join(", ")}${without}`;
}

function givenTiles(wanted: readonly string[]): ReadonlyMap<string, TableTiles> {
  try {
    return parseTiles(wanted);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `tlTiles: ${getMessage(error)}`, {
      remedy: "write rows and columns of the matrix, then bm, bk and bmm of kernel_config.ini: 3200x8640=160/96/32",
    });
  }
}

function getTiles({ name, shape }: GgufModelTensor, type: TableType, given: TableTiles | undefined): TableTiles {
  const [columns = 0, rows = 0] = shape;
  if (shape.length !== 2 || rows < 1 || columns < 1) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the tensor "${name}" of the type ${type} has the shape [${shape.join(", ")}]`,
      {
        remedy: "use the model in I2_S: TL1 and TL2 are for matrices",
        data: { tensor: name, type },
      },
    );
  }
  const tiles = given ?? publishedTiles(type, rows, columns);
  const size = `${rows}x${columns}`;
  const remedy = `set tlTiles to ${size}=BM/BK/BMM, with bm, bk and bmm of the kernel_config.ini of the bitnet.cpp that wrote the file, or use the model in I2_S`;
  if (tiles === undefined) {
    const message = `the tensor "${name}" is a matrix of ${size} in ${type}, and the tiles of that shape are not known: the file does not state them`;
    throw new InferyardError("MODEL_UNSUPPORTED", message, { remedy, data: { tensor: name, type } });
  }
  const problem = tileProblem(type, { rows, columns, tiles });
  if (problem === undefined) return tiles;
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `the tensor "${name}" in ${type} has not the tiles that tlTiles gives: ${problem}`,
    {
      remedy,
      data: { tensor: name, type },
    },
  );
}

function checkBytes({ name, shape, bytes }: GgufModelTensor, type: TableType, scale: GgufModelTensor | undefined): void {
  const [columns = 0, rows = 0] = shape;
  const expected = scale === undefined ? tableScaleOffset(type, rows, columns) + 4 : tableCodeBytes(type, rows, columns);
  if (!Number.isSafeInteger(expected) || bytes < expected) {
    const what = scale === undefined ? "with its scale" : "without its scale";
    throw modelInvalid(
      `the tensor "${name}" has ${bytes} bytes, and ${rows}x${columns} in ${type} takes ${expected} ${what}`,
      bitnetRemedy,
    );
  }
  if (scale !== undefined && (scale.type !== "F32" || scale.elements !== 1)) {
    throw modelInvalid(
      `the scale "${scale.name}" is ${scale.elements} elements of the type ${scale.type}, and one of F32 was expected`,
      bitnetRemedy,
    );
  }
}

/** The weights -1, 0 and 1 of a matrix in row-major order, and its scale. Throws MODEL_INVALID if the bytes cannot be of its type. */
export function readTableMatrix(
  sourceOf: (tensor: GgufModelTensor) => ByteSource,
  { type, tensor, tiles, scale }: TableMatrix,
): { readonly codes: Int8Array; readonly scale: number } {
  const [columns = 0, rows = 0] = tensor.shape;
  const bytes = new Uint8Array(tableCodeBytes(type, rows, columns));
  const source = sourceOf(tensor);
  source.read(bytes, tensor.start);
  const four = new Uint8Array(4);
  if (scale === undefined) source.read(four, tensor.start + tableScaleOffset(type, rows, columns));
  else sourceOf(scale).read(four, scale.start);
  try {
    const codes = unpackTables(type, bytes, { rows, columns, tiles });
    return { codes, scale: new DataView(four.buffer).getFloat32(0, true) };
  } catch (error) {
    throw modelInvalid(`the tensor "${tensor.name}" is not in ${type}: ${getMessage(error)}`, bitnetRemedy, error);
  }
}
