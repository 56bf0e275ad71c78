/** Runs the task `extraction`, which needs up to two models: one for entities, one for answers to questions. */
import type { ModelHandle } from "../runtime/model-handle.ts";
import { modelOptionNames, refuseUnknown } from "../runtime/options/options.ts";
import type { ExtractPart, FoundFields } from "../tasks/extraction/extract.ts";
import type { EncoderTasks } from "./encoder-tasks.ts";
import type { ExtractRequest, ExtractResult, TaskRun } from "./task-requests.ts";

/**
 * Extracts the fields of a schema from texts, one model after the other. Throws INPUT_INVALID for unknown options, for a field without the model it
 * needs, and for a model that no field needs.
 */
export async function extractFields(
  encoders: Pick<EncoderTasks, "runOnModel">,
  texts: readonly string[],
  { model, questionModel, ...options }: ExtractRequest,
): Promise<ExtractResult> {
  const [{ extractParts, mergeFields }, { extractOptions }] = await Promise.all([
    import("../tasks/extraction/extract.ts"),
    import("../tasks/extraction/extract-options.ts"),
  ]);
  refuseUnknown(options, ["model", "questionModel", ...Object.keys(extractOptions), ...modelOptionNames], "extract");
  const [first, second] = extractParts(options, { model, questionModel });
  const run = ({ model, work }: ExtractPart<string | ModelHandle>): Promise<FoundFields & TaskRun> => {
    const request = { ...options, model };
    const call = { verb: "extract", optionNames: Object.keys(request), request };
    return encoders.runOnModel(call, (encoder) => work(encoder, texts));
  };
  const main = await run(first);
  if (second === undefined) return { ...main, results: mergeFields(options.schema, [main], texts.length) };
  const { results, model: other, target, decision, milliseconds } = await run(second);
  return {
    ...main,
    results: mergeFields(options.schema, [main, { results }], texts.length),
    milliseconds: main.milliseconds + milliseconds,
    questionRun: { model: other, target, decision },
  };
}
