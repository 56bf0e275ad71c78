/** Models that take texts: a BYTES tensor `text` in, and `embedding`, `score` or `label` out. */
import { at } from "../../../contract/checked.ts";
import type { ModelHandle } from "../../../runtime/model-handle.ts";
import type { Runtime } from "../../../api/runtime.ts";
import type { Tensor, TensorInfo, TensorMap } from "../../../contract/tensor.ts";
import { invalid } from "./json-data.ts";

/** Name of the text input. */
export const textInput = "text";

/** Task of a model of texts. */
export type TextTask = "embedding" | "ranking" | "classification";

/** Task of a model of texts; undefined if it takes none, if it has an input of that name itself, or if its files do not state it. */
export function getTextTask({ manifest, inputs }: Pick<ModelHandle, "manifest" | "inputs">): TextTask | undefined {
  if (!takesTexts({ manifest, inputs })) return undefined;
  for (const task of manifest.tasks) {
    if (task === "feature-extraction" || task === "sentence-similarity") return "embedding";
    if (task === "text-ranking") return "ranking";
    if (task === "text-classification") return "classification";
  }
  return undefined;
}

/** The task for one request: if the model's files do not state it, the requested outputs decide. Throws INPUT_INVALID if they do not either. */
export function requestedTask(model: Pick<ModelHandle, "manifest" | "inputs">, outputs: readonly string[]): TextTask | undefined {
  const known = getTextTask(model);
  if (known !== undefined || !takesTexts(model)) return known;
  if (outputs.includes("embedding")) return "embedding";
  if (outputs.includes("label")) return "classification";
  if (outputs.includes("score")) return "ranking";
  throw invalid("the model's files do not say what it does with texts: request the output embedding, label or score");
}

function takesTexts({ manifest, inputs }: Pick<ModelHandle, "manifest" | "inputs">): boolean {
  return manifest.text !== undefined && inputs.every(({ name }) => name !== textInput);
}

/** The inputs and outputs of the task, for the metadata. For ranking, each text is a pair of a query and a document. */
export function textTensors(task: TextTask): { readonly inputs: readonly TensorInfo[]; readonly outputs: readonly TensorInfo[] } {
  const shape = task === "ranking" ? ["texts", 2] : ["texts"];
  const score: TensorInfo = { name: "score", dataType: "float32", shape: ["texts"] };
  const outputs: Readonly<Record<TextTask, readonly TensorInfo[]>> = {
    embedding: [{ name: "embedding", dataType: "float32", shape: ["texts", "dimensions"] }],
    ranking: [score],
    classification: [{ name: "label", dataType: "string", shape: ["texts"] }, score],
  };
  return { inputs: [{ name: textInput, dataType: "string", shape }], outputs: outputs[task] };
}

/** Number of texts of a request, for its limit. */
export function textCount(inputs: TensorMap): number {
  return inputs[textInput]?.dataType === "string" ? inputs[textInput].data.length : 1;
}

/** Outputs of a run on texts. */
export interface TextRun {
  readonly tensors: TensorMap;
  readonly tokens: readonly number[];
}

/** Runs the task on the texts of the inputs: embeddings, scores of pairs, or the best label of each text. */
export async function runTexts(
  runtime: Runtime,
  model: ModelHandle,
  task: TextTask,
  inputs: TensorMap,
  signal: AbortSignal,
): Promise<TextRun> {
  const { [textInput]: text, ...others } = inputs;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`input "${other}" cannot be combined with "${textInput}"`);
  const texts = toTexts(text, task);
  const options = { model, signal };
  if (task === "ranking") return rank(runtime, texts, options);
  if (task === "classification") {
    const { results, tokens } = await runtime.classify(texts, options);
    const best = results.map(([first]) => first);
    return {
      tensors: {
        label: { dataType: "string", shape: [texts.length], data: best.map((one) => one?.label ?? "") },
        score: scores(best.map((one) => one?.score ?? Number.NaN)),
      },
      tokens,
    };
  }
  const { embeddings, dimensions, tokens, pooling } = await runtime.embed(texts, options);
  if (pooling === "none")
    throw invalid("this model gives a vector for every token: use another route for them, or its raw tensors");
  const data = new Float32Array(texts.length * dimensions);
  for (const [index, vector] of embeddings.entries()) data.set(vector, index * dimensions);
  return { tensors: { embedding: { dataType: "float32", shape: [texts.length, dimensions], data } }, tokens };
}

/** Ranks the pairs; those with the same query are ranked together. */
async function rank(
  runtime: Runtime,
  texts: readonly string[],
  options: { readonly model: ModelHandle; readonly signal: AbortSignal },
): Promise<TextRun> {
  const pairsByQuery = new Map<string, number[]>();
  for (let pair = 0; pair < texts.length / 2; pair += 1) {
    const query = at(texts, 2 * pair);
    const pairs = pairsByQuery.get(query);
    if (pairs === undefined) pairsByQuery.set(query, [pair]);
    else pairs.push(pair);
  }
  const data = Array.from({ length: texts.length / 2 }, () => Number.NaN);
  const counts: number[] = [];
  for (const [query, pairs] of pairsByQuery) {
    const documents = pairs.map((pair) => at(texts, 2 * pair + 1));
    const { results, tokens } = await runtime.rerank(query, documents, options);
    for (const { index, score } of results) data[at(pairs, index)] = score;
    counts.push(...tokens);
  }
  return { tensors: { score: scores(data) }, tokens: counts };
}

const scores = (values: readonly number[]): Tensor => ({
  dataType: "float32",
  shape: [values.length],
  data: Float32Array.from(values),
});

/** The texts of the tensor: a vector, or a column as some clients write it; for ranking, pairs. */
function toTexts(tensor: Tensor | undefined, task: TextTask): readonly string[] {
  if (tensor === undefined || tensor.dataType !== "string" || ArrayBuffer.isView(tensor.data))
    throw invalid(`input "${textInput}" must be BYTES`);
  const { shape, data } = tensor;
  const wanted = task === "ranking" ? 2 : 1;
  const fits = shape.length === 2 ? shape[1] === wanted : shape.length === 1 && wanted === 1;
  if (fits) return data;
  throw invalid(
    `input "${textInput}" has shape [${shape.join(", ")}], and this model takes ${wanted === 2 ? "[n, 2]: a query and a document each" : "[n]"}`,
  );
}
