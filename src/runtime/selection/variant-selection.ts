/** The variant (set of weights) that a load requests. */
import { InferyardError } from "../../errors.ts";
import type { Variant } from "../../models/index.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";

/** The option `variant` alone, as readers of models take it. */
export function variantOption({ variant }: ModelOptions): { readonly variant?: string } {
  return variant === undefined ? {} : { variant };
}

/** Throws MODEL_NOT_FOUND if no variant has `wanted` as its name or alias. Does nothing if `wanted` is undefined. */
export function refuseUnknownVariant(
  variants: readonly Pick<Variant, "name" | "aliases">[],
  wanted: string | undefined,
  reference: string,
): void {
  if (wanted === undefined || variants.some(({ name, aliases }) => name === wanted || aliases.includes(wanted))) return;
  throw new InferyardError("MODEL_NOT_FOUND", `${reference} has no variant "${wanted}"`, {
    remedy: `choose one of ${variants.map(({ name }) => name).join(", ")}`,
    data: { variants: variants.map(({ name }) => name) },
  });
}
