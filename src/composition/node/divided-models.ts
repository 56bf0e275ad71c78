/** Models that several processes compute together: ONNX files, compiled as programs on ranks. */
import type { Backend, Device, LoadOptions, ModelFiles, TensorModel } from "../../contract/backend.ts";
import { InferyardError, invalidInput, throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import { checkOutputs } from "../../contract/tensor.ts";
import { native } from "../../backends/native/index.ts";
import { compileProgram, type ProgramKernel, programFromOnnx } from "../../programs/index.ts";
import type { Division } from "../../runtime/platform.ts";
import { version } from "../../version.ts";

/** Load settings that programs do not have. */
const otherSettings = ["graphOptimization", "contextLength", "cachePrecision", "engine", "adapters"] as const;

/** The backend whose models several processes compute together, each a part. Throws MODEL_UNSUPPORTED for another backend than `native`. */
export function divideBackend({ name }: Backend, division: Division): Backend {
  if (name === "native") return dividedModels(division);
  throw unsupportedModel(
    `${division.placement}: ${name} does not divide models among processes`,
    "ask for the target native, or set placement: one-device",
  );
}

/** The backend `native` for models that are divided. Another thread creates it by its entry. */
export function dividedModels(division: Division): Backend {
  const { probe, capabilities, dispose } = native();
  return {
    name: "native",
    contractVersion: 1,
    entry: { module: new URL("./divided-models.ts", import.meta.url).href, export: "dividedModels", options: division },
    probe,
    capabilities,
    load: async (model, device, options) => await load(model, device, options, division),
    ...(dispose === undefined ? {} : { dispose }),
  };
}

async function load(
  { format, path }: ModelFiles,
  device: Device,
  options: LoadOptions,
  { placement, ranks }: Division,
): Promise<TensorModel> {
  if (format !== "onnx" || device.type !== "cpu")
    throw unsupportedModel(
      `${placement}: ${path} is ${format} for ${device.type}, and ONNX files on the CPU alone are divided among processes`,
      "set placement: one-device",
    );
  const other = otherSettings.find((setting) => options[setting] !== undefined);
  if (other !== undefined)
    throw unsupportedModel(
      `${placement}: the setting ${other} is not for models that several processes compute`,
      `leave out ${other}`,
    );
  const program = await programFromOnnx(path);
  const threads = options.threads === undefined ? {} : { threads: Math.max(1, Math.floor(options.threads / ranks)) };
  const compile = async (): Promise<ProgramKernel> =>
    await compileProgram(program, { backend: "native", parallelism: placement, worldSize: ranks, ...threads });
  let kernel: Promise<ProgramKernel> | undefined = compile();
  const { decision, memory } = await kernel;
  const { outputInfos: outputs } = program;
  let isDisposed = false;
  return {
    kind: "tensor",
    inputs: program.inputs,
    outputs,
    library: { name: "inferyard", version },
    memory: { bytes: memory.device, measure: "allocated" },
    async run(inputs, { outputs: names, signal } = {}) {
      if (isDisposed) throw new InferyardError("DISPOSED", "the model was disposed");
      const wanted = checkOutputs(outputs, names);
      throwIfAborted(signal);
      kernel ??= compile();
      const used = kernel;
      try {
        const results = await (await used).run(inputs);
        return Object.fromEntries(wanted.map((name) => [name, results[name] ?? missing(name)]));
      } catch (error) {
        // Ranks that have ended do not come back: the next run starts others.
        if (error instanceof InferyardError && error.code === "HOST_DIED" && kernel === used) {
          kernel = undefined;
          await (await used).dispose();
        }
        throw error;
      }
    },
    evidence: async () => decision.selected?.evidence ?? [],
    async dispose() {
      isDisposed = true;
      await (await kernel)?.dispose();
    },
  };
}

function missing(name: string): never {
  throw invalidInput(`the program has no output "${name}"`);
}
