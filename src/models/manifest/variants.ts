/** Reads the variants of a model: those that inferyard.json declares, in its order, or those that are found in the folder. */
import type { ModelFormat, Precision } from "../../contract/backend.ts";
import type { DigestCache } from "../digest.ts";
import { computeDigest } from "../digest.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { UnreadableVariant, Variant } from "../manifest.ts";
import { type Folder, isFile, pathInside, displayNameIn } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import type { LocateOptions, ResolveOptions } from "../reference/model-location.ts";
import { unreadableVariant } from "./unreadable-variants.ts";
import { type VariantClaim, nameVariants } from "./variant-names.ts";
import { type WeightsFile, readWeights } from "./weights.ts";

/** A variant as inferyard.json declares it. */
export interface DeclaredVariant {
  readonly name: string;
  /** Path of the weights, relative to the folder. */
  readonly file: string;
  /** Format of the file. Default: by its extension. */
  readonly format?: ModelFormat;
  /** Precision of the weights. Default: the precision found in the file. */
  readonly precision?: Precision;
  /** Hexadecimal digest of the file. */
  readonly sha256?: string;
  /** Bytes of the file. */
  readonly size?: number;
  /** Architecture of the model. Default: the architecture in config.json. */
  readonly architecture?: string;
  /** Other names that select the variant. */
  readonly aliases?: readonly string[];
}

/** Options for reading a manifest. */
export interface ReadOptions extends ResolveOptions, LocateOptions {
  /** Whether files are compared with the SHA-256 that a manifest states, which reads every byte. Default: false. */
  readonly verify?: boolean;
  /** Cache of digests. Default: none. */
  readonly digests?: DigestCache;
}

/** A variant before config.json was read. */
export type VariantFile = Omit<Variant, "config">;

/** The variants of a model before config.json was read. */
export interface FoundVariants {
  /** In order of preference; never empty. */
  readonly files: readonly VariantFile[];
  /** Variants that cannot be read. */
  readonly unreadable: readonly UnreadableVariant[];
}

/** Reads files of weights as variants, named by their suffix and sorted by preference. `namedIn` names the source of the file names in messages. */
export async function readFoundVariants(folder: Folder, files: readonly string[], namedIn: string): Promise<FoundVariants> {
  return await readClaimedVariants(
    folder,
    files.map((file) => ({ file })),
    namedIn,
  );
}

/** A file of weights as a manifest of another tool names it. */
export interface ClaimedFile {
  /** Path relative to the folder. */
  readonly file: string;
  /** Statements of the manifest about the variant. Absent: it is named after the file. */
  readonly claim?: VariantClaim | undefined;
  /** Hexadecimal digest of the file. */
  readonly sha256?: string;
}

/**
 * Reads files of weights as variants, named as claimed or by their suffix, and sorted by preference. Of two files with the same name, the earlier one gets it.
 * Throws the error of the first file if none can be read.
 */
export async function readClaimedVariants(
  folder: Folder,
  files: readonly ClaimedFile[],
  namedIn: string,
): Promise<FoundVariants> {
  const read = async (claimed: ClaimedFile): Promise<WeightsFile & ClaimedFile> => ({
    ...(await readWeights(folder, claimed.file, namedIn)),
    ...claimed,
  });
  const { items, failures } = await readEach(files, read);
  const unreadable = failures.map(({ item, error }): UnreadableVariant => {
    const [{ name, aliases } = { name: item.file, aliases: [] }] = nameVariants([item]);
    return unreadableVariant({ name, aliases }, error);
  });
  return { files: nameVariants(items).map(({ file: _file, size: _size, claim: _claim, ...variant }) => variant), unreadable };
}

/** Reads all items. Unreadable variants are listed separately; if none can, throws the first error. */
async function readEach<Item, Result>(
  all: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<{
  readonly items: readonly Result[];
  readonly failures: readonly { readonly item: Item; readonly error: InferyardError }[];
}> {
  const items: Result[] = [];
  const failures: { readonly item: Item; readonly error: InferyardError }[] = [];
  for (const item of all) {
    try {
      items.push(await read(item));
    } catch (error) {
      if (!(error instanceof InferyardError)) throw error;
      failures.push({ item, error });
    }
  }
  const [first] = failures;
  if (items.length === 0 && first !== undefined) throw first.error;
  return { items, failures };
}

/**
 * Reads the variants that inferyard.json declares. A file that is missing or differs from its declaration cannot be read: in its size, or with
 * `options.verify` in its digest. Throws MODEL_INVALID if none can be read, and with `options.verify` if one cannot.
 */
export async function readDeclaredVariants(
  folder: Folder,
  stated: readonly DeclaredVariant[],
  options: ReadOptions,
): Promise<FoundVariants> {
  const present = await presentVariants(folder, stated);
  const { items, failures } = await readEach(present, (variant) => readDeclared(folder, variant, options));
  const [first] = failures;
  if (options.verify === true && first !== undefined) throw first.error;
  const unreadable = failures.map(({ item: { name, aliases = [] }, error }) => unreadableVariant({ name, aliases }, error));
  return { files: items, unreadable };
}

async function readDeclared(
  folder: Folder,
  { name, file, format, aliases = [], size, sha256, precision, architecture }: DeclaredVariant,
  options: ReadOptions,
): Promise<VariantFile> {
  const weights = await readWeights(folder, file, displayNameIn(folder, "inferyard.json"), format);
  checkSize(folder, weights, size);
  if (options.verify === true && sha256 !== undefined) await checkDigest(folder, weights, sha256, options.digests);
  const { file: _file, size: _size, ...found } = weights;
  return {
    name,
    aliases,
    ...found,
    ...omitUndefined({ precision, sha256: sha256?.toLowerCase(), architecture }),
  };
}

/** Of a folder that was fetched in part, the variants whose files are there. All of them if none is there, so that the error names the first missing file. */
async function presentVariants(folder: Folder, stated: readonly DeclaredVariant[]): Promise<readonly DeclaredVariant[]> {
  if (folder.partial !== true) return stated;
  const present = await Promise.all(
    stated.map(({ file }) =>
      isFile(pathInside(folder, file, displayNameIn(folder, "inferyard.json")), displayNameIn(folder, file)),
    ),
  );
  return present.includes(true) ? stated.filter((_variant, index) => present[index]) : stated;
}

const remedy = "download the file again, or correct inferyard.json";

function checkSize(folder: Folder, { file, size }: WeightsFile, stated: number | undefined): void {
  if (stated === undefined || stated === size) return;
  throw modelInvalid(`${displayNameIn(folder, file)} has ${size} bytes, and inferyard.json says ${stated}`, remedy);
}

async function checkDigest(folder: Folder, weights: WeightsFile, stated: string, memo: DigestCache | undefined): Promise<void> {
  const digest = await computeDigest(weights, memo);
  if (digest === stated.toLowerCase()) return;
  throw modelInvalid(
    `${displayNameIn(folder, weights.file)} has the SHA-256 ${digest}, and inferyard.json says ${stated}`,
    remedy,
  );
}
