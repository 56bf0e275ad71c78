/** Definition of the task `fill-mask`. */
import type { FillMaskOptions, MaskFills } from "./fill-mask.ts";
import { architecturesOf } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, tokenizerFiles } from "../shared/define-task.ts";

/** The task `fill-mask`: candidate tokens for the mask tokens of texts. */
export const fillMaskTask: Task<readonly string[], FillMaskOptions, MaskFills> = defineTask(
  {
    task: "fill-mask",
    verb: "fillMask",
    command: "fill-mask",
    takes: "texts with mask tokens",
    gives: "for each mask tokens with scores",
    models: architecturesOf("fill-mask"),
    files: tokenizerFiles,
    pipeline: true,
  },
  async () => {
    const { fillMask, fillMaskOptionNames } = await import("./fill-mask.ts");
    return { optionNames: fillMaskOptionNames, run: fillMask };
  },
);
