/** Weights of a model that cannot be read, beside others that can. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Manifest, UnreadableVariant, Variant } from "../manifest.ts";

type NamedVariant = Pick<Variant, "name" | "aliases">;

/** Describes a variant that cannot be read. `error`: the error of reading it. */
export function unreadableVariant({ name, aliases }: NamedVariant, { code, message, remedy }: InferyardError): UnreadableVariant {
  return { name, aliases, code, reason: message, ...omitUndefined({ remedy }) };
}

/** Throws the error of reading a variant, if `wanted` names it and no variant that can be read. Does nothing if `wanted` is undefined. */
export function refuseUnreadable(
  { variants, unreadable = [] }: Pick<Manifest, "variants" | "unreadable">,
  wanted: string | undefined,
): void {
  if (wanted === undefined) return;
  const isWanted = ({ name, aliases }: NamedVariant): boolean => name === wanted || aliases.includes(wanted);
  if (!variants.some(isWanted)) throwReason(unreadable.find(isWanted));
}

/** Throws the error of the first variant that cannot be read: for programs that copy all files of a model. */
export function requireReadable({ unreadable = [] }: Pick<Manifest, "unreadable">): void {
  throwReason(unreadable[0]);
}

function throwReason(variant: UnreadableVariant | undefined): void {
  if (variant === undefined) return;
  const { code, reason, remedy } = variant;
  throw new InferyardError(code, reason, remedy === undefined ? {} : { remedy });
}
