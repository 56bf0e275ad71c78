/** Reads and checks the options of a request, apart from those of the task. */
import { omitUndefined } from "../contract/checked.ts";
import { invalidInput } from "../contract/errors.ts";
import { modelOptionNames, refuseUnknown } from "../runtime/options/options.ts";
import type { ModelOptions } from "../runtime/options/runtime-settings.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import type { TokenizerCall } from "../tasks/definition/task.ts";
import type { TensorMap } from "../contract/tensor.ts";
import type { RunRequest } from "./task-requests.ts";
import type { PictureSource } from "../processors/images/picture-source.ts";
import type { SoundInput } from "../tasks/speech/sound-input.ts";

/** The part of a request that every task has. */
export interface ModelRequest extends ModelOptions {
  /** Reference of the model, or a handle from `load`. Default: the task's default model; without one the request is refused. */
  readonly model?: string | ModelHandle | undefined;
}

/** A single input as a list of one. Throws INPUT_INVALID for a value that is neither an input nor a list. */
export function toList<Item extends string | object>(texts: Item | readonly Item[]): readonly Item[] {
  if (Array.isArray(texts)) return texts;
  if (typeof texts === "string" || (typeof texts === "object" && texts !== null)) return [texts as Item];
  throw invalidInput("texts must be a string or an array of strings");
}

/** A single picture as a list of one. A decoded picture is an object with `data`, and bytes are a typed array: neither is a list. */
export function toPictures(pictures: PictureSource | readonly PictureSource[]): readonly PictureSource[] {
  return isList(pictures) ? pictures : [pictures];
}

function isList(pictures: PictureSource | readonly PictureSource[]): pictures is readonly PictureSource[] {
  return Array.isArray(pictures);
}

/** A single sound as a list of one. Bytes are a typed array, and samples an object: neither is a list. */
export function toSounds(sounds: SoundInput | readonly SoundInput[]): readonly SoundInput[] {
  return isSoundList(sounds) ? sounds : [sounds];
}

function isSoundList(sounds: SoundInput | readonly SoundInput[]): sounds is readonly SoundInput[] {
  return Array.isArray(sounds);
}

/** The options of a request that decide which model is loaded, and where. Other options must not cause a second load of the same model. */
export function modelOptions(request: ModelOptions): ModelOptions {
  return omitUndefined(Object.fromEntries(modelOptionNames.map((name) => [name, request[name]])));
}

/** Throws INPUT_INVALID for an option of placement in a call that loads no model, where it would have no effect. */
export function refusePlacementOptions(
  { signal: _signal, variant: _variant, ...placement }: ModelOptions,
  { reason, alternative }: Pick<TokenizerCall<never, unknown>, "reason" | "alternative">,
): void {
  const [name] = Object.keys(placement);
  if (name === undefined) return;
  throw invalidInput(`"${name}" has no effect with ${reason}, which loads no model`, `leave "${name}" out, or ${alternative}`);
}

/** Throws INPUT_INVALID for an option of loading that is given together with a handle, whose model is loaded already. */
export function refuseLoadOptions({ signal: _signal, ...asked }: ModelOptions): void {
  const [name] = Object.keys(asked);
  if (name === undefined) return;
  throw invalidInput(`"${name}" was given together with a model that is loaded already`, `give "${name}" to load() instead`);
}

/** Throws INPUT_INVALID if `tensors` is not an object, for an unknown option, and if `outputs` is set and is not a list of at least one name. */
export function checkRunRequest(tensors: TensorMap, request: RunRequest): void {
  refuseUnknown(request, ["outputs", ...modelOptionNames], "run");
  const { outputs } = request;
  if (typeof tensors !== "object" || tensors === null) {
    throw invalidInput("run was given no tensors", "give an object of tensors by input name");
  }
  if (outputs !== undefined && (!Array.isArray(outputs) || outputs.length === 0)) {
    throw invalidInput("outputs names none", "name at least one, or leave outputs out for all");
  }
}
