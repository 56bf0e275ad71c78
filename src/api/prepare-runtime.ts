/** Creates a runtime for Node.js: backends, platform and threads. `createRuntime` additionally loads the models named in the settings. */
import type { Backend, MachineFacts } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { invalidInput } from "../contract/errors.ts";
import type { XlaSettings } from "../backends/xla/index.ts";
import { fixedMachine } from "../devices/index.ts";
import { nodePlatform } from "../composition/node/platform.ts";
import { standardBackends } from "../composition/node/standard-backends.ts";
import type { ConstraintThreadSettings, RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import type { ConstraintCompiler } from "../tasks/generation/open-generator.ts";
import { formatsOfKernels } from "../runtime/selection/kernel-names.ts";
import { Runtime } from "./runtime.ts";

/** Settings of a runtime and its backends. */
export interface RuntimeConfig extends RuntimeSettings {
  /** Backends of the runtime. Default: the result of `standardBackends`. */
  readonly backends?: readonly Backend[];
  /**
   * Path of your own llama.cpp library, with which the backend `library` runs GGUF models. The library is used if that backend is chosen by `target`
   * or `prefer`, or if no other backend can run the model. Default: the first library found through the environment variable LLAMA_CPP_DIR. Cannot be
   * combined with `backends`.
   */
  readonly library?: string;
  /**
   * Settings of the backend `xla`: the path of a PJRT plugin, the part of a GPU's memory that is reserved, and the sizes that inputs are padded to. Cannot
   * be combined with `backends`.
   */
  readonly xla?: XlaSettings;
  /**
   * Facts about the machine, passed to target selection and to the backends; for tests of where a model would run. Default: facts read from this
   * machine.
   */
  readonly machine?: MachineFacts;
}

/** Creates a runtime as `createRuntime` does, but does not load the models that the settings name for preloading; `Runtime.preload` loads them. */
export async function prepareRuntime(config: RuntimeConfig = {}): Promise<Runtime> {
  const { library, xla, machine, backends = standardBackends(omitUndefined({ library, xla })), ...settings } = config;
  const own = { library: '{ library: "PATH" }', xla: '{ plugin: "PATH" }' };
  for (const [name, example] of Object.entries(own)) {
    if (config.backends === undefined || { library, xla }[name] === undefined) continue;
    throw invalidInput(
      `${name} is given beside backends, and belongs to the standard ones`,
      `put ${name}(${example}) of "inferyard/backends/${name}" among the backends`,
    );
  }
  const kernels = [settings, ...Object.values(settings.models ?? {})].flatMap((level) => level.kernels ?? []);
  if (kernels.length > 0) await formatsOfKernels(kernels); // throws for an unknown one
  const { textThreads, constraintThreads } = settings;
  // Imported only if needed: few programs are servers.
  const texts = textThreads && new (await import("../tasks/text-threads/pool.ts")).TextThreadPool(textThreads);
  const constraints = constraintThreads && (await constraintCompiler(constraintThreads));
  const platform = nodePlatform();
  const ownPlatform = machine === undefined ? platform : { ...platform, machine: fixedMachine(machine) };
  return new Runtime(backends, settings, ownPlatform, { texts, constraints });
}

async function constraintCompiler(settings: ConstraintThreadSettings): Promise<ConstraintCompiler> {
  const { GrammarThreads } = await import("../tasks/generation/constraints/threads/grammar-threads.ts");
  return { host: new GrammarThreads(settings), cacheBytes: settings.cacheBytes };
}
