/** Which weights of a model a load asks for. */
import { InferyardError } from "../../errors.ts";
import type { Variant } from "../../models/index.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";

/** The part of a load's options that readers of models take. */
export function variantOption({ variant }: ModelOptions): { readonly variant?: string } {
  return variant === undefined ? {} : { variant };
}

/** MODEL_NOT_FOUND for a name or alias that no variant has. */
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
