/** The kind of models on tensors: declared inputs are filled with fixed values. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage, unsupportedModel } from "../../contract/errors.ts";
import { elementCount, type Tensor, type TensorMap } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { MeasuredKind, MeasuredOutput, Subject } from "./model-kind.ts";
import { filledInputs, fillingsFor, type Filling } from "./tensor-inputs.ts";

const defaultCount = 96;

/** Any model that takes and returns tensors. */
export const tensorKind: MeasuredKind = {
  name: "tensors",
  unit: "runs",
  knobs: ["threads", "replicas"],
  startTest() {
    let chosen: Filling | undefined;
    return {
      async alone(subject) {
        if (chosen !== undefined) return runFilled(subject, chosen);
        const accepted = await firstAccepted(subject);
        chosen = accepted.filling;
        return accepted.outputs;
      },
    };
  },
  async workload(subject, { count = defaultCount }) {
    const { handle } = subject;
    const { filling } = await firstAccepted(subject);
    const inputs = toInputs(handle, filling);
    const options = { outputs: handle.outputs.map(({ name }) => name) };
    return {
      count,
      one: async () => void (await handle.run(inputs, options)),
      async many() {
        const queue = Array.from({ length: count }, () => inputs).values(); // all replicas take from one queue
        const replicas = await handle.replicas();
        await Promise.all(
          replicas.map(async (replica) => {
            for (const next of queue) await replica.run(next, options);
          }),
        );
        return 0;
      },
    };
  },
};

/** The first filling with which the model runs and gives finite outputs. Throws MODEL_UNSUPPORTED if there is none. */
async function firstAccepted(
  subject: Subject,
): Promise<{ readonly filling: Filling; readonly outputs: readonly MeasuredOutput[] }> {
  const refusals: string[] = [];
  for (const filling of fillingsFor(subject.handle.inputs)) {
    try {
      const outputs = await runFilled(subject, filling);
      const wrong = outputs.find(({ values }) => !values.every(Number.isFinite));
      if (wrong === undefined) return { filling, outputs };
      refusals.push(`${wrong.name} has a value that is not a number`);
    } catch (error) {
      if (!(error instanceof InferyardError && inputCodes.has(error.code))) throw error;
      refusals.push(getMessage(error));
    }
    if (subject.handle.manifest.probe?.kind === "tensors") break; // all fillings are the same inputs
  }
  throw unsupportedModel(
    `${subject.handle.manifest.name} refuses inputs made from what it declares of them: ${refusals[0] ?? ""}`,
    "name inputs to run it with: `probe` with `inputs` in its inferyard.json (docs/reference/model-files.md)",
  );
}

/** Error codes that a correct engine may give for generated inputs of unsuitable size or value. */
const inputCodes: ReadonlySet<string> = new Set(["INPUT_INVALID", "RUN_FAILED", "MODEL_UNSUPPORTED", "LIMIT_EXCEEDED"]);

function toInputs({ manifest: { probe, variants }, inputs }: ModelHandle, filling: Filling): TensorMap {
  return probe?.kind === "tensors" ? probe.inputs : filledInputs(inputs, variants[0]?.config ?? {}, filling);
}

async function runFilled({ handle, signal }: Subject, filling: Filling): Promise<readonly MeasuredOutput[]> {
  const names = handle.outputs.map(({ name }) => name);
  const results = await handle.run(toInputs(handle, filling), { outputs: names, ...omitUndefined({ signal }) });
  return names.flatMap((name) => {
    const tensor = results[name];
    return tensor === undefined ? [] : [{ name: `"${name}"`, values: toNumbers(tensor) }];
  });
}

/** The elements of a tensor as numbers; for strings, their lengths. */
function toNumbers(tensor: Tensor): Float32Array {
  const { data, dataType, shape } = tensor;
  if (/float/.test(dataType)) return toFloat32(tensor).slice();
  if (Array.isArray(data)) return Float32Array.from(data as readonly string[], (text) => text.length);
  const elements = data as ArrayLike<number | bigint>;
  return Float32Array.from({ length: elementCount(shape) }, (_value, index) => Number(elements[index] ?? 0));
}
