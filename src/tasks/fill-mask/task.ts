/** Definition of the task `fill-mask`. */
import type { FillMaskOptions } from "./fill-mask-options.ts";
import type { MaskFills } from "./fill-mask.ts";
import { getArchitectures } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, tokenizerFiles } from "../definition/define-task.ts";

/** The task `fill-mask`: candidate tokens for the mask tokens of texts. */
export const fillMaskTask: Task<readonly string[], FillMaskOptions, MaskFills> = defineTask(
  {
    task: "fill-mask",
    verb: "fillMask",
    command: "fill-mask",
    route: "/api/fill-mask",
    input: "texts with mask tokens",
    output: "for each mask tokens with scores",
    models: getArchitectures("fill-mask"),
    files: tokenizerFiles,
    pipeline: true,
  },
  async () => {
    const [{ fillMask }, { fillMaskOptions }] = await Promise.all([import("./fill-mask.ts"), import("./fill-mask-options.ts")]);
    return { options: fillMaskOptions, run: fillMask };
  },
);
