/** Which order of codes the I2_S tensors of a model have: what was asked for, what the file states, or what the shapes leave. */
import { InferyardError } from "../../../contract/errors.ts";
import { modelInvalid } from "../../format-errors.ts";
import { fitsI2SLayout, type I2SLayout, i2sLayouts } from "../blocks/i2s.ts";
import { ggufText } from "../gguf-metadata.ts";
import type { GgufModel } from "./read-model.ts";

/** Key under which `inferyard quantize` states the order. BitNet's own tools have none. */
export const i2sLayoutKey = "inferyard.i2_s_layout";

/** An order, and a sentence for the evidence about its source. */
export interface I2SChoice {
  readonly layout: I2SLayout;
  readonly sentence: string;
}

/**
 * The orders that the shapes of all I2_S tensors allow, the most frequent first; only the one that the file states, if it states one. Empty if there are no
 * such tensors. Throws MODEL_INVALID if the file states an order that is not known, and MODEL_UNSUPPORTED if no order fits.
 */
export function possibleI2SLayouts({ tensors, metadata }: GgufModel): readonly I2SLayout[] {
  const shapes = [...tensors.values()].filter(({ type }) => type === "I2_S").map(({ shape }) => shape);
  if (shapes.length === 0) return [];
  const stated = ggufText(metadata, i2sLayoutKey);
  if (stated !== undefined && !i2sLayouts.some((each) => each === stated))
    throw modelInvalid(
      `the metadata has "${i2sLayoutKey}": "${stated}", and known are ${i2sLayouts.join(", ")}`,
      "quantize it again",
    );
  const possible = i2sLayouts.filter(
    (layout) =>
      (stated === undefined || layout === stated) &&
      shapes.every(([columns = 1, ...rows]) =>
        fitsI2SLayout(
          layout,
          rows.reduce((product, size) => product * size, 1),
          columns,
        ),
      ),
  );
  if (possible.length > 0) return possible;
  throw new InferyardError("MODEL_UNSUPPORTED", "the shapes of the I2_S tensors fit none of the orders of codes that are known", {
    remedy: "use the model in another quantization",
  });
}

/** The order in which a model is read; undefined if it has no I2_S tensors. Throws as `possibleI2SLayouts`, and MODEL_UNSUPPORTED if `wanted` is not possible. */
export function chooseI2SLayout(model: GgufModel, wanted: I2SLayout | undefined): I2SChoice | undefined {
  const possible = possibleI2SLayouts(model);
  const [layout] = possible;
  if (layout === undefined) return undefined;
  const isStated = model.metadata.has(i2sLayoutKey);
  if (wanted !== undefined && !possible.includes(wanted)) {
    const why = isStated ? `the file states ${layout}` : `the shapes of its tensors allow ${possible.join(" and ")}`;
    throw new InferyardError("MODEL_UNSUPPORTED", `i2sLayout asks for ${wanted}, and ${why}`, {
      remedy: `set i2sLayout to ${possible.join(" or ")}, or leave it out`,
    });
  }
  const reason = isStated ? "the file states it" : possible.length === 1 ? "no other fits the shapes" : undefined;
  const read = `I2_S weights are read in the layout ${wanted ?? layout}`;
  if (reason !== undefined) return { layout, sentence: `${read}: ${reason}` };
  if (wanted !== undefined) return { layout: wanted, sentence: `${read}: i2sLayout asks for it` };
  return { layout, sentence: `${read}, which the file does not state; i2sLayout names another` };
}
