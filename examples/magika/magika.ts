/** Magika, Google's model that tells the type of a file from its bytes, as a processor over plain tensors. */
import { InferyardError, type ModelHandle, type Runtime } from "inferyard";
import { binaryLabels } from "./binary-labels.ts";
import { type MagikaConfig, readConfig } from "./config.ts";
import { featuresOf } from "./features.ts";

/** How sure the model must be: each label has its own bar, all have one, or none. */
export type PredictionMode = "high_confidence" | "medium_confidence" | "best_guess";

export interface Identification {
  /** What the file is taken for: a label of the model, or "empty", "txt" or "unknown". */
  readonly label: string;
  /** From 0 to 1; 1 where the model was not asked. */
  readonly score: number;
  /** What the model said; undefined where it was not asked. */
  readonly modelLabel: string | undefined;
}

export class Magika {
  readonly #model: ModelHandle;
  readonly #config: MagikaConfig;

  private constructor(model: ModelHandle, config: MagikaConfig) {
    this.#model = model;
    this.#config = config;
  }

  /** `reference`: a folder with model.onnx and config.min.json, for example assets/models/standard_v3_3 of Magika's repository. */
  static async load(runtime: Runtime, reference: string): Promise<Magika> {
    const model = await runtime.load(reference);
    try {
      return new Magika(model, await readConfig(model.manifest.directory));
    } catch (error) {
      await model.dispose();
      throw error;
    }
  }

  /** Where it runs. */
  get target(): string {
    return this.#model.target;
  }

  async identify(
    file: Uint8Array,
    { mode = "high_confidence" }: { readonly mode?: PredictionMode } = {},
  ): Promise<Identification> {
    if (file.length === 0) return { label: "empty", score: 1, modelLabel: undefined };
    const features = featuresOf(file, this.#config);
    if (features === undefined) return { label: this.#labelOfFewBytes(file), score: 1, modelLabel: undefined };
    const bytes = { dataType: "int32", shape: [1, features.length], data: features } as const;
    const { target_label: scores } = await this.#model.run({ bytes }, { outputs: ["target_label"] });
    const [modelLabel, score] = this.#best(scores?.data as Float32Array);
    return { label: this.#told(modelLabel, score, mode), score, modelLabel };
  }

  dispose(): Promise<void> {
    return this.#model.dispose();
  }

  #best(scores: Float32Array): [label: string, score: number] {
    const labels = this.#config.target_labels_space;
    if (scores.length !== labels.length)
      throw new InferyardError(
        "MODEL_INVALID",
        `the model gives ${scores.length} scores, and its config has ${labels.length} labels`,
      );
    const score = Math.max(...scores);
    return [labels[scores.indexOf(score)] ?? "unknown", score];
  }

  /** A label the model is not sure of becomes the kind of file it belongs to. */
  #told(modelLabel: string, score: number, mode: PredictionMode): string {
    const { overwrite_map: names, thresholds, medium_confidence_threshold: medium } = this.#config;
    const label = names[modelLabel] ?? modelLabel;
    const bars: Record<PredictionMode, number> = {
      high_confidence: thresholds[modelLabel] ?? medium,
      medium_confidence: medium,
      best_guess: 0,
    };
    if (score >= bars[mode]) return label;
    return binaryLabels.has(label) ? "unknown" : "txt";
  }

  #labelOfFewBytes(file: Uint8Array): string {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(file.subarray(0, this.#config.block_size));
      return "txt";
    } catch {
      return "unknown";
    }
  }
}
