/** Finds what a backend's capabilities say of a model. */
import type { Capabilities, ModelFiles, SupportedModels } from "../backend.ts";

/** The facts of a model that decide whether a backend loads it. */
export type SupportedModelFacts = Pick<ModelFiles, "format" | "architecture">;

/** The entry of the capabilities that a model fits, loaded as `kind` (default: "tensor"); undefined if the backend does not load it. */
export function findSupport(
  { models }: Pick<Capabilities, "models">,
  { format, architecture }: SupportedModelFacts,
  kind: SupportedModels["kind"] = "tensor",
): SupportedModels | undefined {
  return models.find(
    (each) =>
      each.kind === kind &&
      each.format === format &&
      (each.architectures === "any" || (architecture !== undefined && each.architectures.includes(architecture))),
  );
}
