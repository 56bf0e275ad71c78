/**
 * Decides which load settings have an effect on a model. A setting without effect is refused if it is set for one load or one model, and ignored if
 * it is set for the whole runtime.
 */
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { invalidInput, quoteOption } from "../../contract/errors.ts";
import type { Variant } from "../../models/manifest.ts";
import { loadSettingNames, loadSettings, type OptionScope } from "../options/load-options.ts";
import type { LoadRequest } from "./load-request.ts";

/** Fields of a variant that decide which settings have an effect on it. */
export type ScopedVariant = Pick<Variant, "name" | "format" | "precision" | "packing" | "tensorTypes">;

/** The settings of a request that have an effect on a variant. */
export function settingsFor(request: LoadRequest, variant: ScopedVariant): UserLoadSettings {
  const concerning = givenNames(request.settings).filter((name) => whyIneffective(name, variant, request) === undefined);
  return Object.fromEntries(concerning.map((name) => [name, request.settings[name]]));
}

/** Why a variant is refused: the first setting in `request.own` that has no effect on it. Undefined if all have an effect. */
export function ineffectiveOption(request: LoadRequest, variant: ScopedVariant): string | undefined {
  for (const name of request.own ?? []) {
    const reason = whyIneffective(name, variant, request);
    if (reason !== undefined) return `you set ${name}, which changes nothing of ${variant.name}: ${reason}`;
  }
  return undefined;
}

/**
 * Throws INPUT_INVALID for a setting in `request.own` that has no effect on any of the variants. `model`: reference of the model, for the message.
 */
export function refuseIneffective(request: LoadRequest, variants: readonly ScopedVariant[], model: string): void {
  for (const name of request.own ?? []) {
    const reasons = variants.map((variant) => whyIneffective(name, variant, request));
    const [reason] = reasons;
    if (reason === undefined || reasons.includes(undefined)) continue;
    throw invalidInput(`${name} changes nothing of ${model}: ${reason}`, remedies[name] ?? `leave ${name} out`, { option: name });
  }
}

const remedies: { readonly [Name in keyof UserLoadSettings]?: string } = {
  contextLength: `leave ${quoteOption("contextLength")} out; ${quoteOption("maxTokens")} of the call limits the tokens of a text that is read`,
};

/** The names of the settings that have a value. */
export function givenNames(settings: UserLoadSettings): readonly (keyof UserLoadSettings)[] {
  return loadSettingNames.filter((name) => settings[name] !== undefined);
}

/** Why a setting has no effect on a variant, as a sentence without a full stop; undefined if it may have an effect. */
function whyIneffective(name: keyof UserLoadSettings, variant: ScopedVariant, request: LoadRequest): string | undefined {
  return scopes[loadSettings[name].scope](variant, request);
}

const scopes: Readonly<Record<OptionScope, (variant: ScopedVariant, request: LoadRequest) => string | undefined>> = {
  all: () => undefined,
  language: (_variant, { kind }) =>
    kind === "language" ? undefined : "it is for models that write text, and this one is loaded to read it",
  i2s: (variant) => withoutTypes(variant, ["I2_S"]),
  tables: (variant) => withoutTypes(variant, ["TL1", "TL2"]),
  kernels: withoutFormats,
};

function withoutTypes({ tensorTypes = [] }: ScopedVariant, types: readonly string[]): string | undefined {
  if (types.some((type) => tensorTypes.includes(type))) return undefined;
  return `it is for weights in ${types.join(" and ")}, of which there are none`;
}

/**
 * Why the setting `kernels` has no effect on a variant: no weights in a format that the kernels multiply. Formats are known for GGUF files and for
 * packed weights. For ONNX files, int4 weights are assumed to be in blocks; int8 weights may be in blocks, which is assumed only if the user names
 * the variant.
 */
function withoutFormats({ format, precision, packing, tensorTypes }: ScopedVariant, request: LoadRequest): string | undefined {
  const formats = request.kernelFormats ?? [];
  const packed = formats.filter((each) => /^int[48] of /.test(each));
  if (packing !== undefined)
    return packed.some((each) => each.startsWith(packing.to)) ? undefined : otherFormats(formats, packing.to);
  if (tensorTypes !== undefined)
    return tensorTypes.some((type) => formats.includes(type)) ? undefined : otherFormats(formats, tensorTypes.join(", "));
  const mayBeInBlocks =
    precision === undefined || precision === "int4" || (precision === "int8" && request.variant !== undefined);
  if (format !== "onnx" || !mayBeInBlocks) return "it is for weights in blocks, of which there are none";
  return packed.length > 0 ? undefined : otherFormats(formats, precision ?? "those of ONNX");
}

function otherFormats(formats: readonly string[], stored: string): string {
  return `these kernels multiply weights in ${formats.join(", ") || "none that native reads"}, and its weights are in ${stored}`;
}
