/**
 * Typed access to the settings of a component in tokenizer.json. Every reader throws Error with the component and the setting if the value has the
 * wrong type; `fallback` is used for a missing or null value.
 */

/**
 * The settings of a normalizer, pre-tokenizer, post-processor or decoder as tokenizer.json has them; `type` names the component.
 */
export type ComponentConfig = { readonly type: string; readonly [setting: string]: unknown };

/** Ways of making components, by their `type`. */
export type ComponentKinds<Component> = Readonly<Record<string, (step: ComponentConfig) => Component>>;

/** Creates what a component describes. `part`: the field of tokenizer.json it belongs to. Throws Error for a `type` that is not among `kinds`. */
export function createComponent<Component>(part: string, kinds: ComponentKinds<Component>, step: ComponentConfig): Component {
  const kind = Object.hasOwn(kinds, step.type) ? kinds[step.type] : undefined;
  if (kind === undefined) throw new Error(`the ${part} ${JSON.stringify(step.type)} is not known`);
  return kind(step);
}

/** The components of one of type Sequence, one after another. `name`: the setting that lists them. */
export function inTurn<Value>(
  step: ComponentConfig,
  name: string,
  create: (step: ComponentConfig) => (value: Value) => Value,
): (value: Value) => Value {
  const components = componentList(step, name).map(create);
  return (value) => components.reduce((changed, component) => component(changed), value);
}

/**
 * Reads a string setting of a component; a missing or null one is `otherwise`. Throws Error for a value of another type, and for
 * a missing one without a default.
 */
export function stringSetting(step: ComponentConfig, name: string, otherwise?: string): string {
  const value = step[name] ?? otherwise;
  if (typeof value === "string") return value;
  throw new Error(`${step.type} needs a text "${name}"`);
}

/**
 * Reads a boolean setting of a component; a missing or null one is `otherwise`. Throws Error for a value of another type, and for
 * a missing one without a default.
 */
export function booleanSetting(step: ComponentConfig, name: string, otherwise?: boolean): boolean {
  const value = step[name] ?? otherwise;
  if (typeof value === "boolean") return value;
  throw new Error(`${step.type} needs "${name}" to be true or false`);
}

/**
 * Reads a non-negative integer setting of a component; a missing or null one is `otherwise`. Throws Error for any other value,
 * and for a missing one without a default.
 */
export function integerSetting(step: ComponentConfig, name: string, otherwise?: number): number {
  const value = step[name] ?? otherwise;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${step.type} needs "${name}" to be a whole number from 0 up`);
}

/** Reads the list of components inside a component of type Sequence. Throws Error if an entry is not a component. */
export function componentList(step: ComponentConfig, name: string): readonly ComponentConfig[] {
  const value = step[name];
  if (Array.isArray(value) && value.every(isComponentConfig)) return value;
  throw new Error(`${step.type} needs "${name}" to be a list of steps, each with a "type"`);
}

/**
 * Reads a pattern setting of a component: `{"String": ...}`, `{"Regex": ...}`, or a plain string, which is a literal text. Throws
 * Error for any other value.
 */
export function patternSetting(step: ComponentConfig, name: string): { readonly text: string } | { readonly regex: string } {
  const value = step[name];
  if (typeof value === "string") return { text: value };
  if (typeof value === "object" && value !== null) {
    if ("String" in value && typeof value.String === "string") return { text: value.String };
    if ("Regex" in value && typeof value.Regex === "string") return { regex: value.Regex };
  }
  throw new Error(`${step.type} needs "${name}" to be a String or a Regex`);
}

/** Whether a value is an object with a string `type`. */
export function isComponentConfig(value: unknown): value is ComponentConfig {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
