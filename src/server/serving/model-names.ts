/** Resolves the model names that clients use to references and constraints. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { ownBackends } from "../../runtime/targets/known-names.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import type { ModelOptions } from "../../runtime/options/runtime-settings.ts";
import type { Decision } from "../../runtime/decision/decision.ts";
import { type ConstraintOptions, mergeConstraints, permits } from "../../runtime/targets/constraints.ts";
import { parseExactTarget } from "../../runtime/targets/target.ts";
import { publicName } from "../http/scrub.ts";
import { type ServerSettings, getReference } from "../server-settings.ts";

/** A model that a client named, with where it may run. */
export interface ServedModelName {
  /** The name as the client wrote it, for the response. */
  readonly name: string;
  /** Reference for `Runtime.load`. */
  readonly reference: string;
  /** Targets it may run on and the variant to use. */
  readonly constraints: ConstraintOptions & Pick<ModelOptions, "variant" | "kind">;
}

/** The model, to be loaded as a language model. */
export function requireLanguageModel(model: ServedModelName): ServedModelName {
  return { ...model, constraints: { ...model.constraints, kind: "language" } };
}

/** What clients of Infinity send as the model if they are given none. */
const infinityDefault = "default/not-specified";

/** Lists the names of the models in the store; called for each request. */
export type StoredNames = () => Promise<readonly string[]>;

/** When a model was fetched into the store, by its reference; undefined if it is not in the store. */
export type StoredTime = (reference: string) => Promise<Date | undefined>;

/** The names of the models of one server. */
export class ModelNames {
  readonly #settings: ServerSettings;
  readonly #stored: StoredNames;
  readonly #storedTime: StoredTime;

  constructor(settings: ServerSettings, stored: StoredNames, storedTime: StoredTime) {
    this.#settings = settings;
    this.#stored = stored;
    this.#storedTime = storedTime;
  }

  /** Names that clients may use, the default model first. */
  async list(): Promise<string[]> {
    const { models = {} } = this.#settings;
    return [...new Set([getDefaultModel(this.#settings).name, "builtin", ...Object.keys(models), ...(await this.#stored())])];
  }

  /** Resolves the name a client wrote, without loading anything. Throws MODEL_NOT_FOUND unless the caller may use the name. */
  resolve(
    { target, anyReference = false }: { readonly target?: string | undefined; readonly anyReference?: boolean },
    written: string | undefined,
  ): Promise<ServedModelName> {
    return resolveModel(written, target, this.#settings, anyReference, this.#stored);
  }

  /** When a model was fetched; undefined if unknown. */
  fetchTime({ reference }: Pick<ServedModelName, "reference">): Promise<Date | undefined> {
    return this.#storedTime(reference).catch(() => undefined); // a record that cannot be read has no time
  }
}

/**
 * Resolves the name a client wrote: `builtin`, a name of the settings or a name of the store, optionally followed by a target (`name@onnx:cpu`).
 * Undefined: the default model. `header`: the value of x-inferyard-target, "require=onnx:cpu" or "prefer=wasm". `anyReference`: whether any other
 * reference (a path, hf:owner/name) is allowed. Throws MODEL_NOT_FOUND for an unknown name and INPUT_INVALID for an invalid header.
 */
export async function resolveModel(
  written: string | undefined,
  header: string | undefined,
  settings: ServerSettings,
  anyReference: boolean,
  stored: StoredNames,
): Promise<ServedModelName> {
  const { models = {}, variant } = settings;
  const defaultModel = getDefaultModel(settings);
  const { name, target } = written === undefined || written === infinityDefault ? defaultModel : splitTarget(written);
  const configured = Object.hasOwn(models, name) ? models[name] : undefined;
  const isDefault = name === defaultModel.name || name === defaultModel.written;
  const variantOfDefault = variant === undefined || !isDefault ? {} : { variant };
  const constraints = { ...parseTargetHeader(header), ...omitUndefined({ target }), ...variantOfDefault };
  if (configured !== undefined) return { name, reference: getReference(configured), constraints };
  if (isDefault) return { name, reference: defaultModel.written, constraints };
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

/**
 * The decision of the loaded model with this name: it has the reference of the name, and is on a target that the name's constraints permit. Undefined if there
 * is none.
 */
export function loadedDecision(
  loaded: readonly Decision[],
  { reference, constraints }: Pick<ServedModelName, "reference" | "constraints">,
): Decision | undefined {
  const merged = mergeConstraints(constraints);
  return loaded.find(
    ({ model, selected }) =>
      model.reference === reference && selected !== null && permits(merged, parseExactTarget(selected.target)),
  );
}

/** A name that looks like a path or an address is a reference, which needs an entry in the settings or an admin key. */
function remedyFor(name: string): string {
  if (!/[\\/:]|^[.~]|\.(?:onnx|safetensors|gguf|aimod)$/i.test(name)) return "GET /v1/models lists those there are";
  return "requests name models by the names of GET /v1/models: give it one in the setting server.models, or present a key whose role is admin";
}

/** The default model: `written` as in the settings, `name` as clients see it, without the folders of a path. */
export function getDefaultModel({ models = {}, defaultModel = "builtin" }: ServerSettings): {
  readonly name: string;
  readonly written: string;
  readonly target?: string;
} {
  const { name: written, ...target } = splitTarget(defaultModel);
  const name = Object.hasOwn(models, written) ? written : publicName(written);
  const isNone = name !== written && (name === "builtin" || !/\w/.test(name) || Object.hasOwn(models, name));
  return { name: isNone ? "default" : name, written, ...target };
}

/** Splits `name@target`. The revision of a repository is also written with @; only what has the form of a target is one. */
function splitTarget(written: string): { readonly name: string; readonly target?: string } {
  const at = written.lastIndexOf("@");
  const behind = written.slice(at + 1);
  const isTarget = /^[a-z][a-z0-9-]*:[a-z0-9]+(?::\d+)?$/i.test(behind) || ownBackends.includes(behind.toLowerCase());
  if (at <= 0 || !isTarget) return { name: written };
  return { name: written.slice(0, at), target: behind };
}

/** The constraints of the header x-inferyard-target. Throws INPUT_INVALID if it has another form. */
function parseTargetHeader(header: string | undefined): ConstraintOptions {
  if (header === undefined || header.trim() === "") return {};
  const { kind, targets } = /^(?<kind>prefer|require)=(?<targets>[a-z0-9:,* -]+)$/i.exec(header.trim())?.groups ?? {};
  if (kind === undefined || targets === undefined) {
    throw invalidInput(`the header x-inferyard-target is ${JSON.stringify(header)}`, "write require=onnx:cpu or prefer=onnx:cpu");
  }
  const list = targets.split(",").map((target) => target.trim());
  return kind.toLowerCase() === "require" ? { target: list } : { prefer: list };
}
