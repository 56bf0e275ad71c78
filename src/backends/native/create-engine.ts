/** Creates the engine of one loaded model from the user's settings, prepared for its smallest inputs. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { LoadOptions } from "../../contract/backend.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import { type EngineReplica, EngineModel, type KernelChecks } from "../../engine/index.ts";
import type { GraphParts } from "../graphs/graph-model.ts";
import { type OpenGraph, runLimits } from "../graphs/open-graph.ts";
import type { MachineCode } from "../../engine/codegen/x64/index.ts";
import { createMachineCode } from "./model-machine-code.ts";
import { kernelChecksOf } from "./check-generated-code.ts";
import { featuresOf, type NativeState } from "./native-state.ts";
import { getNativeSettings } from "../../kernels/native-settings.ts";
import { checkKernelPreference } from "../../kernels/kernel-preference.ts";
import { kernelById, multipliedFormats } from "../../kernels/registry.ts";
import { openPageDiscard } from "./page-discard.ts";
import { spawnThread } from "../../engine/threads/spawn-thread.ts";
import type { ReplicaSlot, SharedReplicaState } from "../../contract/replicas.ts";
import { type NativeReplicaState, getSharing } from "./replica-sharing.ts";
import { version } from "../../version.ts";

/** Options of a load by this backend, with the slot of a replica. Default: the model is no replica. */
export interface NativeLoadOptions extends LoadOptions {
  readonly replica?: ReplicaSlot;
  /** Whether the caller compiles the first executable itself, as language models do. Default: `createEngine` does. */
  readonly isUnprepared?: boolean;
}

/** Options of an engine. */
interface EngineOptions {
  /** The slot and the state of a restored model, whose packed weights the engine uses. Default: the slot and state of the replica, if the model is one. */
  readonly slot?: EngineReplica;
  /** See `EngineSettings.keepsPlans`. Default: false. */
  readonly keepsPlans?: boolean;
}

/**
 * Creates the engine of a graph and prepares it, unless the options say otherwise. Replicas share weights if the identity of the graph's files is known.
 * `state`: state of the backend. Throws MODEL_INVALID when a replica was loaded from other files,
 * BACKEND_UNAVAILABLE without WebAssembly SIMD, and VERIFICATION_FAILED if the engine computes wrong values.
 */
export async function createEngine(
  { source, inputs, identity }: OpenGraph,
  options: NativeLoadOptions,
  state: NativeState,
  { slot, keepsPlans = false }: EngineOptions = {},
): Promise<EngineModel> {
  const features = featuresOf(state);
  if (!features.simd)
    throw new InferyardError(
      "BACKEND_UNAVAILABLE",
      "WebAssembly on this machine has no SIMD instructions, which the engine needs",
    );
  const kernelChecks = kernelChecksOf(state);
  const { graphOptimization, threads } = options;
  const { kernels } = getNativeSettings(options);
  if (kernels !== undefined && kernelChecks !== undefined)
    checkPreferred(kernels, kernelChecks, await createMachineCode(options, state));
  const limits = runLimits(options);
  const create = async (replica: EngineReplica | undefined): Promise<EngineModel> => {
    const engine = new EngineModel(source, {
      features,
      ...omitUndefined({ graphOptimization }),
      limits,
      ...omitUndefined({ kernelChecks, kernelPreference: kernels }),
      machineCode: await createMachineCode(options, state),
      keepsPlans,
      ...(threads === undefined || spawnThread === undefined ? {} : { threads, spawnThread }),
      ...omitUndefined({ openDiscard: openPageDiscard, replica }),
    });
    try {
      if (options.isUnprepared !== true) engine.prepare(inputs.map(withEmptyCache));
      engine.publishWeights();
      await engine.checkInterpreter();
      kernelChecks?.remember();
      return engine;
    } catch (error) {
      void engine.dispose();
      throw error;
    }
  };
  const replica = slot ?? engineReplica(options, identity);
  try {
    return await create(replica);
  } catch (error) {
    const isFull = error instanceof InferyardError && error.code === "OUT_OF_MEMORY" && replica?.from !== undefined;
    if (!isFull) throw error;
    return await create(undefined); // a replica for which the shared memory has no room gets a memory of its own
  }
}

/** The engine of a graph with the facts that its loaded model needs; see `createEngine`. */
export async function createParts(
  graph: OpenGraph,
  options: NativeLoadOptions,
  state: NativeState,
  engineOptions: EngineOptions = {},
): Promise<GraphParts<EngineModel>> {
  const engine = await createEngine(graph, options, state, engineOptions);
  return {
    graph,
    engine,
    engineName: "inferyard's own engine in WebAssembly",
    library: state.library,
    sharing: () => getSharing(engine, graph.identity, options),
    readsSharedWeights: engine.readsSharedWeights,
  };
}

/** Throws for a preferred kernel that cannot be used here; those that can be called are tested first. */
function checkPreferred(ids: readonly string[], checks: KernelChecks, machineCode: MachineCode | string): void {
  for (const id of ids) {
    const [type] = kernelFormats(id);
    const format = type === undefined ? undefined : multipliedFormats[type];
    if (type !== undefined && format !== undefined) checks.check([{ name: id, blocks: { type, format } }]);
  }
  const limit = typeof machineCode === "string" ? { refusal: machineCode } : { level: machineCode.level };
  const machine = checks.blockKernels.machineFor(limit);
  checkKernelPreference(ids, { machine, selfTests: checks.selfTests }, "BACKEND_UNAVAILABLE");
}

function kernelFormats(id: string): readonly string[] {
  const formats = kernelById(id)?.formats ?? [];
  return formats === "any" ? [] : formats;
}

/** This model's replica slot for the engine; undefined when it shares nothing. */
function engineReplica(
  { replica, graphOptimization }: NativeLoadOptions,
  identity: string | undefined,
): EngineReplica | undefined {
  if (replica === undefined || identity === undefined) return undefined;
  const { liveReplicas, index, sharedState } = replica;
  const slot = { replicaIds: new Int32Array(liveReplicas), index };
  if (sharedState === undefined) return slot;
  if (!isNativeState(sharedState) || sharedState.graphOptimization !== graphOptimization) return undefined;
  if (sharedState.identity === identity) return { ...slot, from: sharedState.engine };
  throw new InferyardError("MODEL_INVALID", "the model's files were changed after its first replica was loaded", {
    remedy: "unload the model, and load it again",
  });
}

function isNativeState(state: SharedReplicaState): state is NativeReplicaState {
  return state.backend === "native" && state.version === version;
}

/** Key-value caches are empty in the smallest inputs of a language model: those of the first token. */
function withEmptyCache(input: TensorInfo): TensorInfo {
  return { ...input, shape: input.shape.map((size) => (/^past_\w+$/.test(String(size)) ? 0 : size)) };
}
