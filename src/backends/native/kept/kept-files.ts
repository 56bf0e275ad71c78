/**
 * Plans of models on disk, for later processes: one file with the packed weights of a model, and one for each combination of input types that it ran with. Files are
 * checked as `CodeFolder` says. What is not as it should be is ignored, and the model is loaded as if there were none.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import type { LoadOptions, ModelFiles } from "../../../contract/backend.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import type { KeptPlan, KeptWeightsTable } from "../../../engine/execute/kept/kept-plan.ts";
import { openBlocking } from "../../../platform/node/files.ts";
import type { CodeFormat } from "../../../storage/code-cache/code-file.ts";
import { CodeFolder } from "../../../storage/code-cache/code-folder.ts";
import { dataFolder } from "../../../storage/data-folder.ts";
import { toSha256 } from "../../../storage/sha256.ts";
import type { CodeIdentity } from "../check-record.ts";

/** The variable that turns the cache of the whole process off. */
const variable = "INFERYARD_PLAN_CACHE";

/** Bytes of all plans. One takes 10 to 200 KB. */
const maxPlanBytes = 128 * 1024 ** 2;
/** Bytes of the packed weights of all models. */
const maxWeightsBytes = 2 * 1024 ** 3;

/** Before the description of a model: its length as a uint32 in little-endian order, and its SHA-256. */
const lengthBytes = 4;
const digestBytes = 32;

/** Description of a file, for whoever looks into the folder. */
interface KeptDescription {
  /** Path of the model. */
  readonly model: string;
  /** Types of the inputs, or "packed weights". */
  readonly content: string;
  /** Time at which it was written, ISO 8601 in UTC. */
  readonly written: string;
}

/** What is known of a model without reading it. Plain data. */
export interface KeptModel {
  /** Random, so that plans of one file of weights do not fit another. */
  readonly generation: string;
  /** The files of the model, the first of which it is loaded from, with their identities: see `BlockingFile.stat`. */
  readonly files: readonly (readonly [path: string, identity: string])[];
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly nonTensorOutputs: readonly string[];
  readonly notes: readonly string[];
  /** Input types of the plan that is made ready at load. */
  readonly prepared: string;
  readonly table: KeptWeightsTable;
}

/** What a model's plans depend on beside its file. */
export interface KeptSettings {
  readonly identity: CodeIdentity;
  /** Level of machine code, or why there is none. */
  readonly machineCode: string;
  readonly options: LoadOptions;
  /** Whether the memory is shared with replicas. */
  readonly isShared: boolean;
}

/** The plans of this user. */
export interface KeptFolders {
  readonly plans: CodeFolder<KeptDescription>;
  readonly weights: CodeFolder<KeptDescription>;
}

/** Opens or creates the folders. Undefined where the variable turns them off. Throws CONFIG_INVALID for another value of the variable. */
export async function openKeptFolders(parent: string = dataFolder()): Promise<KeptFolders | undefined> {
  const value = process.env[variable] ?? "";
  if (value === "off") return undefined;
  if (value !== "") throw new InferyardError("CONFIG_INVALID", `${variable} is "${value}", and may be off`);
  const open = (name: string, extension: string, maxBytes: number): Promise<CodeFolder<KeptDescription>> =>
    CodeFolder.open(format("IYPLANS_", extension), { path: join(parent, name), maxBytes, setting: variable });
  const [plans, weights] = await Promise.all([
    open("plans", "plan", maxPlanBytes),
    open("packed-weights", "weights", maxWeightsBytes),
  ]);
  return { plans, weights };
}

function format(magic: string, extension: string): CodeFormat<KeptDescription> {
  return {
    magic,
    version: 1,
    extension,
    parseDescription(value) {
      const { model, content, written } = value as Partial<Record<keyof KeptDescription, unknown>>;
      const isWhole = typeof model === "string" && typeof content === "string" && typeof written === "string";
      return isWhole ? { model, content, written } : undefined;
    },
  };
}

/** How a kept model is loaded. */
export interface KeptModelLoader<Result> {
  /** `readWeights` reads the packed weights, in the order of the table. */
  load(model: KeptModel, readWeights: (target: Uint8Array) => void): Result;
  /** Gets what `load` made where the file is damaged. */
  discard(result: Result): void;
  /** Is told why a model is not used: a clause. */
  refused(reason: string): void;
}

/** The plans of one model with certain settings. No method throws where files are damaged. */
export class KeptFiles {
  readonly #folders: KeptFolders;
  readonly #model: string;
  readonly #key: string;

  private constructor(folders: KeptFolders, model: string, key: string) {
    this.#folders = folders;
    this.#model = model;
    this.#key = key;
  }

  /** The files of a model. Undefined if its file cannot be opened. */
  static of(folders: KeptFolders, { path, ...model }: ModelFiles, settings: KeptSettings): KeptFiles | undefined {
    const identity = fileIdentity(path);
    if (identity === undefined) return undefined;
    const { signal: _, ...options } = settings.options;
    // Everything that was given, so that no option is forgotten that a plan depends on.
    const key = toSha256(JSON.stringify([path, identity, model, { ...settings, options }]));
    return new KeptFiles(folders, path, key);
  }

  /** Why nothing is kept, as a clause; undefined as long as nothing failed. */
  get problem(): string | undefined {
    return this.#folders.plans.problem ?? this.#folders.weights.problem;
  }

  /** Returns what `load` makes of a model that was kept. Undefined if none was, or if it cannot be used. */
  readModel<Result>({ load, ...handlers }: KeptModelLoader<Result>): Result | undefined {
    return this.#folders.weights.loadParts(this.#key, {
      ...handlers,
      load: (_code, read) => {
        const first = new Uint8Array(lengthBytes + digestBytes);
        read(first);
        const head = new Uint8Array(new DataView(first.buffer).getUint32(0, true));
        read(head);
        // The digest of the whole file is known when the weights are read.
        if (!hashOf(head).equals(first.subarray(lengthBytes))) throw new Error("the file is damaged");
        return load(deserialize(head) as KeptModel, read);
      },
    });
  }

  /** Keeps a model with its packed weights. Returns whether it is kept. */
  writeModel(model: KeptModel, weights: readonly Uint8Array[]): boolean {
    const head = serialize(model);
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32LE(head.length);
    const parts = [length, hashOf(head), head, ...weights];
    return this.#folders.weights.writeParts(this.#describe(this.#key, "packed weights"), parts);
  }

  /** The plan for inputs of these types that belongs to a model that was read; undefined if there is none. */
  readPlan({ generation }: KeptModel, inputTypes: string): KeptPlan | undefined {
    const key = this.#planKey(generation, inputTypes);
    return this.#folders.plans.load(key, ({ executable }) => deserialize(executable) as KeptPlan);
  }

  /** Keeps a plan. */
  writePlan({ generation }: KeptModel, plan: KeptPlan): void {
    const key = this.#planKey(generation, plan.inputTypes);
    this.#folders.plans.writeParts(this.#describe(key, plan.inputTypes), [serialize(plan)]);
  }

  #planKey(generation: string, inputTypes: string): string {
    return toSha256(JSON.stringify([this.#key, generation, inputTypes]));
  }

  #describe(key: string, content: string): { readonly key: string; readonly description: KeptDescription } {
    // Model paths and input types have no limit, and descriptions have one.
    const cut = (text: string): string => text.slice(0, 4096);
    return { key, description: { model: cut(this.#model), content: cut(content), written: new Date().toISOString() } };
  }
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** See `BlockingFile.stat`. Undefined where the file cannot be opened. */
function fileIdentity(path: string): string | undefined {
  try {
    const file = openBlocking?.(path);
    try {
      return file?.stat().identity;
    } finally {
      file?.close();
    }
  } catch {
    return undefined;
  }
}
