/** Silero's network for voice activity: probabilities of speech, window by window, with a recurrent state between them. */
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import type { Tensor, TensorMap } from "../../../contract/tensor.ts";
import type { LoadedGraph } from "../../definition/media-task.ts";

/** Samples of a window at 16 kHz, and of the end of the window before it, which the network reads as well. */
export const sileroWindow = 512;
const contextLength = 64;
const inputLength = contextLength + sileroWindow;

/** Samples per second of the network's input. */
export const sileroSampleRate = 16_000;

/** Elements of a state. */
const stateSize = 128;

/** Windows that one run of the variant for sequences takes: 8 s. */
const sequenceLength = 256;

/** How a variant of the network is run. */
interface SileroLayout {
  /** Windows of one run. */
  readonly windows: number;
  /** Names of the inputs that carry the state, each with the output that gives its next value, and its shape. */
  readonly states: readonly (readonly [input: string, output: string, shape: readonly number[]])[];
  readonly output: string;
  /** Whether the network is told the sample rate. */
  readonly sampleRate: boolean;
}

/** The layout of a graph: `silero_vad*.onnx` has a state, `silero_vad_16k_sequence.onnx` takes many windows in a run. Undefined for other networks. */
function findLayout({ inputs, outputs }: Pick<LoadedGraph, "inputs" | "outputs">): SileroLayout | undefined {
  const ins = new Set(inputs.map(({ name }) => name));
  const outs = new Set(outputs.map(({ name }) => name));
  const has = (known: ReadonlySet<string>, ...names: string[]): boolean => names.every((name) => known.has(name));
  if (has(ins, "input", "state") && has(outs, "output", "stateN"))
    return { windows: 1, states: [["state", "stateN", [2, 1, stateSize]]], output: "output", sampleRate: ins.has("sr") };
  if (!has(ins, "input", "h", "c") || !has(outs, "speech_probs", "hn", "cn")) return undefined;
  const shape = [1, 1, stateSize];
  const states = [
    ["h", "hn", shape],
    ["c", "cn", shape],
  ] as const;
  return { windows: sequenceLength, states, output: "speech_probs", sampleRate: false };
}

/** What can be told about a long sound while it is read. */
export interface ProbabilityProgress {
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of windows that are done. */
  readonly onWindows?: ((windows: number) => void) | undefined;
}

/** Reads a sound in pieces, and gives the probability of speech of each window of 512 samples. */
export interface SileroStream {
  /** Probabilities of the windows that these samples complete. One call at a time. */
  push(samples: Float32Array): Promise<Float32Array>;
  /** The probability of a last, shorter window, which zeros fill up; none if there is no such window. */
  finish(): Promise<Float32Array>;
}

/** Begins to read a sound at 16 kHz. Throws MODEL_UNSUPPORTED for a network that is not Silero's. */
export function openSilero(graph: LoadedGraph, name: string, { signal, onWindows }: ProbabilityProgress = {}): SileroStream {
  const found = findLayout(graph);
  if (found === undefined) {
    const names = graph.inputs.map((input) => input.name).join(", ");
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${name} has the inputs ${names}, and is no network for voice activity that is known`,
      {
        remedy: "name Silero's: silero_vad.onnx of the package silero-vad, version 5 or 6",
      },
    );
  }
  const layout = found;
  let states: TensorMap = Object.fromEntries(
    layout.states.map(([input, , shape]) => [
      input,
      { dataType: "float32", shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) },
    ]),
  );
  /** The end of the last window, and samples that complete no window yet. */
  let pending: Float32Array = new Float32Array(contextLength);
  let done = 0;

  /** Runs windows that begin at sample `from` of `samples`, each after its context. */
  async function runWindows(samples: Float32Array, from: number, windows: number): Promise<Float32Array> {
    throwIfAborted(signal);
    const data = new Float32Array(windows * inputLength);
    for (let window = 0; window < windows; window++) {
      const start = from + window * sileroWindow;
      data.set(samples.subarray(start, start + inputLength), window * inputLength);
    }
    const input: Tensor = { dataType: "float32", shape: [windows, inputLength], data };
    const rate: TensorMap = layout.sampleRate
      ? { sr: { dataType: "int64", shape: [], data: BigInt64Array.of(BigInt(sileroSampleRate)) } }
      : {};
    const outputs = await graph.run({ input, ...states, ...rate });
    states = Object.fromEntries(layout.states.map(([name_, output]) => [name_, requireOutput(outputs, output)]));
    const { data: probabilities } = requireOutput(outputs, layout.output);
    if (!(probabilities instanceof Float32Array) || probabilities.length !== windows)
      throw new InferyardError("MODEL_UNSUPPORTED", `${name} gave ${probabilities.length} probabilities for ${windows} windows`);
    done += windows;
    onWindows?.(done);
    return probabilities;
  }

  return {
    async push(samples) {
      const all = new Float32Array(pending.length + samples.length);
      all.set(pending);
      all.set(samples, pending.length);
      const total = Math.floor((all.length - contextLength) / sileroWindow);
      const result = new Float32Array(total);
      for (let at = 0; at < total; at += layout.windows)
        result.set(await runWindows(all, at * sileroWindow, Math.min(layout.windows, total - at)), at);
      pending = all.slice(total * sileroWindow);
      return result;
    },
    async finish() {
      const last = pending;
      if (last.length === contextLength) return new Float32Array(0);
      return runWindows(last, 0, 1);
    },
  };
}

function requireOutput(outputs: TensorMap, name: string): Tensor {
  const output = outputs[name];
  if (output === undefined) throw new InferyardError("CONTRACT_VIOLATION", `the run gave no output "${name}"`);
  return output;
}
