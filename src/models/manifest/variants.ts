/** The variants of a model: as inferyard.json states them, in its order, or as they are found in the folder. */
import type { ModelFormat, Precision } from "../../backend.ts";
import type { DigestCache } from "../digest.ts";
import { digestOf } from "../digest.ts";
import type { Variant } from "../manifest.ts";
import { type Folder, isFile, pathInside, shownIn } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import type { ResolveOptions } from "../reference/model-location.ts";
import { type VariantClaim, nameVariants } from "./variant-names.ts";
import { type WeightsFile, readWeights } from "./weights.ts";

/** One file of weights as inferyard.json states it. */
export interface DeclaredVariant {
  readonly name: string;
  /** Relative to the folder. */
  readonly file: string;
  /** Default: by extension. */
  readonly format?: ModelFormat;
  /** Default: what the file says. */
  readonly precision?: Precision;
  readonly sha256?: string;
  /** Bytes of the file. */
  readonly size?: number;
  /** Default: what config.json says. */
  readonly architecture?: string;
  readonly aliases?: readonly string[];
}

export interface ReadOptions extends ResolveOptions {
  /** Hold files against the SHA-256 that a manifest states, which reads every byte. Default: false. */
  readonly verify?: boolean;
  /** Remembers digests. Default: none are remembered. */
  readonly digests?: DigestCache;
}

/** A variant but for its config.json. */
export type VariantFile = Omit<Variant, "config">;

/** Found files are named by their suffix and put in order of preference. `namedIn` is where their names come from, for messages. */
export async function readFoundVariants(folder: Folder, files: readonly string[], namedIn: string): Promise<VariantFile[]> {
  return await readClaimedVariants(
    folder,
    files.map((file) => ({ file })),
    namedIn,
  );
}

/** A file of weights as a manifest other than ours names it. */
export interface ClaimedFile {
  readonly file: string;
  readonly claim?: VariantClaim | undefined;
  /** Hexadecimal. */
  readonly sha256?: string;
}

/** Named as claimed or, without a claim, by their suffix; in order of preference. Earlier files have the better claim to a name. */
export async function readClaimedVariants(
  folder: Folder,
  files: readonly ClaimedFile[],
  namedIn: string,
): Promise<VariantFile[]> {
  const found: (WeightsFile & ClaimedFile)[] = [];
  for (const claimed of files) found.push({ ...(await readWeights(folder, claimed.file, namedIn)), ...claimed });
  return nameVariants(found).map(({ file: _file, size: _size, claim: _claim, ...variant }) => variant);
}

/** MODEL_INVALID when a file is not what is stated. */
export async function readDeclaredVariants(
  folder: Folder,
  stated: readonly DeclaredVariant[],
  options: ReadOptions,
): Promise<VariantFile[]> {
  const variants: VariantFile[] = [];
  for (const { name, file, format, aliases = [], size, sha256, precision, architecture } of await presentVariants(
    folder,
    stated,
  )) {
    const weights = await readWeights(folder, file, shownIn(folder, "inferyard.json"), format);
    checkSize(folder, weights, size);
    if (options.verify === true && sha256 !== undefined) await checkDigest(folder, weights, sha256, options.digests);
    const { file: _file, size: _size, ...found } = weights;
    variants.push({
      name,
      aliases,
      ...found,
      ...(precision === undefined ? {} : { precision }),
      ...(sha256 === undefined ? {} : { sha256: sha256.toLowerCase() }),
      ...(architecture === undefined ? {} : { architecture }),
    });
  }
  return variants;
}

/** All of them, unless the folder was fetched in part; and all where none was, so that the first is missed by name. */
async function presentVariants(folder: Folder, stated: readonly DeclaredVariant[]): Promise<readonly DeclaredVariant[]> {
  if (folder.partial !== true) return stated;
  const there = await Promise.all(
    stated.map(({ file }) => isFile(pathInside(folder, file, shownIn(folder, "inferyard.json")), shownIn(folder, file))),
  );
  return there.includes(true) ? stated.filter((_variant, index) => there[index]) : stated;
}

const remedy = "download the file again, or correct inferyard.json";

function checkSize(folder: Folder, { file, size }: WeightsFile, stated: number | undefined): void {
  if (stated === undefined || stated === size) return;
  throw modelInvalid(`${shownIn(folder, file)} has ${size} bytes, and inferyard.json says ${stated}`, remedy);
}

async function checkDigest(folder: Folder, weights: WeightsFile, stated: string, memo: DigestCache | undefined): Promise<void> {
  const digest = await digestOf(weights, memo);
  if (digest === stated.toLowerCase()) return;
  throw modelInvalid(`${shownIn(folder, weights.file)} has the SHA-256 ${digest}, and inferyard.json says ${stated}`, remedy);
}
