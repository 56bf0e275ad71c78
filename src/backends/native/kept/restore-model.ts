/** Loads ONNX models from the plans that an earlier process left. Imports neither the engine nor the reader of ONNX files, which are needed for inputs without a plan alone. */
import type { ModelFiles } from "../../../contract/backend.ts";
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import type { EngineModel } from "../../../engine/execute/engine-model.ts";
import type { EngineReplica } from "../../../engine/execute/engine-replicas.ts";
import type { KeptPlan } from "../../../engine/execute/kept/kept-plan.ts";
import { RestoredModel } from "../../../engine/execute/kept/restored-model.ts";
import { spawnThread } from "../../../engine/threads/spawn-thread.ts";
import { type BlockingFile, openBlocking } from "../../../platform/node/files.ts";
import type { GraphEngine, GraphFacts, GraphParts } from "../../graphs/graph-model.ts";
import type { OpenGraph } from "../../graphs/open-graph.ts";
import { openCheckRecord } from "../check-record.ts";
import type { NativeLoadOptions } from "../create-engine.ts";
import { createMachineCode } from "../model-machine-code.ts";
import { codeIdentityOf, type NativeState } from "../native-state.ts";
import { openPageDiscard } from "../page-discard.ts";
import { getSharing } from "../replica-sharing.ts";
import { KeepingEngine } from "./keeping-engine.ts";
import { KeptFiles, type KeptModel, openKeptFolders } from "./kept-files.ts";
import { PlanWriter } from "./plan-writer.ts";

/** Parts of a loaded model whose engine may be a restored one. */
type KeptParts = GraphParts<GraphEngine, GraphFacts>;

/** The kept plans of one model: to load it from, and to keep more. */
export type { ModelPlans };

class ModelPlans {
  readonly #files: KeptFiles;
  readonly #file: ModelFiles;
  readonly #options: NativeLoadOptions;
  readonly #state: NativeState;
  /** Why what an earlier process left is not used, as a clause. */
  #refusal: string | undefined;

  private constructor(files: KeptFiles, file: ModelFiles, options: NativeLoadOptions, state: NativeState) {
    this.#files = files;
    this.#file = file;
    this.#options = options;
    this.#state = state;
  }

  /**
   * The plans of a model with these options. Undefined where none are kept: for other formats than ONNX, for replicas of a model that another thread has loaded, where the build is not
   * known, and where a variable turns it off.
   */
  static async of(file: ModelFiles, options: NativeLoadOptions, state: NativeState): Promise<ModelPlans | undefined> {
    const { replica, isUnprepared, ...given } = options;
    if (file.format !== "onnx" || isUnprepared === true || replica?.sharedState !== undefined) return undefined;
    const identity = codeIdentityOf(state);
    const folders = identity && (await (state.keptFolders ??= openKeptFolders()));
    if (identity === undefined || folders === undefined) return undefined;
    const machineCode = await createMachineCode(options, state);
    const level = typeof machineCode === "string" ? machineCode : machineCode.level;
    const settings = { identity, machineCode: level, options: given, isShared: replica !== undefined };
    const files = KeptFiles.of(folders, file, settings);
    return files && new ModelPlans(files, file, options, state);
  }

  /** The model as an earlier process left it. Undefined if none did, or if that cannot be used any more. Throws OUT_OF_MEMORY and ABORTED. */
  async restore(): Promise<KeptParts | undefined> {
    const { signal } = this.#options;
    throwIfAborted(signal);
    const held = new HeldFiles();
    let made: { readonly restored: RestoredModel; readonly kept: KeptModel } | undefined;
    try {
      const machineCode = await createMachineCode(this.#options, this.#state);
      made = this.#files.readModel({
        load: (kept, readWeights) => {
          held.open(kept.files);
          return { kept, restored: this.#restored(kept, { readWeights, machineCode, held }) };
        },
        discard: ({ restored }) => void restored.dispose(),
        refused: (reason) => (this.#refusal = reason),
      });
      if (made?.restored.prepare(made.kept.prepared) === false) {
        this.#refusal = "a plan, its machine code or the record of its checks is missing";
        await made.restored.dispose();
        made = undefined;
      }
      if (signal?.aborted === true) {
        await made?.restored.dispose();
        made = undefined;
        throwIfAborted(signal);
      }
    } finally {
      if (made === undefined) held.close();
    }
    return made && this.#parts(made.restored, made.kept, held);
  }

  #restored(
    kept: KeptModel,
    {
      readWeights,
      machineCode,
      held,
    }: Pick<ConstructorParameters<typeof RestoredModel>[0], "readWeights" | "machineCode"> & { readonly held: HeldFiles },
  ): RestoredModel {
    const { threads, replica, maxRunMemory } = this.#options;
    // Code is used only where all that it computes was found right: the record may have been discarded since.
    const identity = codeIdentityOf(this.#state);
    const record = identity && openCheckRecord?.(identity);
    const passed = new Set(record?.names);
    const findPlan = (inputTypes: string): KeptPlan | undefined => {
      const plan = this.#files.readPlan(kept, inputTypes);
      return plan?.checks.every((check) => passed.has(check)) === true ? plan : undefined;
    };
    return new RestoredModel({
      table: kept.table,
      readWeights,
      machineCode,
      findPlan,
      checkedSince: record?.since,
      openEngine: (slot, use) => this.#openEngine(slot, held, use),
      ...(threads === undefined || spawnThread === undefined ? {} : { threads, spawnThread }),
      ...(replica === undefined ? {} : { replica: { replicaIds: new Int32Array(replica.liveReplicas), index: replica.index } }),
      ...omitUndefined({ maxRunBytes: maxRunMemory, openDiscard: openPageDiscard }),
    });
  }

  async #openEngine(slot: EngineReplica, held: HeldFiles, use: (engine: EngineModel) => Promise<void>): Promise<EngineModel> {
    held.check();
    const [{ createEngine }, { OpenModelFiles }, { withOpenGraph }] = await Promise.all([
      import("../create-engine.ts"),
      import("../../graphs/open-model-files.ts"),
      import("../../graphs/open-graph.ts"),
    ]);
    const { signal: _, ...options } = this.#options; // the signal of the load has no meaning for a later run
    const create = async (graph: OpenGraph): Promise<EngineModel> => {
      const engine = await createEngine(graph, { ...options, isUnprepared: true }, this.#state, { slot, keepsPlans: true });
      await use(engine);
      return engine;
    };
    return await withOpenGraph(this.#file, options, create, new OpenModelFiles(held.take()));
  }

  #parts(restored: RestoredModel, kept: KeptModel, held: HeldFiles): KeptParts {
    const { generation: _generation, prepared: _prepared, table: _table, ...facts } = kept;
    const writer = new PlanWriter(this.#files, facts, kept);
    const identity = kept.files.map(([path, each]) => `${path} ${each}`).join("\n");
    return {
      graph: { ...facts, weightBytes: this.#file.bytes },
      engine: new KeepingEngine(restored, { writer, computing: () => restored.engine, end: () => held.close() }),
      engineName: "inferyard's own engine in WebAssembly",
      library: this.#state.library,
      sharing: () => getSharing(restored, identity, this.#options),
    };
  }

  /** The parts with an engine whose plans are kept. Its setting `keepsPlans` must be on. */
  keep({ engine, graph, ...parts }: GraphParts<EngineModel>): KeptParts {
    const { files, inputs, outputs, nonTensorOutputs, notes: graphNotes } = graph;
    if (files === undefined) return { engine, graph, ...parts };
    const writer = new PlanWriter(this.#files, { files, inputs, outputs, nonTensorOutputs, notes: graphNotes });
    const notes = this.#refusal === undefined ? [] : [`the plans of an earlier process were not used: ${this.#refusal}`];
    return { ...parts, graph, engine: new KeepingEngine(engine, { writer, notes, computing: () => engine }) };
  }
}

/** See `ModelPlans.of`. Undefined in a page, which keeps no plans. */
export const openModelPlans: typeof ModelPlans.of | undefined = (...given) => ModelPlans.of(...given);

/** The files of a restored model, open until the engine has read them: another process may delete them meanwhile. */
class HeldFiles {
  readonly #files = new Map<string, { readonly file: BlockingFile; readonly state: string }>();

  /** Opens files. Throws where one is missing, or has another identity. */
  open(files: KeptModel["files"]): void {
    for (const [path, identity] of files) {
      const file = openBlocking?.(path);
      if (file === undefined) throw new Error("files are not read in parts here");
      this.#files.set(path, { file, state: contentState(file) });
      if (file.stat().identity !== identity) throw new Error(`${path} was changed`);
    }
  }

  /** Throws MODEL_INVALID if one was written since it was opened. */
  check(): void {
    for (const [path, { file, state }] of this.#files) {
      if (contentState(file) === state) continue;
      throw new InferyardError(
        "MODEL_INVALID",
        `${path} was changed after it was loaded, and inputs of these types need parts of it that were not read`,
        { remedy: "load the model again" },
      );
    }
  }

  /** The files, which the caller closes. */
  take(): ReadonlyMap<string, BlockingFile> {
    const files = new Map([...this.#files].map(([path, { file }]) => [path, file]));
    this.#files.clear();
    return files;
  }

  close(): void {
    for (const file of this.take().values()) file.close();
  }
}

/** Changes when a file is written, but not when it is moved or deleted. */
function contentState(file: BlockingFile): string {
  const { size, mtimeMs } = file.stat();
  return `${size} ${mtimeMs}`;
}
