/** Makes a runtime in Node.js: backends, platform and threads. `createRuntime` loads the models of the settings too. */
import type { Backend, MachineFacts } from "../contract/backend.ts";
import { InferyardError } from "../contract/errors.ts";
import { fixedMachine } from "../devices/index.ts";
import { nodePlatform } from "../composition/node/platform.ts";
import { standardBackends } from "../composition/node/standard-backends.ts";
import type { ConstraintThreadSettings, RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import type { ConstraintCompiler } from "../tasks/generation/open-generator.ts";
import { formatsOfKernels } from "../runtime/selection/kernel-names.ts";
import { Runtime } from "./runtime.ts";

/** Settings of a runtime and its backends. */
export interface RuntimeConfig extends RuntimeSettings {
  /** Backends of the runtime. Default: those of `standardBackends`. */
  readonly backends?: readonly Backend[];
  /**
   * Path of a llama.cpp library of your own, which the backend `library` runs GGUF models with. It is used where that backend is chosen: by `target` or `prefer`, or where no
   * other can. Default: the first that the environment variable LLAMA_CPP_DIR leads to. Not beside `backends`.
   */
  readonly library?: string;
  /** Facts about the machine that selection and backends are given, for tests of where a model would run. Default: they are read. */
  readonly machine?: MachineFacts;
}

/** As `createRuntime`, without loading the models that the settings name for preloading: `Runtime.preload` does. */
export async function prepareRuntime(config: RuntimeConfig = {}): Promise<Runtime> {
  const { library, machine, backends = standardBackends(library === undefined ? {} : { library }), ...settings } = config;
  if (library !== undefined && config.backends !== undefined) {
    throw new InferyardError("INPUT_INVALID", "library is given beside backends, and belongs to the standard ones", {
      remedy: 'put library({ library: "PATH" }) of "inferyard/backends/library" among the backends',
    });
  }
  const kernels = [settings, ...Object.values(settings.models ?? {})].flatMap((level) => level.kernels ?? []);
  if (kernels.length > 0) await formatsOfKernels(kernels); // throws for an unknown one
  const { textThreads, constraintThreads } = settings;
  // Imported only if needed: few programs are servers.
  const texts = textThreads && new (await import("../tasks/text-threads/pool.ts")).TextThreadPool(textThreads);
  const constraints = constraintThreads && (await constraintCompiler(constraintThreads));
  const platform = nodePlatform();
  const surroundings = machine === undefined ? platform : { ...platform, machine: fixedMachine(machine) };
  return new Runtime(backends, settings, surroundings, { texts, constraints });
}

async function constraintCompiler(settings: ConstraintThreadSettings): Promise<ConstraintCompiler> {
  const { GrammarThreads } = await import("../tasks/generation/constraints/threads/grammar-threads.ts");
  return { host: new GrammarThreads(settings), cacheBytes: settings.cacheBytes };
}
