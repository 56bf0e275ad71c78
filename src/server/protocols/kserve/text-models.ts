/** Models that are given texts: a BYTES tensor `text` in, and `embedding`, `score` or `label` out. */
import type { ModelHandle } from "../../../runtime/model-handle.ts";
import type { Runtime } from "../../../api/runtime.ts";
import type { Tensor, TensorInfo, TensorMap } from "../../../tensor.ts";
import { invalid } from "./json-data.ts";

export const textInput = "text";

export type TextTask = "embedding" | "ranking" | "classification";

/** What is made of texts by this model; undefined where it takes none, has an input of that name itself, or does not say. */
export function textTaskOf({ manifest, inputs }: Pick<ModelHandle, "manifest" | "inputs">): TextTask | undefined {
  if (!takesTexts({ manifest, inputs })) return undefined;
  for (const task of manifest.tasks) {
    if (task === "feature-extraction" || task === "sentence-similarity") return "embedding";
    if (task === "text-ranking") return "ranking";
    if (task === "text-classification") return "classification";
  }
  return undefined;
}

/** The same for one request. Where the model's files say nothing, the outputs that are asked for do. INPUT_INVALID where neither does. */
export function requestedTask(model: Pick<ModelHandle, "manifest" | "inputs">, outputs: readonly string[]): TextTask | undefined {
  const known = textTaskOf(model);
  if (known !== undefined || !takesTexts(model)) return known;
  if (outputs.includes("embedding")) return "embedding";
  if (outputs.includes("label")) return "classification";
  if (outputs.includes("score")) return "ranking";
  throw invalid("the model's files do not say what is made of texts: ask for the output embedding, label or score");
}

function takesTexts({ manifest, inputs }: Pick<ModelHandle, "manifest" | "inputs">): boolean {
  return manifest.text !== undefined && inputs.every(({ name }) => name !== textInput);
}

/** For metadata. A pair is a query and a document. */
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

/** How many texts a request brings, for the limit. */
export function textCount(inputs: TensorMap): number {
  return inputs[textInput]?.dataType === "string" ? inputs[textInput].data.length : 1;
}

export interface TextRun {
  readonly tensors: TensorMap;
  readonly tokens: readonly number[];
}

export async function runTexts(
  runtime: Runtime,
  model: ModelHandle,
  task: TextTask,
  inputs: TensorMap,
  signal: AbortSignal,
): Promise<TextRun> {
  const { [textInput]: text, ...others } = inputs;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`input "${other}" is given beside "${textInput}", which stands alone`);
  const texts = textsOf(text, task);
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
    throw invalid("this model gives a vector for every token: ask another route for them, or give it its raw tensors");
  const data = new Float32Array(texts.length * dimensions);
  for (const [index, vector] of embeddings.entries()) data.set(vector, index * dimensions);
  return { tensors: { embedding: { dataType: "float32", shape: [texts.length, dimensions], data } }, tokens };
}

/** Pairs of the same query are ranked together. */
async function rank(
  runtime: Runtime,
  texts: readonly string[],
  options: { readonly model: ModelHandle; readonly signal: AbortSignal },
): Promise<TextRun> {
  const places = new Map<string, number[]>();
  for (let pair = 0; pair < texts.length / 2; pair += 1) {
    const query = texts[2 * pair] ?? "";
    const pairs = places.get(query);
    if (pairs === undefined) places.set(query, [pair]);
    else pairs.push(pair);
  }
  const data = Array.from({ length: texts.length / 2 }, () => Number.NaN);
  const counts: number[] = [];
  for (const [query, pairs] of places) {
    const documents = pairs.map((pair) => texts[2 * pair + 1] ?? "");
    const { results, tokens } = await runtime.rerank(query, documents, options);
    for (const { index, score } of results) data[pairs[index] ?? -1] = score;
    counts.push(...tokens);
  }
  return { tensors: { score: scores(data) }, tokens: counts };
}

const scores = (values: readonly number[]): Tensor => ({
  dataType: "float32",
  shape: [values.length],
  data: Float32Array.from(values),
});

/** A list, or a column as some clients write it; for ranking, pairs. */
function textsOf(tensor: Tensor | undefined, task: TextTask): readonly string[] {
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
