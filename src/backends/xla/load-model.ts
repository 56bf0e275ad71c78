/** Loads models into a PJRT plugin. */
import type {
  Device,
  LanguageModel,
  LanguageModelFiles,
  Library,
  LoadOptions,
  ModelFiles,
  TensorModel,
} from "../../contract/backend.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { GraphLanguageModel } from "../graphs/graph-language-model.ts";
import { GraphModel, type GraphParts } from "../graphs/graph-model.ts";
import { type OpenGraph, describeBlocks, runLimits, withOpenGraph } from "../graphs/open-graph.ts";
import { type BucketSizes, ShapeBuckets } from "./buckets.ts";
import { type ClientSettings, openClient } from "./open-client.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import { openProgramFolder } from "./program-cache/program-folder.ts";
import { compilationTarget } from "./program-cache/program-key.ts";
import { ProgramLoader } from "./program-cache/program-loader.ts";
import { XlaCompiler } from "./xla-compiler.ts";
import { XlaEngine } from "./xla-engine.ts";

/** A plugin that serves a device. */
export interface PluginForDevice {
  readonly path: string;
  readonly device: Device;
  readonly library: Library;
  readonly settings: ClientSettings;
  readonly buckets: BucketSizes;
  /** See `XlaSettings.programCacheBytes`. */
  readonly programCacheBytes: number | undefined;
}

/** Loads a model with tensors as inputs and outputs. */
export async function loadOnPlugin(model: ModelFiles, plugin: PluginForDevice, options: LoadOptions): Promise<TensorModel> {
  return await withOpenGraph(model, options, async (graph) => {
    const parts = await openParts(graph, model, plugin, options);
    try {
      parts.engine.prepare(graph.inputs); // traces the model, so that operations without a form are refused now; XLA compiles when a shape is needed
      await parts.engine.checkInterpreter();
      return new GraphModel(parts);
    } catch (error) {
      await parts.engine.dispose();
      throw error;
    }
  });
}

/** Loads a language model, whose caches stay on the device. */
export async function loadLanguageOnPlugin(
  model: LanguageModelFiles,
  plugin: PluginForDevice,
  options: LoadOptions,
): Promise<LanguageModel> {
  return await withOpenGraph(model, options, async (graph) =>
    GraphLanguageModel.create(await openParts(graph, model, plugin, options), model, options),
  );
}

/** A client of a plugin, and the compiler of one model on it. Disposing of the compiler disposes of the client. */
export interface XlaModelCompiler {
  readonly client: PjrtClient;
  readonly compiler: XlaCompiler;
}

/** Opens a plugin for one model. `model`: its path, for lists of kept programs. Throws the errors of `openClient`. */
export async function openCompiler(
  weights: readonly Literal[],
  model: string,
  { device, path, settings, programCacheBytes }: Omit<PluginForDevice, "library" | "buckets">,
  options: Pick<LoadOptions, "threads" | "graphOptimization">,
): Promise<XlaModelCompiler> {
  const folder = await openProgramFolder({ maxBytes: programCacheBytes });
  const opened = await openClient(path, device, { ...settings, threads: options.threads });
  const { client } = opened;
  const name = `${device.type === "cpu" ? "the CPU" : client.deviceKind} by XLA (${path})`;
  const programs = new ProgramLoader({
    client,
    target: await compilationTarget(path, opened, options.threads).catch(() => undefined),
    folder,
    device: device.type,
    model,
  });
  const level = options.graphOptimization ?? "all";
  return { client, compiler: new XlaCompiler(weights, { client, programs, level, name }) };
}

async function openParts(
  graph: OpenGraph,
  model: ModelFiles,
  { device, library, path, settings, buckets, programCacheBytes }: PluginForDevice,
  options: LoadOptions,
): Promise<GraphParts> {
  const { client, compiler } = await openCompiler(
    graph.source.weights,
    model.path,
    { device, path, settings, programCacheBytes },
    options,
  );
  const padding = ShapeBuckets.of(graph.inputs, [...graph.outputs, ...(graph.headless?.outputs ?? [])], buckets);
  const engine = new XlaEngine(graph.source, compiler, runLimits(options), { client, buckets: padding });
  const blocks = describeBlocks(graph.source);
  const quantization = blocks === undefined ? undefined : `quantized weights are widened to float32: ${blocks}`;
  return { graph, engine, engineName: "StableHLO through PJRT", library, quantization };
}
