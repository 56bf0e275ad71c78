/**
 * Reads the header of a LoRA adapter in a GGUF file and holds it against the model that it is for. Format: convert_lora_to_gguf.py of
 * https://github.com/ggml-org/llama.cpp, and src/llama-adapter.cpp for what must fit. For a matrix of the model of the shape `[in, out]` (the innermost dimension
 * first), an adapter of the rank r has `NAME.lora_a` of `[in, r]` and `NAME.lora_b` of `[r, out]`; the change is `scale * alpha / r * B A`.
 */
import { InferyardError } from "../../../contract/errors.ts";
import { modelInvalid } from "../../format-errors.ts";
import { ggufNumber, ggufText } from "../gguf-metadata.ts";
import { type GgufTensor, readGguf } from "../read-gguf.ts";
import type { GgufModel } from "./read-model.ts";

/** A LoRA adapter that fits its model. */
export interface GgufAdapter {
  /** `adapter.lora.alpha`. 0 or undefined: the change is not divided by the rank. */
  readonly alpha: number | undefined;
  /** Names of the tensors of the model that it changes. */
  readonly tensors: readonly string[];
  /** Bytes of the file. */
  readonly bytes: number;
}

/**
 * Reads the adapter at `path` for a model. Throws as `readGguf` does; MODEL_INVALID if a tensor lacks its counterpart or does not fit, and MODEL_UNSUPPORTED for a file that is
 * no LoRA adapter, is for another architecture, or applies only after certain tokens (aLoRA).
 */
export async function readGgufAdapter(path: string, displayName: string, model: GgufModel): Promise<GgufAdapter> {
  const { metadata, tensors, bytes, byteOrder } = await readGguf(path, displayName);
  const stated = (key: string): string => JSON.stringify(ggufText(metadata, key) ?? null);
  const unsupported = (problem: string, remedy: string): InferyardError =>
    new InferyardError("MODEL_UNSUPPORTED", `${displayName} ${problem}`, { remedy });
  if (byteOrder === "big-endian") throw unsupported("is big-endian", "convert it with gguf_convert_endian.py of llama.cpp");
  if (ggufText(metadata, "general.type") !== "adapter" || ggufText(metadata, "adapter.type") !== "lora") {
    const types = `general.type is ${stated("general.type")}, adapter.type is ${stated("adapter.type")}`;
    throw unsupported(`is no LoRA adapter: ${types}`, "give a file that convert_lora_to_gguf.py of llama.cpp wrote");
  }
  if (ggufText(metadata, "general.architecture") !== model.architecture) {
    const problem = `is an adapter for the architecture ${stated("general.architecture")}, and the model is "${model.architecture}"`;
    throw unsupported(problem, "use the adapter with the model that it was trained on");
  }
  if (metadata.has("adapter.alora.invocation_tokens"))
    throw unsupported("applies only behind its invocation tokens (aLoRA)", "use a LoRA adapter");
  return { alpha: ggufNumber(metadata, "adapter.lora.alpha"), tensors: checkTensors(tensors, model, displayName), bytes };
}

const suffix = /\.lora_([ab])$/;

function checkTensors(tensors: readonly GgufTensor[], model: GgufModel, displayName: string): readonly string[] {
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const names = new Set(tensors.map(({ name }) => name.replace(suffix, "")));
  if (names.size === 0) throw modelInvalid(`${displayName} has no tensors`, again);
  const odd = tensors.find(({ name }) => !suffix.test(name));
  if (odd !== undefined)
    throw modelInvalid(`${displayName} has the tensor ${odd.name}, which is no part of a LoRA adapter`, again);
  for (const name of names) {
    const [a, b, base] = [byName.get(`${name}.lora_a`), byName.get(`${name}.lora_b`), model.tensors.get(name)];
    if (a === undefined || b === undefined)
      throw modelInvalid(`${displayName} has ${name}.lora_${a === undefined ? "b without lora_a" : "a without lora_b"}`, again);
    if (base === undefined)
      throw modelInvalid(`${displayName} changes the tensor ${name}, which the model does not have`, mismatch);
    if (fits(name, a.shape, b.shape, base.shape)) continue;
    const shapes = `lora_a [${a.shape.join(", ")}] and lora_b [${b.shape.join(", ")}]`;
    throw modelInvalid(`${displayName}: ${shapes} do not fit the tensor ${name} [${base.shape.join(", ")}]`, mismatch);
  }
  return [...names];
}

/** Rows of the table of token embeddings are looked up, so its two parts change places. */
function fits(name: string, a: readonly number[], b: readonly number[], base: readonly number[]): boolean {
  if (a.length !== 2 || b.length !== 2 || base.length !== 2) return false;
  const rank = a[1];
  if (name === "token_embd.weight") return base[0] === b[1] && base[1] === rank && a[0] === b[0];
  return base[0] === a[0] && base[1] === b[1] && rank === b[0];
}

const again = "download the file again, or convert the adapter again";
const mismatch = "use the adapter with the model that it was trained on";
