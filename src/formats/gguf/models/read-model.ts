/** Reads the headers of a GGUF model, which gguf-split of llama.cpp may have divided into several files. */
import { InferyardError } from "../../../contract/errors.ts";
import { basename, dirname, join } from "../../../platform/node/paths.ts";
import { modelInvalid } from "../../format-errors.ts";
import { type GgufValue, type KeptMetadata, ggufNumber, ggufText } from "../gguf-metadata.ts";
import { type GgufFile, type GgufTensor, readGguf } from "../read-gguf.ts";

/** A GGUF model: the metadata of its first file, and the tensors of all its files. */
export interface GgufModel {
  /** `general.architecture`. */
  readonly architecture: string;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  /** By name. */
  readonly tensors: ReadonlyMap<string, GgufModelTensor>;
  /** Paths of the files, the first one first. */
  readonly paths: readonly string[];
  /** Bytes of all files. */
  readonly bytes: number;
}

/** A tensor and the file that holds it. */
export interface GgufModelTensor extends GgufTensor {
  readonly path: string;
}

/** Number and count of a part in the names that gguf-split writes: model-00001-of-00003.gguf. */
const partName = /-(\d{5})-of-(\d{5})\.gguf$/i;

/** Largest number of parts that are opened: those of the largest published models are below 100. */
const maxParts = 1000;

/**
 * Reads the headers of the model whose first file is at `path`. Throws as `readGguf` does; MODEL_INVALID if a part is missing or states another
 * place, and MODEL_UNSUPPORTED for a big-endian file and for one that is no model but an adapter, a projector or an importance matrix.
 */
export async function readGgufModel(path: string, displayName: string, keep?: KeptMetadata): Promise<GgufModel> {
  const first = await readGguf(path, displayName, keep);
  checkKind(first, displayName);
  const paths = partPaths(path, first, displayName);
  const tensors = new Map<string, GgufModelTensor>();
  let bytes = 0;
  for (const [index, each] of paths.entries()) {
    const shown = index === 0 ? displayName : join(dirname(displayName), basename(each));
    const part = index === 0 ? first : await readGguf(each, shown);
    checkPart(part, { index, count: paths.length, shown });
    bytes += part.bytes;
    for (const tensor of part.tensors) {
      if (tensors.has(tensor.name)) throw modelInvalid(`${shown} has the tensor ${tensor.name} of another part again`, again);
      tensors.set(tensor.name, { ...tensor, path: each });
    }
  }
  const architecture = ggufText(first.metadata, "general.architecture");
  if (architecture === undefined) throw modelInvalid(`${displayName} does not state its architecture`, again);
  return { architecture, metadata: first.metadata, tensors, paths, bytes };
}

const again = "download the file again, or convert the model again";

function checkKind({ metadata, byteOrder }: GgufFile, displayName: string): void {
  if (byteOrder === "big-endian") {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${displayName} is big-endian, and only little-endian GGUF files can be loaded`,
      {
        remedy: "convert it with gguf_convert_endian.py of llama.cpp",
      },
    );
  }
  const kind = ggufText(metadata, "general.type") ?? "model";
  if (kind !== "model") {
    throw new InferyardError("MODEL_UNSUPPORTED", `${displayName} is of the type "${kind}", and only models can be loaded`, {
      remedy: "give the GGUF file of the model itself",
      data: { type: kind },
    });
  }
}

/** The paths of all parts, by the count that the first part states. */
function partPaths(path: string, { metadata }: GgufFile, displayName: string): readonly string[] {
  const count = ggufNumber(metadata, "split.count") ?? 1;
  if (count <= 1) return [path];
  const [suffix, number] = partName.exec(path) ?? [];
  if (suffix === undefined || count > maxParts || !Number.isInteger(count)) {
    throw modelInvalid(
      `${displayName} is one of ${count} parts, and its name does not end in -00001-of-${String(count).padStart(5, "0")}.gguf`,
      "keep the names that gguf-split gave to the files",
    );
  }
  if (Number(number) !== 1) {
    throw modelInvalid(
      `${displayName} is part ${Number(number)} of ${count}`,
      "name the first part: the others are found beside it",
    );
  }
  const stem = path.slice(0, -suffix.length);
  const digits = (value: number): string => String(value).padStart(5, "0");
  return Array.from({ length: count }, (_, index) => `${stem}-${digits(index + 1)}-of-${digits(count)}.gguf`);
}

interface Part {
  readonly index: number;
  readonly count: number;
  readonly shown: string;
}

function checkPart({ metadata }: GgufFile, { index, count, shown }: Part): void {
  if (count === 1) return;
  const [no, of] = [ggufNumber(metadata, "split.no"), ggufNumber(metadata, "split.count")];
  if (no === index && of === count) return;
  throw modelInvalid(
    `${shown} states that it is part ${(no ?? 0) + 1} of ${of ?? 1}, and its name part ${index + 1} of ${count}`,
    again,
  );
}
