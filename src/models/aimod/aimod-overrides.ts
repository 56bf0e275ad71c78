/** Converts a metadata.json to the fields of our manifest. */
import { omitUndefined } from "../../contract/checked.ts";
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import { omitNullish } from "../model-folder.ts";
import type { AimodJson } from "./aimod-json.ts";
import { normalizeWord, getRequirements, getSelection, getSettings } from "./hardware.ts";
import { formatOfFramework, tasksByKapslTask } from "./vocabulary.ts";

/** Converts a valid metadata.json of an .aimod package to the fields of our manifest that it states. */
export function aimodOverrides(json: AimodJson): ManifestOverrides {
  const { project_name, framework, format, task, model_file, version, created_at, model_type, metadata } = json;
  const hardware = json.hardware_requirements ?? {};
  const { optimized_for, strategy, isolation_mode } = hardware;
  const writesText = normalizeWord(framework) === "llm" || normalizeWord(task ?? "") === "generate";
  const tasks = writesText || task === undefined ? undefined : tasksByKapslTask.get(normalizeWord(task));
  return {
    source: "aimod",
    name: project_name,
    ...omitUndefined({ tasks }),
    ...(writesText ? { writesText } : {}),
    mainFile: model_file,
    selection: getSelection(hardware, formatOfFramework.get(normalizeWord(format ?? framework)) ?? "onnx"),
    requirements: getRequirements(hardware),
    ...getSettings(hardware),
    provenance: omitNullish({ version, created_at, model_type, metadata, optimized_for, strategy, isolation_mode }),
  };
}
