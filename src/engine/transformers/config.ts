/** Typed access to the config.json of a Hugging Face transformer. */
import { InferyardError } from "../../contract/errors.ts";
import { activation, type ActivationName, activationNames } from "../build/nn/activations.ts";
import type { Layer } from "../build/nn/layers.ts";

/**
 * The settings of one model, read strictly: a value of the wrong type throws MODEL_INVALID, and a valid value that the engine does not implement
 * throws MODEL_UNSUPPORTED; both errors name the key. `null` counts as absent. A method without a default throws MODEL_INVALID for an absent key.
 */
export class Config {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #name: string;

  /** `values` is the parsed file, or one object in it. `name` is the class name of the architecture, for messages. */
  constructor(values: Readonly<Record<string, unknown>>, name: string) {
    this.#values = values;
    this.#name = name;
  }

  /** An integer above 0. */
  positiveInteger(key: string, otherwise?: number): number {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    throw this.#invalid(key, value, "an integer above 0 is required");
  }

  /** A positive integer that divides `size`: the number of heads of a hidden size. MODEL_INVALID if it leaves a remainder. */
  getDivisor(key: string, size: number, otherwise?: number): number {
    const value = this.positiveInteger(key, otherwise);
    if (size % value === 0) return value;
    throw this.#invalid(key, value, `a divisor of ${size} is required`);
  }

  /** An integer from `min` to `max`, both included. */
  integerBetween(key: string, min: number, max: number, otherwise: number): number {
    const value = this.integer(key, otherwise);
    if (value >= min && value <= max) return value;
    throw this.#invalid(key, value, `an integer from ${min} to ${max} is required`);
  }

  /** An integer above 0, or undefined if the key is absent. */
  positiveIntegerIfGiven(key: string): number | undefined {
    return this.#get(key) === undefined ? undefined : this.positiveInteger(key);
  }

  /** An integer of any sign. */
  integer(key: string, otherwise: number): number {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw this.#invalid(key, value, "an integer is required");
  }

  /** A finite number above 0. */
  positiveNumber(key: string, otherwise: number): number {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
    throw this.#invalid(key, value, "a number above 0 is required");
  }

  /** A finite number above 0, or undefined if the key is absent. */
  positiveNumberIfGiven(key: string): number | undefined {
    return this.#get(key) === undefined ? undefined : this.positiveNumber(key, 1);
  }

  /** A finite number of at least `min`. */
  numberAtLeast(key: string, min: number): number {
    const value = this.#get(key);
    if (typeof value === "number" && Number.isFinite(value) && value >= min) return value;
    throw this.#invalid(key, value, `a number of at least ${min} is required`);
  }

  /** Whether the file states the key, be it as null. */
  states(key: string): boolean {
    return Object.hasOwn(this.#values, key);
  }

  /** Whether the key is present. */
  has(key: string): boolean {
    return this.#get(key) !== undefined;
  }

  /** true or false. */
  boolean(key: string, otherwise: boolean): boolean {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "boolean") return value;
    throw this.#invalid(key, value, "true or false is required");
  }

  /** A setting that is a string. */
  string(key: string, otherwise: string): string {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "string") return value;
    throw this.#invalid(key, value, "a string is required");
  }

  /** A list of strings, or one string whose items are separated by "|". Empty if the key is absent. */
  stringList(key: string): readonly string[] {
    const value = this.#get(key) ?? [];
    if (typeof value === "string") return value.split("|").filter((item) => item !== "");
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
    throw this.#invalid(key, value, "a list of strings is required");
  }

  /** A list of `count` numbers above 0. */
  numberList(key: string, count: number): readonly number[] {
    const value = this.#get(key);
    const fits = Array.isArray(value) && value.length === count && value.every((each) => Number.isFinite(each) && each > 0);
    if (fits) return value as readonly number[];
    throw this.#invalid(key, value, `a list of ${count} numbers above 0 is required`);
  }

  /** One of the strings `supported`; MODEL_UNSUPPORTED for any other. */
  oneOf<Name extends string>(key: string, supported: readonly Name[], otherwise: Name): Name {
    const value = this.string(key, otherwise);
    const known = supported.find((name) => name === value);
    if (known === undefined) throw this.unsupported(key, supported.join(", "));
    return known;
  }

  /** The activation function that the key names, as in transformers' `ACT2FN`; MODEL_UNSUPPORTED for one that the engine does not have. */
  activation(key: string, otherwise: ActivationName): Layer {
    return activation(this.oneOf(key, activationNames, otherwise));
  }

  /** Throws MODEL_UNSUPPORTED if the key is present and its value is not `supported`. */
  requireEqual(key: string, supported: string | number | boolean): void {
    const value = this.#get(key);
    if (value !== undefined && value !== supported) throw this.unsupported(key, JSON.stringify(supported));
  }

  /** Throws MODEL_UNSUPPORTED if one of the keys is present, unless its value is false, 0, or an empty list or object. */
  requireAbsent(...keys: readonly string[]): void {
    for (const key of keys) {
      const value = this.#get(key);
      const empty =
        value === undefined ||
        value === false ||
        value === 0 ||
        (typeof value === "object" && Object.keys(value ?? {}).length === 0);
      if (!empty) throw this.unsupported(key, "models without it");
    }
  }

  /** The object at `key` as a configuration of its own; undefined if the key is absent. */
  section(key: string): Config | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) throw this.#invalid(key, value, "an object is required");
    return new Config(value as Readonly<Record<string, unknown>>, this.#name);
  }

  /** The objects at `keys` as one configuration, in which later ones replace the values of earlier ones; empty if all keys are absent. */
  merged(...keys: readonly string[]): Config {
    const sections = keys.map((key) => this.section(key)).filter((each) => each !== undefined);
    return new Config(
      Object.assign({}, ...sections.map((each) => each.#values)) as Readonly<Record<string, unknown>>,
      this.#name,
    );
  }

  /** The error for a valid setting that the engine does not implement. `supported` lists the values that it implements. */
  unsupported(key: string, supported: string): InferyardError {
    return new InferyardError(
      "MODEL_UNSUPPORTED",
      `config.json says "${key}": ${preview(this.#get(key))}, and for ${this.#name} the engine supports ${supported}`,
      { remedy: "use an ONNX export of the model", data: { key } },
    );
  }

  /** The MODEL_INVALID error for a setting that does not fit the others. `requirement` is a clause: "at least 4 are required". */
  invalid(key: string, requirement: string): InferyardError {
    return this.#invalid(key, this.#get(key), requirement);
  }

  #get(key: string): unknown {
    const value = Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
    return value === null ? undefined : value;
  }

  #invalid(key: string, value: unknown, requirement: string): InferyardError {
    const what = value === undefined ? `has no "${key}"` : `says "${key}": ${preview(value)}`;
    return new InferyardError("MODEL_INVALID", `config.json of this ${this.#name} ${what}, and ${requirement}`, {
      data: { key },
    });
  }
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
