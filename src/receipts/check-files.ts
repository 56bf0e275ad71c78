/** Holds the digests of a receipt against files of this machine. */
import { basename } from "node:path";
import { InferyardError, messageOf } from "../contract/errors.ts";
import { languageVariants } from "../models/manifest/language-variants.ts";
import { readManifest, refuseUnreadable } from "../models/index.ts";
import { sha256Of } from "../platform/node/files.ts";
import { fileStatus } from "../platform/node/files.ts";
import { readModelFacts } from "./model-facts.ts";
import type { Receipt, ReceiptModel } from "./receipt.ts";
import type { Refusal } from "./verification.ts";

/** What a check of files found. */
export interface FileCheck {
  readonly refusals: readonly Refusal[];
  readonly held: readonly string[];
  readonly unchecked: readonly string[];
}

/**
 * Compares the model's files. `given`: a reference; without one the model is looked for at the path that the receipt names. Nothing is downloaded. Throws for a given
 * model that is not there.
 */
export async function checkModel(receipt: Receipt, given: string | undefined): Promise<FileCheck> {
  const { model } = receipt;
  const unchecked = (reason: string): FileCheck => ({ refusals: [], held: [], unchecked: [reason] });
  const reference = given ?? model.reference;
  if (given === undefined && !(await isHere(reference)))
    return unchecked(`the model ${reference} is not on this machine: its digests were not compared`);
  try {
    return await compareModel(receipt, reference);
  } catch (error) {
    // A path in a receipt from elsewhere may lead to anything; a path that the caller gives must lead to a model.
    if (given !== undefined) throw error;
    return unchecked(`the model ${reference} of this machine cannot be read: ${messageOf(error)}`);
  }
}

async function compareModel({ model, decision }: Receipt, reference: string): Promise<FileCheck> {
  const manifest = await readManifest(reference);
  const { variants } = manifest;
  const wanted = decision.model.packedFrom ?? decision.model.variant;
  refuseUnreadable(manifest, wanted);
  const candidates = languageVariants(variants).filter(({ name }) => name === wanted);
  const [variant] = candidates.length > 0 ? candidates : languageVariants(variants);
  if (variant === undefined) return { refusals: [], held: [], unchecked: [`the model ${reference} has no weights here`] };
  const facts = await readModelFacts(variant);
  const refusals: Refusal[] = [];
  const refuse = (reason: string): void => void refusals.push({ code: "model-digest", reason });
  for (const file of facts.files) {
    const recorded = model.files.find(({ name, sha256 }) => name === file.name || sha256 === file.sha256);
    if (recorded === undefined) refuse(`${file.name} of ${reference} is not among the files of the receipt`);
    else if (recorded.sha256 !== file.sha256)
      refuse(`${file.name} has the sha256 ${file.sha256}, and the receipt says ${recorded.sha256}`);
    else if (recorded.bytes !== file.bytes)
      refuse(`${file.name} has ${file.bytes} bytes, and the receipt says ${recorded.bytes}`);
  }
  if (facts.files.length !== model.files.length)
    refuse(`${reference} has ${facts.files.length} files, and the receipt lists ${model.files.length}`);
  const types = (list: ReceiptModel["weightTypes"]): string =>
    list.map(({ type, bytes }) => `${type} (${bytes} bytes)`).join(", ");
  if (types(facts.weightTypes) !== types(model.weightTypes))
    refuse(`the weights of ${reference} are ${types(facts.weightTypes)}, and the receipt says ${types(model.weightTypes)}`);
  const isPacked = decision.model.packedFrom !== undefined;
  if (!isPacked && facts.weightBytesPerToken !== model.weightBytesPerToken) {
    refuse(
      `a token needs ${String(facts.weightBytesPerToken)} bytes of the weights of ${reference}, and the receipt says ${String(model.weightBytesPerToken)}`,
    );
  }
  return {
    refusals,
    held: refusals.length > 0 ? [] : [`the files of ${reference} have the digests of the receipt`],
    unchecked: [],
  };
}

/** Compares the library. `given`: a path; without one the path that the receipt names. Throws INPUT_INVALID for a given file that cannot be read. */
export async function checkLibrary({ library }: Receipt, given: string | undefined): Promise<FileCheck> {
  const { path, sha256 } = library;
  if (sha256 === undefined) {
    if (given === undefined) return { refusals: [], held: [], unchecked: ["the receipt names no file of a library"] };
    const reason = `${given} is given, and the receipt has no digest of a library: ${library.name} ${library.version} ran`;
    return { refusals: [{ code: "library-digest", reason }], held: [], unchecked: [] };
  }
  const file = given ?? path;
  if (file === undefined || (given === undefined && !(await isHere(file)))) {
    return {
      refusals: [],
      held: [],
      unchecked: [`the library ${path ?? library.name} is not on this machine: its digest was not compared`],
    };
  }
  let found: string;
  try {
    found = await sha256Of(file);
  } catch (error) {
    const reason = `${file} cannot be read: ${messageOf(error)}`;
    if (given !== undefined) throw new InferyardError("INPUT_INVALID", reason, { cause: error });
    return { refusals: [], held: [], unchecked: [`the library of the receipt was not compared: ${reason}`] };
  }
  if (found === sha256) return { refusals: [], held: [`${basename(file)} has the digest of the receipt`], unchecked: [] };
  const reason = `${file} has the sha256 ${found}, and the receipt says ${sha256}`;
  return { refusals: [{ code: "library-digest", reason }], held: [], unchecked: [] };
}

/** Whether there is a file or folder of this name. References to the hub and names in the store are not looked up. */
async function isHere(path: string): Promise<boolean> {
  return fileStatus(path).then(
    () => true,
    () => false,
  );
}
