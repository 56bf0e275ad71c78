/** Kinds of models that read texts and return tensors: a table with one row per kind, and their shared code. */
import { omitUndefined } from "../../contract/checked.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import type { Manifest } from "../../models/manifest.ts";
import { runEncodings, type EncoderRow } from "../../tasks/batching/run-encodings.ts";
import { textTaskSettings } from "../../tasks/definition/task-options.ts";
import { encodePairs, type TextPair } from "../../tasks/encoding/encode-pairs.ts";
import type { EncoderInputRow } from "../../tasks/encoding/encoder-inputs.ts";
import { isLateInteraction } from "../../tasks/encoding/encoder-outputs.ts";
import { getLabelHead } from "../../tasks/encoding/label-head.ts";
import type { KindName, MeasuredKind, MeasuredOutput, Subject } from "./model-kind.ts";
import { mixedTexts, shortText, testTexts, withQuestion } from "./sample-texts.ts";

/** Facts about a model that decide its kind. */
export interface MeasuredModelFacts {
  readonly manifest: Manifest;
  /** Outputs of the loaded model; empty for a model that is not loaded. */
  readonly outputs: readonly TensorInfo[];
}

/** A kind of models that read texts. */
interface TextKind {
  readonly name: KindName;
  /** Whether a text model is of this kind. The first matching row of the table wins. */
  serves(facts: MeasuredModelFacts): boolean;
  /** true: the model reads pairs of texts. Default: false. */
  readonly readsPairs?: boolean;
  /** Computes the outputs of texts. Default: the model's floating-point outputs, without pooling or activation. */
  readonly run?: RunTexts;
}

/** Computes the outputs of texts. `keep` false: outputs are discarded, as in measurements. */
type RunTexts = (subject: Subject, texts: readonly TextPair[], options: RunTextsOptions) => Promise<TextResults>;

interface RunTextsOptions {
  readonly batchTokens?: number | undefined;
  readonly keep: boolean;
}

interface TextResults {
  readonly outputs: readonly MeasuredOutput[];
  /** Number of tokens of all texts. */
  readonly tokens: number;
}

const hasTask =
  (task: string) =>
  ({ manifest }: MeasuredModelFacts): boolean =>
    manifest.tasks.includes(task);

const table: readonly TextKind[] = [
  { name: "token-classifier", serves: hasTask("token-classification") },
  { name: "question-answering", serves: hasTask("question-answering"), readsPairs: true },
  { name: "sparse-embedding", serves: ({ manifest }) => manifest.text?.sparse !== undefined },
  { name: "masked-language", serves: hasTask("fill-mask") },
  {
    name: "multi-vector",
    serves: ({ manifest, outputs }) => manifest.text?.lateInteraction !== undefined || isLateInteraction(outputs),
  },
  {
    name: "embedding",
    serves: (facts) => (hasTask("feature-extraction")(facts) || hasTask("sentence-similarity")(facts)) && isPooled(facts),
    run: embedTexts,
  },
  { name: "reranker", serves: (facts) => hasTask("text-ranking")(facts) || labelCount(facts) === 1, readsPairs: true },
  { name: "classifier", serves: (facts) => hasTask("text-classification")(facts) || labelCount(facts) > 1 },
  { name: "encoder", serves: () => true },
];

/** Kinds of models with the inputs of a text encoder, in the order in which they are tried. */
export const textKinds: readonly (MeasuredKind & Pick<TextKind, "serves">)[] = table.map((row) => ({
  ...textKind(row),
  serves: row.serves,
}));

/** Models that score spans of a text against the caller's labels (GLiNER, Zaratiana et al. 2023). Their inputs differ from a text encoder's. */
export const spanKind: MeasuredKind = textKind({ name: "token-classifier", run: recognizeSpans });

function textKind({ name, readsPairs = false, run = encodeTexts }: Omit<TextKind, "serves">): MeasuredKind {
  const inputs = (texts: readonly string[]): readonly TextPair[] =>
    readsPairs ? withQuestion(texts) : texts.map((text) => ({ text }));
  const tested = inputs(testTexts);
  return {
    name,
    unit: readsPairs ? "pairs" : "texts",
    knobs: ["threads", "replicas", "batchTokens"],
    startTest: () => ({
      async alone(subject) {
        const outputs: MeasuredOutput[] = [];
        for (const [index, text] of tested.entries()) {
          const { outputs: own } = await run(subject, [text], { keep: true });
          outputs.push(...own.map((output) => ({ ...output, name: `${output.name} of text ${index}` })));
        }
        return outputs;
      },
      together: {
        name: "batch equals one by one",
        run: async (subject) => (await run(subject, tested, { keep: true })).outputs,
      },
    }),
    workload: async (subject, { count = defaultCount, batchTokens }) => ({
      count,
      one: async () => void (await run(subject, inputs([shortText]), { batchTokens, keep: false })),
      many: async () => (await run(subject, inputs(mixedTexts(count)), { batchTokens, keep: false })).tokens,
    }),
  };
}

/** Default number of texts in the bulk call: enough (8,192 tokens) to keep several replicas busy. */
const defaultCount = 96;

async function embedTexts(
  { runtime, handle, signal }: Subject,
  texts: readonly TextPair[],
  options: RunTextsOptions,
): Promise<TextResults> {
  const { batchTokens } = options;
  const given = texts.map(({ text }) => text);
  const { embeddings, tokens } = await runtime.embed(given, { model: handle, ...omitUndefined({ batchTokens, signal }) });
  return {
    outputs: embeddings.map((values) => ({ name: "the vector", values })),
    tokens: tokens.reduce((sum, each) => sum + each, 0),
  };
}

/** Labels that spans are scored against. */
const spanLabels = ["animal", "place"];

/** Scores all spans of each text, in the order of their positions. */
async function recognizeSpans(
  { runtime, handle, signal }: Subject,
  texts: readonly TextPair[],
  { batchTokens }: RunTextsOptions,
): Promise<TextResults> {
  const all = { labels: spanLabels, threshold: 0, nested: true, multiLabel: true };
  const given = texts.map(({ text }) => text);
  const { results, tokens } = await runtime.recognize(given, {
    model: handle,
    ...all,
    ...omitUndefined({ batchTokens, signal }),
  });
  return {
    outputs: results.map((entities) => {
      const sorted = entities.toSorted(
        (a, b) => a.start - b.start || a.end - b.end || ((a.entityGroup ?? "") < (b.entityGroup ?? "") ? -1 : 1),
      );
      return { name: "the scores of spans", values: Float32Array.from(sorted, ({ score }) => score) };
    }),
    tokens: tokens.reduce((sum, each) => sum + each, 0),
  };
}

/** Runs the model without a task: returns each floating-point output of each text, without padding tokens. */
async function encodeTexts(
  { runtime, handle, signal }: Subject,
  texts: readonly TextPair[],
  { batchTokens, keep }: RunTextsOptions,
): Promise<TextResults> {
  const { manifest, inputs, outputs } = handle;
  const settings = textTaskSettings(manifest, omitUndefined({ batchTokens }));
  const tokenizer = await runtime.tokenizer(handle);
  const name = (index: number): string => `text ${index}`;
  const encodings = await encodePairs(tokenizer, texts, { ...settings, strategy: "longest_first", name }, signal);
  const [output, ...others] = computedOutputs(outputs);
  if (output === undefined) {
    throw unsupportedModel(`${manifest.name} has no output of floating-point numbers`);
  }
  const run = handle.run.bind(handle);
  const encoder = { manifest, tokenizer, inputs, outputs, run, replicas: () => handle.replicas() };
  const rows: MeasuredOutput[][] = texts.map(() => []);
  await runEncodings(encoder, encodings, { output, others, batchTokens: settings.batchTokens, signal }, (row) => {
    if (keep) rows[row.index] = [output, ...others].map((each) => ownValues(row, each, output));
  });
  return { outputs: rows.flat(), tokens: encodings.reduce((sum, { ids }) => sum + ids.length, 0) };
}

/** Names of the outputs that are compared: floating-point outputs with a value per text, without the KV cache of a decoder. */
function computedOutputs(outputs: readonly TensorInfo[]): readonly string[] {
  return outputs
    .filter(({ name, dataType, shape }) => /float/.test(dataType) && shape.length > 1 && !name.startsWith("present"))
    .map(({ name }) => name);
}

/** The values of one text in an output. If the output has a row for each token, rows of padding tokens are left out. */
function ownValues<Item extends EncoderInputRow>(row: EncoderRow<Item>, name: string, main: string): MeasuredOutput {
  const { data, offset, shape, paddedTokens } = name === main ? row : row.other(name);
  const [first = 1, ...rest] = shape;
  const size = rest.reduce((product, dimension) => product * dimension, 1);
  const kept = first === paddedTokens ? row.encoding.ids.length : first;
  return { name: `"${name}"`, values: data.slice(offset, offset + kept * size) };
}

/** Whether the model gives one vector per text: its files state a pooling, or its graph computes the vector. */
function isPooled({ manifest, outputs }: MeasuredModelFacts): boolean {
  return manifest.text?.pooling !== undefined || outputs.some(({ shape }) => shape.length === 2);
}

/** Number of labels that the model's files state; 0 if they state none. */
function labelCount({ manifest }: MeasuredModelFacts): number {
  try {
    return getLabelHead(manifest).labels.length;
  } catch {
    return 0;
  }
}
