/** Finds the task of a request of Hugging Face's inference API, and answers it. */
import type { Context } from "hono";
import { InferyardError, invalidInput } from "../../../contract/errors.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { type Env, getCaller } from "../../http/context.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import type { Service } from "../../serving/service.ts";
import { textLabels } from "../model-capabilities.ts";
import { type AnsweredForm, answerBody } from "../answered-form.ts";
import { headerModel } from "../run-task.ts";
import { modelNotHere } from "../tei/info.ts";
import { type GenerationTask, answerTexts, getGenerationTask } from "./answer-texts.ts";
import { type HuggingFacePipelineTask, taskOfShape } from "./pipelines.ts";

/** A task of Hugging Face. */
export type HuggingFaceTask = HuggingFacePipelineTask | GenerationTask | "feature-extraction";

/** Other names of tasks, in transformers and in older clients. */
const taskNames: Readonly<Record<string, HuggingFaceTask>> = {
  "feature-extraction": "feature-extraction",
  "text-classification": "text-classification",
  "sentiment-analysis": "text-classification",
  "token-classification": "token-classification",
  ner: "token-classification",
  "zero-shot-classification": "zero-shot-classification",
  "fill-mask": "fill-mask",
  "question-answering": "question-answering",
  "sentence-similarity": "sentence-similarity",
  "text-generation": "text-generation",
  "text2text-generation": "text2text-generation",
  summarization: "summarization",
  translation: "translation",
};

const notBuilt: ReadonlySet<string> = new Set(["conversational", "table-question-answering"]);

/** The forms of the tasks that write no texts. */
export type TaskForms = Readonly<Record<Exclude<HuggingFaceTask, GenerationTask>, AnsweredForm>>;

/** The response to a request, by the task that the path names, the shape of the request or the model. */
export async function answerTask(
  service: Service,
  forms: TaskForms,
  context: Context<Env>,
  body: unknown,
  { model, task: written }: { readonly model: string | undefined; readonly task: string | undefined },
): Promise<Response> {
  const task = written === undefined ? (taskOfShape(body) ?? (await taskOfModel(service, context, model))) : taskOfName(written);
  if (task === undefined) throw unknownTask(written ?? "");
  if (isGenerationTask(task))
    return answerTexts(service, context, body, { task, named: written, model, fullText: task === "text-generation" });
  if (task !== "feature-extraction") return answerBody(forms[task], context, body, model);
  const { parameters, options: _options, ...rest } = isObject(body) ? body : {};
  const flat = isObject(parameters) ? { ...rest, ...parameters } : rest;
  return answerBody(forms["feature-extraction"], context, flat, model);
}

async function taskOfModel(service: Service, context: Context<Env>, model: string | undefined): Promise<HuggingFaceTask> {
  const { result } = await service.calls.describe(getCaller(context), headerModel(context, model), {
    loaded: async ({ manifest }) => taskOfManifest(manifest),
    files: async (manifest) => taskOfManifest(manifest),
    missing: modelNotHere,
  });
  return result;
}

/** A task by its name; those of translation may name two languages ("translation_en_to_fr"). */
function taskOfName(name: string): HuggingFaceTask | undefined {
  return /^translation_\w+_to_\w+$/.test(name) ? "translation" : taskNames[name];
}

/** Whether a task writes texts. */
export function isGenerationTask(task: string): task is GenerationTask {
  return ["text-generation", "text2text-generation", "summarization", "translation"].includes(task);
}

/** The task of the model's head. */
export function taskOfManifest(manifest: Manifest): HuggingFaceTask {
  const generates = getGenerationTask(manifest);
  if (generates !== undefined) return generates;
  const [first] = manifest.tasks.flatMap((task) => taskNames[task] ?? []);
  if (first === "token-classification" || first === "question-answering" || first === "fill-mask") return first;
  return textLabels(manifest) === undefined ? "feature-extraction" : "text-classification";
}

function unknownTask(task: string): InferyardError {
  const remedy = `the tasks are ${Object.keys(taskNames).join(", ")}`;
  if (notBuilt.has(task)) return new InferyardError("NOT_BUILT", `the task ${task} is not built yet`, { remedy });
  return invalidInput(`there is no task ${JSON.stringify(task)}`, remedy);
}
