/** Reads the settings of one step of tokenizer.json; each reader says which setting of which step is wrong. */

/** A normalizer, pre-tokenizer, post-processor or decoder: `type` and its settings. */
export type ComponentConfig = { readonly type: string; readonly [setting: string]: unknown };

export function stringSetting(step: ComponentConfig, name: string, otherwise?: string): string {
  const value = step[name] ?? otherwise;
  if (typeof value === "string") return value;
  throw new Error(`${step.type} needs a text "${name}"`);
}

export function booleanSetting(step: ComponentConfig, name: string, otherwise?: boolean): boolean {
  const value = step[name] ?? otherwise;
  if (typeof value === "boolean") return value;
  throw new Error(`${step.type} needs "${name}" to be true or false`);
}

/** A whole number from 0 up. */
export function integerSetting(step: ComponentConfig, name: string, otherwise?: number): number {
  const value = step[name] ?? otherwise;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${step.type} needs "${name}" to be a whole number from 0 up`);
}

/** The steps inside a Sequence. */
export function componentList(step: ComponentConfig, name: string): readonly ComponentConfig[] {
  const value = step[name];
  if (Array.isArray(value) && value.every(isComponentConfig)) return value;
  throw new Error(`${step.type} needs "${name}" to be a list of steps, each with a "type"`);
}

/** What `{"String": ...}` or `{"Regex": ...}` says. */
export function patternSetting(step: ComponentConfig, name: string): { readonly text: string } | { readonly regex: string } {
  const value = step[name];
  if (typeof value === "string") return { text: value };
  if (typeof value === "object" && value !== null) {
    if ("String" in value && typeof value.String === "string") return { text: value.String };
    if ("Regex" in value && typeof value.Regex === "string") return { regex: value.Regex };
  }
  throw new Error(`${step.type} needs "${name}" to be a String or a Regex`);
}

export function isComponentConfig(value: unknown): value is ComponentConfig {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
