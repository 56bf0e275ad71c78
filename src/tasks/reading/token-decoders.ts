/** Decoders that predict the tokens of a text about an encoded picture: graphs of an export, and models whose engine keeps the cache. */
import { at, omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { LanguageModel, SequenceId } from "../../contract/language-model.ts";
import type { Tensor, TensorInfo, TensorMap } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import type { LoadedGraph } from "../definition/media-task.ts";

/** A decoder in the middle of one text. */
export interface PictureTextDecoder {
  /** Appends tokens to the text, at least one, and returns the logits of the next token. */
  append(tokens: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array>;
  /** Frees what the text holds. */
  end(): Promise<void>;
}

const pastName = /^past_key_values\./;

/** A decoder graph of an ONNX export, with both branches of a cache or without one. */
export class GraphDecoder implements PictureTextDecoder {
  readonly #graph: LoadedGraph;
  /** Output of the encoder: `[1, positions, width]`. */
  readonly #hidden: Tensor;
  readonly #tokens: number[] = [];
  /** Keys and values of earlier tokens, for graphs that take them. The encoder's are computed once. */
  #past: TensorMap | undefined;

  constructor(graph: LoadedGraph, hidden: Tensor) {
    this.#graph = graph;
    this.#hidden = hidden;
  }

  /** Throws MODEL_UNSUPPORTED for a graph with other inputs and outputs. */
  async append(tokens: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    this.#tokens.push(...tokens);
    const given = this.#past === undefined ? this.#tokens : tokens;
    const { inputs } = this.#graph;
    const tensors = Object.fromEntries(inputs.map((info) => [info.name, this.#past?.[info.name] ?? this.#input(info, given)]));
    const outputs = await this.#graph.run(tensors, omitUndefined({ signal }));
    const { logits } = outputs;
    if (logits === undefined)
      throw new InferyardError("MODEL_UNSUPPORTED", "the decoder has no output logits", {
        remedy: `its outputs are ${this.#graph.outputs.map(({ name }) => name).join(", ")}`,
      });
    this.#keep(outputs);
    return toFloat32(logits).subarray(-(logits.shape.at(-1) ?? 0));
  }

  async end(): Promise<void> {
    this.#past = undefined;
  }

  /** Takes the keys and values of a run. A decoder with a cache leaves the encoder's out where it has them. */
  #keep(outputs: TensorMap): void {
    const past = Object.entries(outputs).flatMap(([name, tensor]) => {
      const input = name.replace(/^present\./, "past_key_values.");
      const isKept = this.#past !== undefined && /\.encoder\./.test(name);
      const isInput = this.#graph.inputs.some((info) => info.name === input && pastName.test(input));
      return isInput && !isKept ? [[input, tensor] as const] : [];
    });
    if (past.length > 0) this.#past = { ...this.#past, ...Object.fromEntries(past) };
  }

  #input({ name, dataType, shape }: TensorInfo, tokens: readonly number[]): Tensor {
    if (name === "input_ids") return { dataType: "int64", shape: [1, tokens.length], data: BigInt64Array.from(tokens, BigInt) };
    if (name === "encoder_hidden_states") return this.#hidden;
    if (name === "use_cache_branch")
      return { dataType: "bool", shape: [1], data: Uint8Array.of(this.#past === undefined ? 0 : 1) };
    if (name === "encoder_attention_mask") {
      const length = this.#hidden.shape[1] ?? 0;
      return { dataType: "int64", shape: [1, length], data: new BigInt64Array(length).fill(1n) };
    }
    const [, heads, , headSize] = shape;
    if (pastName.test(name) && dataType === "float32" && typeof heads === "number" && typeof headSize === "number")
      return { dataType, shape: [1, heads, 0, headSize], data: new Float32Array(0) };
    throw new InferyardError("MODEL_UNSUPPORTED", `the decoder has an input ${name}, which reading does not give`, {
      remedy: "export the model with optimum: optimum-cli export onnx --task image-to-text-with-past",
    });
  }
}

/** A sequence of a model that keeps its own cache. */
export class SequenceDecoder implements PictureTextDecoder {
  readonly #model: LanguageModel;
  readonly #sequence: SequenceId;

  private constructor(model: LanguageModel, sequence: SequenceId) {
    this.#model = model;
    this.#sequence = sequence;
  }

  /** Encodes pixel values `[1, channels, height, width]`. Throws MODEL_UNSUPPORTED for a model that encodes no pictures, MODEL_INVALID for pictures of another size. */
  static async create(
    model: LanguageModel,
    { shape, data }: { readonly shape: readonly number[]; readonly data: Float32Array },
    signal: AbortSignal | undefined,
  ): Promise<SequenceDecoder> {
    const { features } = model.limits;
    if (features === undefined) throw new InferyardError("MODEL_UNSUPPORTED", "this model has no encoder of pictures");
    const [, channels = 0, height = 0, width = 0] = shape;
    if (channels * height !== features.bins || width !== features.frames)
      throw new InferyardError(
        "MODEL_INVALID",
        `the model's preprocessor makes pictures of ${width} x ${height} pixels and ${channels} channels; its encoder takes ${features.frames} x ${features.bins / channels}`,
      );
    const sequence = await model.createSequence({ features: new Float32Array(data), ...omitUndefined({ signal }) });
    return new SequenceDecoder(model, sequence);
  }

  async append(tokens: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    return at(await this.#model.decode([{ sequence: this.#sequence, tokens }], omitUndefined({ signal })), 0);
  }

  end(): Promise<void> {
    return this.#model.releaseSequence(this.#sequence);
  }
}
