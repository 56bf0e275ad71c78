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
import { GraphLanguageModel } from "../graphs/graph-language-model.ts";
import { GraphModel, type GraphParts } from "../graphs/graph-model.ts";
import { type OpenGraph, describeBlocks, runLimits, withOpenGraph } from "../graphs/open-graph.ts";
import { type BucketSizes, ShapeBuckets } from "./buckets.ts";
import type { ClientSettings } from "./open-client.ts";
import { openCompiler } from "./open-compiler.ts";
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
