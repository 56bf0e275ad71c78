/** From the name a client writes to the reference of a model and where it is to run. */
import { InferyardError } from "../../errors.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import type { ModelOptions } from "../../runtime/options/runtime-settings.ts";
import type { ConstraintOptions } from "../../runtime/selection/constraints.ts";
import { publicName } from "../http/scrub.ts";
import { type ServerSettings, referenceOf } from "../server-settings.ts";

export interface ResolvedModel {
  /** As the answer writes it: the client's own word. */
  readonly name: string;
  readonly reference: string;
  /** Where it is to run, and which variant of it. */
  readonly constraints: ConstraintOptions & Pick<ModelOptions, "variant">;
}

/** Names of models in the store, read anew for each call. */
export type StoredNames = () => Promise<readonly string[]>;

/**
 * A name is `builtin`, one of the settings, or one of the store, with a target behind it where the client wants one: `name@onnx:cpu`.
 * `anyReference`: any other reference (a path, hf:owner/name) is taken as well. `header`: x-inferyard-target, "require=onnx:cpu" or
 * "prefer=wasm".
 */
export async function resolveModel(
  written: string | undefined,
  header: string | undefined,
  settings: ServerSettings,
  anyReference: boolean,
  stored: StoredNames,
): Promise<ResolvedModel> {
  const { models = {}, variant } = settings;
  const byDefault = defaultModelOf(settings);
  const { name, target } = written === undefined ? byDefault : splitTarget(written);
  const own = Object.hasOwn(models, name) ? models[name] : undefined;
  const isDefault = name === byDefault.name || name === byDefault.written;
  const ofDefault = variant === undefined || !isDefault ? {} : { variant };
  const constraints = { ...parseTargetHeader(header), ...(target === undefined ? {} : { target }), ...ofDefault };
  if (own !== undefined) return { name, reference: referenceOf(own), constraints };
  if (isDefault) return { name, reference: byDefault.written, constraints };
  if (name === "builtin") return { name, reference: name, constraints };
  const names = await stored();
  if (names.includes(name)) return { name, reference: name, constraints };
  if (anyReference) return { name, reference: name, constraints };
  const known = ["builtin", ...Object.keys(models), ...names];
  const guess = nearestName(name, known);
  throw new InferyardError("MODEL_NOT_FOUND", `there is no model ${JSON.stringify(name)} here`, {
    remedy: guess === undefined ? remedyFor(name) : `did you mean ${JSON.stringify(guess)}?`,
  });
}

/** A path, an address, hf:owner/name: what names a model outside of a server. */
function remedyFor(name: string): string {
  if (!/[\\/:]|^[.~]|\.(?:onnx|safetensors|gguf|aimod)$/i.test(name)) return "GET /v1/models lists those there are";
  return "requests name models by the names of GET /v1/models: give it one in the setting server.models, or present a key whose role is admin";
}

/** The default model: as the settings write it, and as clients know it, who are not told of folders. */
export function defaultModelOf({ models = {}, defaultModel = "builtin" }: ServerSettings): {
  readonly name: string;
  readonly written: string;
  readonly target?: string;
} {
  const { name: written, ...target } = splitTarget(defaultModel);
  const name = Object.hasOwn(models, written) ? written : publicName(written);
  const isNone = name !== written && (name === "builtin" || !/\w/.test(name) || Object.hasOwn(models, name));
  return { name: isNone ? "default" : name, written, ...target };
}

/** A revision of a repository is written with @ too: what looks like a target is one. */
function splitTarget(written: string): { readonly name: string; readonly target?: string } {
  const at = written.lastIndexOf("@");
  const behind = written.slice(at + 1);
  if (at <= 0 || !/^(?:[a-z][a-z0-9-]*:[a-z0-9]+(?::\d+)?|onnx|wasm|native)$/.test(behind)) return { name: written };
  return { name: written.slice(0, at), target: behind };
}

function parseTargetHeader(header: string | undefined): ConstraintOptions {
  if (header === undefined || header.trim() === "") return {};
  const { kind, targets } = /^(?<kind>prefer|require)=(?<targets>[a-z0-9:,* -]+)$/i.exec(header.trim())?.groups ?? {};
  if (kind === undefined || targets === undefined) {
    throw new InferyardError("INPUT_INVALID", `the header x-inferyard-target is ${JSON.stringify(header)}`, {
      remedy: "write require=onnx:cpu or prefer=onnx:cpu",
    });
  }
  const list = targets.split(",").map((target) => target.trim());
  return kind.toLowerCase() === "require" ? { target: list } : { prefer: list };
}
