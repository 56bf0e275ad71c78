/** Compares the model described in a receipt with files on this machine. */
import { getMessage } from "../contract/errors.ts";
import { type TokenFacts, promptTokens, readTokenFacts } from "../cross-validation/loaded-language.ts";
import { encoderDecoderNames } from "../engine/transformers/architecture-names.ts";
import { languageVariants } from "../models/manifest/language-variants.ts";
import { readManifest, refuseUnreadable } from "../models/index.ts";
import { fileStatus } from "../platform/node/files.ts";
import { readModelFacts } from "./model-facts.ts";
import type { Receipt, ReceiptModel } from "./receipt.ts";
import type { Refusal } from "./verification.ts";

/** Result of checking files. */
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
    return unchecked(`the model ${reference} of this machine cannot be read: ${getMessage(error)}`);
  }
}

async function compareModel(receipt: Receipt, reference: string): Promise<FileCheck> {
  const { model, decision } = receipt;
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
  if (variant.format !== decision.model.format)
    refuse(`${reference} is ${variant.format}, and the decision of the receipt says ${decision.model.format}`);
  const hasEncoder =
    variant.encoder !== undefined ||
    encoderDecoderNames.includes(variant.architecture ?? "") ||
    manifest.tasks.includes("text2text-generation");
  const { promptTokens: claimed } = receipt.figures;
  const { length } = receipt.input.tokens;
  if (!hasEncoder && claimed !== length)
    refusals.push({
      code: "contradiction",
      reason: `it claims ${claimed} tokens of the prompt, and ${reference} reads all ${length}`,
    });
  for (const reason of disagreementsOfTexts(receipt, await readTokenFacts(manifest), reference))
    refusals.push({ code: "contradiction", reason });
  return {
    refusals,
    held: refusals.length > 0 ? [] : [`the files of ${reference} have the digests of the receipt`],
    unchecked: [],
  };
}

/**
 * Checks with the model's tokenizer that the prompt encodes to the input tokens and the output tokens decode to the output text. Only the last output
 * token may be an end-of-text token.
 */
function disagreementsOfTexts({ input, output }: Receipt, facts: TokenFacts, reference: string): readonly string[] {
  const problems: string[] = [];
  const { tokenizer, config } = facts;
  const text = tokenizer?.decode(output.tokens, { skipSpecialTokens: false }) ?? null;
  if (text !== output.text)
    problems.push(
      `the tokens of its output are ${quote(text)} to the tokenizer of ${reference}, and it says ${quote(output.text)}`,
    );
  const limits = { vocabulary: Number.POSITIVE_INFINITY, cacheBytesPerToken: 0, hasEncoder: false };
  const tokens =
    input.prompt === null || tokenizer === undefined ? input.tokens : promptTokens(facts, input.prompt, limits).tokens;
  if (tokens.join() !== input.tokens.join())
    problems.push(
      `its prompt is the tokens ${tokens.join(", ")} to the tokenizer of ${reference}, and it says ${input.tokens.join(", ")}`,
    );
  const end = output.tokens.findIndex((token) => config.endTokens.includes(token));
  if (end >= 0 && end < output.tokens.length - 1)
    problems.push(`its token ${output.tokens[end]} ends a text of ${reference}, and ${output.tokens.length - 1 - end} follow`);
  return problems;
}

function quote(text: string | null): string {
  return text === null ? "no text" : JSON.stringify(text);
}

/** Whether there is a file or folder of this name. References to the hub and names in the store are not looked up. */
export async function isHere(path: string): Promise<boolean> {
  return fileStatus(path).then(
    () => true,
    () => false,
  );
}
