/** config.json of a transformer, read strictly: what is asked for must be there and be of its kind, and what is not built is refused by name. */
import { InferyardError } from "../../errors.ts";

export class Config {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #name: string;

  /** `name`: of the architecture, for messages. */
  constructor(values: Readonly<Record<string, unknown>>, name: string) {
    this.#values = values;
    this.#name = name;
  }

  /** A whole number above 0. MODEL_INVALID where it is missing or something else. */
  positiveInteger(key: string, otherwise?: number): number {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    throw this.#invalid(key, value, "a whole number above 0 is needed");
  }

  /** A count that divides another size: heads of a width. */
  divisorOf(key: string, size: number, otherwise?: number): number {
    const value = this.positiveInteger(key, otherwise);
    if (size % value === 0) return value;
    throw this.#invalid(key, value, `one that divides ${size} is needed`);
  }

  positiveIntegerIfGiven(key: string): number | undefined {
    return this.#get(key) === undefined ? undefined : this.positiveInteger(key);
  }

  /** A whole number of any sign. */
  integer(key: string, otherwise: number): number {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw this.#invalid(key, value, "a whole number is needed");
  }

  /** A number above 0. */
  positiveNumber(key: string, otherwise: number): number {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
    throw this.#invalid(key, value, "a number above 0 is needed");
  }

  boolean(key: string, otherwise: boolean): boolean {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "boolean") return value;
    throw this.#invalid(key, value, "true or false is needed");
  }

  string(key: string, otherwise: string): string {
    const value = this.#get(key) ?? otherwise;
    if (typeof value === "string") return value;
    throw this.#invalid(key, value, "a string is needed");
  }

  /** A list of strings, or such a list in one string with bars between. */
  stringList(key: string): readonly string[] {
    const value = this.#get(key) ?? [];
    if (typeof value === "string") return value.split("|").filter((word) => word !== "");
    if (Array.isArray(value) && value.every((word) => typeof word === "string")) return value;
    throw this.#invalid(key, value, "a list of strings is needed");
  }

  /** One of those that are built; MODEL_UNSUPPORTED for another. */
  oneOf<Name extends string>(key: string, built: readonly Name[], otherwise: Name): Name {
    const value = this.string(key, otherwise);
    const known = built.find((name) => name === value);
    if (known === undefined) throw this.unsupported(key, built.join(", "));
    return known;
  }

  /** MODEL_UNSUPPORTED where the key has another value than this one, which is what a missing key means. */
  requireEqual(key: string, built: string | number | boolean): void {
    const value = this.#get(key);
    if (value !== undefined && value !== built) throw this.unsupported(key, JSON.stringify(built));
  }

  /** MODEL_UNSUPPORTED where the key is there and holds something. */
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

  /** The object at a key, as a configuration of its own; undefined where there is none. */
  section(key: string): Config | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) throw this.#invalid(key, value, "an object is needed");
    return new Config(value as Readonly<Record<string, unknown>>, this.#name);
  }

  unsupported(key: string, built: string): InferyardError {
    return new InferyardError(
      "MODEL_UNSUPPORTED",
      `config.json says "${key}": ${shown(this.#get(key))}, and of ${this.#name} the engine builds ${built}`,
      { remedy: "use an ONNX export of the model", data: { key } },
    );
  }

  /** null is how Python writes what is not there. */
  #get(key: string): unknown {
    const value = Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
    return value === null ? undefined : value;
  }

  #invalid(key: string, value: unknown, needed: string): InferyardError {
    const what = value === undefined ? `has no "${key}"` : `says "${key}": ${shown(value)}`;
    return new InferyardError("MODEL_INVALID", `config.json of this ${this.#name} ${what}, and ${needed}`, { data: { key } });
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
