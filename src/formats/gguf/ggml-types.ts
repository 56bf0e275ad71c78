/**
 * Element types of GGUF tensors, with the number of elements and bytes of a block. Sources: `enum ggml_type` in ggml.h and `GGML_QUANT_SIZES` in
 * gguf-py/gguf/constants.py (https://github.com/ggml-org/llama.cpp). The types 36 to 39 are those of https://github.com/microsoft/BitNet, a fork that
 * reuses numbers which llama.cpp had removed; llama.cpp has since assigned 39 again. Later states of the fork number TL2 42, which llama.cpp assigns too.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { tableScaleOffset } from "./blocks/lookup-tables.ts";

/** An element type of ggml, the tensor library of llama.cpp. Quantized types store elements in blocks that share scales. */
export interface GgmlType {
  readonly name: string;
  /** Elements of a block. A row of a tensor consists of whole blocks. */
  readonly blockElements: number;
  /** Bytes of a block; 0 if the size of a tensor is only known from the position of the next one. */
  readonly blockBytes: number;
  /** Bytes after the last block of a tensor. Default: 0. */
  readonly tailBytes?: number;
}

const type = (name: string, blockElements: number, blockBytes: number, tailBytes?: number): GgmlType => ({
  name,
  blockElements,
  blockBytes,
  ...omitUndefined({ tailBytes }),
});

const types: ReadonlyMap<number, GgmlType> = new Map([
  [0, type("F32", 1, 4)],
  [1, type("F16", 1, 2)],
  [2, type("Q4_0", 32, 18)],
  [3, type("Q4_1", 32, 20)],
  [4, type("Q4_2 (given up)", 16, 10)],
  [5, type("Q4_3 (given up)", 16, 12)],
  [6, type("Q5_0", 32, 22)],
  [7, type("Q5_1", 32, 24)],
  [8, type("Q8_0", 32, 34)],
  [9, type("Q8_1", 32, 36)],
  [10, type("Q2_K", 256, 84)],
  [11, type("Q3_K", 256, 110)],
  [12, type("Q4_K", 256, 144)],
  [13, type("Q5_K", 256, 176)],
  [14, type("Q6_K", 256, 210)],
  [15, type("Q8_K", 256, 292)],
  [16, type("IQ2_XXS", 256, 66)],
  [17, type("IQ2_XS", 256, 74)],
  [18, type("IQ3_XXS", 256, 98)],
  [19, type("IQ1_S", 256, 50)],
  [20, type("IQ4_NL", 32, 18)],
  [21, type("IQ3_S", 256, 110)],
  [22, type("IQ2_S", 256, 82)],
  [23, type("IQ4_XS", 256, 136)],
  [24, type("I8", 1, 1)],
  [25, type("I16", 1, 2)],
  [26, type("I32", 1, 4)],
  [27, type("I64", 1, 8)],
  [28, type("F64", 1, 8)],
  [29, type("IQ1_M", 256, 56)],
  [30, type("BF16", 1, 2)],
  [31, type("Q4_0_4_4 (given up)", 32, 18)],
  [32, type("Q4_0_4_8 (given up)", 32, 18)],
  [33, type("Q4_0_8_8 (given up)", 32, 18)],
  [34, type("TQ1_0", 256, 54)],
  [35, type("TQ2_0", 256, 66)],
  // Four two-bit codes to a byte, then a float32 scale padded to 32 bytes.
  [36, type("I2_S", 4, 1, 32)],
  [37, type("I8_S", 1, 0)],
  [38, type("TL1", 1, 0)],
  [39, type("MXFP4", 32, 17)],
  [40, type("NVFP4", 64, 36)],
  [41, type("Q1_0", 128, 18)],
  [42, type("Q2_0", 64, 18)],
]);

/** Type 39 or 42 in files of the BitNet fork. */
const bitnetTable: GgmlType = type("TL2", 1, 0);

/** A tensor whose type is looked for. */
export interface PlacedTensor {
  /** The `ggml_type` number. */
  readonly number: number;
  /** The innermost dimension first. */
  readonly shape: readonly number[];
  /** Bytes from its beginning to the beginning of the next tensor, or to the end of the file. */
  readonly room: number;
}

/**
 * The element type of a tensor. `architecture` is `general.architecture` of the file: number 39 is TL2 where it is called bitnet-..., else MXFP4. In files of
 * other architectures, 39 is TL2 for a matrix that has exactly the room of TL2, which is less than MXFP4 needs; so is 42 in all files, which else is Q2_0. An unknown
 * number gives a type named "type 99" (with that number) of unknown size.
 */
export function ggmlType({ number, shape, room }: PlacedTensor, architecture: string | undefined): GgmlType {
  if (number === 39 && architecture?.startsWith("bitnet") === true) return bitnetTable;
  const found = types.get(number);
  if ((number === 39 || number === 42) && found !== undefined && isRoomOfTL2(found, shape, room)) return bitnetTable;
  return found ?? type(`type ${number}`, 1, 0);
}

/** Whether a matrix has the room of TL2, with its scale after it or without, and not that of another type. */
function isRoomOfTL2(other: GgmlType, shape: readonly number[], room: number): boolean {
  const [columns = 0, rows = 0] = shape;
  if (shape.length !== 2 || (columns * rows * other.blockBytes) / other.blockElements <= room) return false;
  const codes = tableScaleOffset("TL2", rows, columns);
  return room === codes || room === codes + 32;
}

/** The element type with this name; undefined if there is none. Names of types that llama.cpp has removed end in " (given up)". */
export function ggmlTypeNamed(name: string): GgmlType | undefined {
  return [...types.values(), bitnetTable].find((each) => each.name === name || each.name === `${name} (given up)`);
}

/** Types of the BitNet fork, which llama.cpp does not have: it gives their numbers other meanings, or none. */
const bitnetTypes: ReadonlySet<string> = new Set(["I2_S", "I8_S", "TL1", "TL2"]);

/** Whether a type, named as `ggmlType` names it, is one of the BitNet fork. */
export function isBitnetType(name: string): boolean {
  return bitnetTypes.has(name);
}

/** A type with its number. */
export interface NumberedGgmlType extends GgmlType {
  readonly number: number;
}

/** The types of llama.cpp with a current number, without the types of the BitNet fork. */
export function ggmlTypeSizes(): readonly NumberedGgmlType[] {
  return [...types]
    .filter(([, { name }]) => !name.includes(" ") && !bitnetTypes.has(name))
    .map(([number, each]) => ({ ...each, number }));
}

/** The `ggml_type` number of a type. Throws Error for an unknown name. */
export function ggmlTypeNumber(name: string): number {
  if (name === bitnetTable.name) return 39;
  for (const [number, each] of types) if (each.name === name) return number;
  throw new Error(`ggml has no type ${name}`);
}

/** Bytes of a tensor of this type, whose size does not depend on where the next one is. Throws Error for an unknown name. */
export function ggmlTensorBytes(name: string, elements: number): number {
  const { blockElements, blockBytes, tailBytes = 0 } = types.get(ggmlTypeNumber(name)) ?? bitnetTable;
  return (elements / blockElements) * blockBytes + tailBytes;
}

/** `general.file_type`: the type that the author states for the file as a whole (`llama_ftype` in llama.h). 40 has two meanings. */
const fileTypes: ReadonlyMap<number, string> = new Map([
  [0, "F32"],
  [1, "F16"],
  [2, "Q4_0"],
  [3, "Q4_1"],
  [4, "Q4_1 with some F16"],
  [7, "Q8_0"],
  [8, "Q5_0"],
  [9, "Q5_1"],
  [10, "Q2_K"],
  [11, "Q3_K_S"],
  [12, "Q3_K_M"],
  [13, "Q3_K_L"],
  [14, "Q4_K_S"],
  [15, "Q4_K_M"],
  [16, "Q5_K_S"],
  [17, "Q5_K_M"],
  [18, "Q6_K"],
  [19, "IQ2_XXS"],
  [20, "IQ2_XS"],
  [21, "Q2_K_S"],
  [22, "IQ3_XS"],
  [23, "IQ3_XXS"],
  [24, "IQ1_S"],
  [25, "IQ4_NL"],
  [26, "IQ3_S"],
  [27, "IQ3_M"],
  [28, "IQ2_S"],
  [29, "IQ2_M"],
  [30, "IQ4_XS"],
  [31, "IQ1_M"],
  [32, "BF16"],
  [36, "TQ1_0"],
  [37, "TQ2_0"],
  [38, "MXFP4_MOE"],
  [39, "NVFP4"],
  [40, "Q1_0"],
  [41, "Q2_0"],
]);

/** Numbers that Microsoft's converter writes, which are those of tensor types, by the type that a tensor of the file has. */
const bitnetFileTypes: ReadonlyMap<number, string> = new Map([
  [38, "TL1"],
  [39, "TL2"],
  [40, "I2_S"],
]);

/** Programs that guessed the file type add this number to it. */
const guessed = 1024;

/**
 * The name of a `general.file_type` number ("Q4_K_M"), or "file type 99" for an unknown one. `tensorTypes`: the types of the tensors in the file. The numbers of
 * the BitNet fork have its meaning if a tensor has that type.
 */
export function ggmlFileType(number: number, tensorTypes: ReadonlySet<string>): string {
  const plain = number >= guessed ? number - guessed : number;
  const bitnet = bitnetFileTypes.get(plain);
  const name = bitnet !== undefined && tensorTypes.has(bitnet) ? bitnet : (fileTypes.get(plain) ?? `file type ${plain}`);
  return number >= guessed ? `${name} (guessed)` : name;
}
