/**
 * The library as the command line calls it, for tests of flags: each function notes what it is asked and refuses, so that nothing is computed. What the
 * options do, the tests of the library see.
 */
import { InferyardError } from "../../../src/contract/errors.ts";

/** One call. */
export interface Call {
  /** Name of the function or method. */
  readonly verb: string;
  /** Its arguments before the options. */
  readonly input: readonly unknown[];
  /** Its options, without signals and functions. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** What was asked since `forget`. */
export const asked: { settings: Readonly<Record<string, unknown>> | undefined; calls: Call[] } = {
  settings: undefined,
  calls: [],
};

/** Forgets what was asked. */
export function forget(): void {
  asked.settings = undefined;
  asked.calls = [];
}

type Recorder = (...given: readonly unknown[]) => Promise<unknown>;

/** A function that notes its call. Without an answer it refuses. */
export function recorded(verb: string, answer?: (...given: readonly unknown[]) => unknown): Recorder {
  return async (...given) => {
    note(verb, given);
    if (answer === undefined) throw new InferyardError("RUN_FAILED", "this library only notes what it is asked");
    return answer(...given);
  };
}

/** Notes a call. */
export function note(verb: string, given: readonly unknown[]): void {
  const plain = given.filter((value) => typeof value !== "function").map(plainOf);
  const last = plain.at(-1);
  const hasOptions = typeof last === "object" && last !== null && !Array.isArray(last);
  asked.calls.push({
    verb,
    input: hasOptions ? plain.slice(0, -1) : plain,
    request: hasOptions ? (last as Call["request"]) : {},
  });
}

/** A value without what has no meaning in a comparison: functions, signals, and objects of the library itself, which have a name instead. */
function plainOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(plainOf);
  const { recordedAs } = value as { readonly recordedAs?: string };
  if (recordedAs !== undefined) return recordedAs;
  const kept = Object.entries(value).filter(
    ([, each]) => typeof each !== "function" && !(each instanceof AbortSignal) && each !== undefined,
  );
  return Object.fromEntries(kept.map(([name, each]) => [name, plainOf(each)]));
}

const decision = {
  model: { variant: "fp32" },
  constraints: { policy: "priority" },
  selected: null,
  candidates: [{ target: "onnx:cpu", verdict: "would-run", reason: "1 thread" }],
};
const corners = [0, 8].flatMap((x) => [0, 4].map((y) => [x, y]));
const page = { width: 8, height: 4, lines: [{ text: "a line", score: 1, box: corners }] };
const segment = { start: 0, end: 1, text: " a segment", tokens: [], averageLogProbability: 0 };
const ran = { model: "m", target: "onnx:cpu", decision, milliseconds: 1, truncated: [] };
/** The stream of a transcript with one segment. */
const transcript = {
  async *[Symbol.asyncIterator](): AsyncGenerator<object> {
    yield segment;
  },
  finish: async (): Promise<object> => {
    const language = { language: "en", languageProbability: 1 };
    return { ...ran, ...language, text: "a segment", duration: 1, segments: [segment] };
  },
};
const dispose = async (): Promise<void> => {};
const handle = {
  recordedAs: "the model",
  reference: "m",
  target: "onnx:cpu",
  inputs: [{ name: "x", dataType: "float32", shape: [null] }],
  manifest: { name: "m", directory: "/none", tasks: [], variants: [] },
  language: { limits: {} },
  decision,
  run: recorded("run of the model", () => ({})),
  dispose,
  [Symbol.asyncDispose]: dispose,
};

const fact = (value: unknown): object => ({ value, source: "scripted" });
const machine = {
  cpu: { model: fact("a processor"), quota: fact(2), cores: fact(2), features: fact([]) },
  memory: { available: fact(1e9), total: fact(2e9) },
  platform: "linux",
  accelerators: [],
};

/** What `createRuntime` gives: every method notes its call; those that a command needs an answer of have one. */
export function recordedRuntime(settings: object): object {
  asked.settings = plainOf(settings) as Call["request"];
  const answers: Readonly<Record<string, (...given: readonly unknown[]) => unknown>> = {
    load: () => handle,
    use: (_reference, _options, work) => (work as (model: object) => unknown)(handle),
    embed: () => ({ ...ran, dimensions: 2, pooling: "mean", embeddings: [Float32Array.of(1, 2)] }),
    run: () => ({ ...ran, outputs: { y: { dataType: "float32", shape: [2], data: Float32Array.of(1, 2) } } }),
    read: () => ({ ...ran, ...page }),
    transcribe: () => transcript,
    explain: () => decision,
    chatPrompt: () => ({ text: "a prompt", tokens: [1] }),
    manifest: () => ({ ...handle.manifest, tasks: ["text-generation"] }),
    machine: () => machine,
    backends: () => [],
    unloadIdle: () => {},
  };
  return new Proxy(
    { recordedAs: "the runtime" },
    {
      get: (target, name) => {
        if (typeof name === "symbol" || name === "then") return undefined;
        if (name === "recordedAs") return target.recordedAs;
        if (name === "dispose") return dispose;
        if (name === "machine" || name === "unloadIdle" || name === "preload") return async () => answers[name]?.();
        return recorded(name, answers[name]);
      },
    },
  );
}

/** What `createHandler` gives: enough for `serve` to listen. */
export function recordedHandler(...given: readonly unknown[]): object {
  note("createHandler", given);
  return { service: {}, readiness: {} };
}

/** A function that measures in processes of its own, which it hands the settings of their runtimes. */
export function measures(verb: string, answer?: () => unknown): Recorder {
  return async (options) => {
    const { settings, ...others } = options as { readonly settings: object };
    asked.settings = plainOf(settings) as Call["request"];
    return recorded(verb, answer)(others);
  };
}

/** What `tuneModel` finds: larger batches are better. */
export function tuned(): object {
  const start = { threads: 2, replicas: "auto", batchTokens: 512 };
  const figures = { start, trials: [], best: { ...start, batchTokens: 1024 }, settings: { batchTokens: 1024 } };
  return { model: "builtin", kind: "embedding", targets: [{ target: "native:cpu", verdict: "pass", figures }] };
}

/** What `loadTokenizer` gives: it notes what it is asked, and finds no tokens. */
export const recordedTokenizer: object = {
  encode: (...given: readonly unknown[]): object => {
    note("encode", given);
    const nothing = { ids: [], tokens: [], typeIds: [], sequenceIds: [], wordIds: [], specialTokensMask: [] };
    return { ...nothing, offsets: new Uint32Array(), wholeLength: 0, truncated: false };
  },
};
