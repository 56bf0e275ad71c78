/** Compares the model described in a receipt with files on this machine. */
import { getMessage } from "../contract/errors.ts";
import { type TokenFacts, promptTokens, readTokenFacts } from "../cross-validation/loaded-language.ts";
import { encoderDecoderNames } from "../engine/transformers/architecture-names.ts";
import { languageVariants } from "../models/manifest/language-variants.ts";
import { readManifest, refuseUnreadable } from "../models/index.ts";
import type { Variant } from "../models/manifest.ts";
import { fileStatus } from "../platform/node/files.ts";
import { type ReceiptModelFacts, readModelFacts } from "./model-facts.ts";
import type { Receipt, ReceiptModel } from "./receipt.ts";
import type { Finding, Refusal } from "./verification.ts";

/**
 * Compares the model's files. `given`: a reference; without one the model is looked for at the path that the receipt names. Nothing is downloaded. Throws for a given
 * model that is not there.
 */
export async function checkModel(receipt: Receipt, given: string | undefined): Promise<readonly Finding[]> {
  const reference = given ?? receipt.model.reference;
  if (given === undefined && !(await isHere(reference)))
    return [{ unchecked: `the model ${reference} is not on this machine: its digests were not compared` }];
  try {
    return await compareModel(receipt, reference);
  } catch (error) {
    // A path in a receipt from elsewhere may lead to anything; a path that the caller gives must lead to a model.
    if (given !== undefined) throw error;
    return [{ unchecked: `the model ${reference} of this machine cannot be read: ${getMessage(error)}` }];
  }
}

async function compareModel(receipt: Receipt, reference: string): Promise<readonly Finding[]> {
  const { decision } = receipt;
  const manifest = await readManifest(reference);
  const { variants } = manifest;
  const wanted = decision.model.packedFrom ?? decision.model.variant;
  refuseUnreadable(manifest, wanted);
  const candidates = languageVariants(variants).filter(({ name }) => name === wanted);
  const [variant] = candidates.length > 0 ? candidates : languageVariants(variants);
  if (variant === undefined) return [{ unchecked: `the model ${reference} has no weights here` }];
  const facts = await readModelFacts(variant);
  const hasEncoder =
    variant.encoder !== undefined ||
    encoderDecoderNames.includes(variant.architecture ?? "") ||
    manifest.tasks.includes("text2text-generation");
  const contradictions = [...disagreementsOfTexts(receipt, await readTokenFacts(manifest), reference, hasEncoder)];
  const refusals: readonly Refusal[] = [
    ...differencesOfFiles(receipt, reference, { ...facts, format: variant.format }),
    ...contradictions.map((reason) => ({ code: "contradiction", reason }) as const),
  ];
  return refusals.length > 0 ? refusals : [{ held: `the files of ${reference} have the digests of the receipt` }];
}

/** What the files of a model say otherwise than a receipt. */
function* differencesOfFiles(
  { model, decision }: Receipt,
  reference: string,
  facts: ReceiptModelFacts & Pick<Variant, "format">,
): Generator<Refusal> {
  const refuse = (reason: string): Refusal => ({ code: "model-digest", reason });
  for (const file of facts.files) {
    const recorded = model.files.find(({ name, sha256 }) => name === file.name || sha256 === file.sha256);
    if (recorded === undefined) yield refuse(`${file.name} of ${reference} is not among the files of the receipt`);
    else if (recorded.sha256 !== file.sha256)
      yield refuse(`${file.name} has the sha256 ${file.sha256}, and the receipt says ${recorded.sha256}`);
    else if (recorded.bytes !== file.bytes)
      yield refuse(`${file.name} has ${file.bytes} bytes, and the receipt says ${recorded.bytes}`);
  }
  if (facts.files.length !== model.files.length)
    yield refuse(`${reference} has ${facts.files.length} files, and the receipt lists ${model.files.length}`);
  const types = (list: ReceiptModel["weightTypes"]): string =>
    list.map(({ type, bytes }) => `${type} (${bytes} bytes)`).join(", ");
  if (types(facts.weightTypes) !== types(model.weightTypes))
    yield refuse(`the weights of ${reference} are ${types(facts.weightTypes)}, and the receipt says ${types(model.weightTypes)}`);
  const isPacked = decision.model.packedFrom !== undefined;
  if (!isPacked && facts.weightBytesPerToken !== model.weightBytesPerToken) {
    yield refuse(
      `a token needs ${String(facts.weightBytesPerToken)} bytes of the weights of ${reference}, and the receipt says ${String(model.weightBytesPerToken)}`,
    );
  }
  if (facts.format !== decision.model.format)
    yield refuse(`${reference} is ${facts.format}, and the decision of the receipt says ${decision.model.format}`);
}

/**
 * Checks that a model without an encoder read the whole prompt, and with the model's tokenizer that the prompt encodes to the input tokens and the output tokens decode to the output text. Only the last output
 * token may be an end-of-text token.
 */
function* disagreementsOfTexts(
  { input, output, figures }: Receipt,
  facts: TokenFacts,
  reference: string,
  hasEncoder: boolean,
): Generator<string> {
  const { tokenizer, config } = facts;
  const { length } = input.tokens;
  if (!hasEncoder && figures.promptTokens !== length)
    yield `it claims ${figures.promptTokens} tokens of the prompt, and ${reference} reads all ${length}`;
  const text = tokenizer?.decode(output.tokens, { skipSpecialTokens: false }) ?? null;
  if (text !== output.text)
    yield `the tokens of its output are ${quote(text)} to the tokenizer of ${reference}, and it says ${quote(output.text)}`;
  const limits = { vocabulary: Number.POSITIVE_INFINITY, cacheBytesPerToken: 0, hasEncoder: false };
  const tokens =
    input.prompt === null || tokenizer === undefined ? input.tokens : promptTokens(facts, input.prompt, limits).tokens;
  if (tokens.join() !== input.tokens.join())
    yield `its prompt is the tokens ${tokens.join(", ")} to the tokenizer of ${reference}, and it says ${input.tokens.join(", ")}`;
  const end = output.tokens.findIndex((token) => config.endTokens.includes(token));
  if (end >= 0 && end < output.tokens.length - 1)
    yield `its token ${output.tokens[end]} ends a text of ${reference}, and ${output.tokens.length - 1 - end} follow`;
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
