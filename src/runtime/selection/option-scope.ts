/** Which load settings concern a model. A setting of one load or one model that changes nothing of it is refused; one of the whole runtime is for other models. */
import type { LoadSettings } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Variant } from "../../models/manifest.ts";
import { loadSettingNames, loadSettings, type OptionScope } from "../options/load-options.ts";
import type { LoadRequest } from "./load-request.ts";

/** The parts of a variant that decide which settings concern it. */
export type ScopedVariant = Pick<Variant, "name" | "format" | "precision" | "packing" | "tensorTypes">;

/** The settings of a request that concern a variant. */
export function settingsFor(request: LoadRequest, variant: ScopedVariant): LoadSettings {
  const concerning = givenNames(request.settings).filter((name) => whyIneffective(name, variant, request) === undefined);
  return Object.fromEntries(concerning.map((name) => [name, request.settings[name]]));
}

/** Why a variant is not what a request means: the first setting of the request itself that does not concern it. Undefined if all do. */
export function ineffectiveOption(request: LoadRequest, variant: ScopedVariant): string | undefined {
  for (const name of request.own ?? []) {
    const reason = whyIneffective(name, variant, request);
    if (reason !== undefined) return `you set ${name}, which changes nothing of ${variant.name}: ${reason}`;
  }
  return undefined;
}

/** Throws INPUT_INVALID for a setting of the request itself that concerns none of the variants. `model`: its reference, for the message. */
export function refuseIneffective(request: LoadRequest, variants: readonly ScopedVariant[], model: string): void {
  for (const name of request.own ?? []) {
    const reasons = variants.map((variant) => whyIneffective(name, variant, request));
    const [reason] = reasons;
    if (reason === undefined || reasons.includes(undefined)) continue;
    throw new InferyardError("INPUT_INVALID", `${name} changes nothing of ${model}: ${reason}`, {
      remedy: remedies[name] ?? `leave ${name} out`,
      data: { option: name },
    });
  }
}

const remedies: { readonly [Name in keyof LoadSettings]?: string } = {
  contextLength: "leave contextLength out; maxTokens of the call (--max-tokens) limits the tokens of a text that is read",
};

/** The names of the settings that have a value. */
export function givenNames(settings: LoadSettings): readonly (keyof LoadSettings)[] {
  return loadSettingNames.filter((name) => settings[name] !== undefined);
}

/** Why a setting changes nothing of a variant, as a sentence without a full stop; undefined if it may change something. */
function whyIneffective(name: keyof LoadSettings, variant: ScopedVariant, request: LoadRequest): string | undefined {
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
 * The types of tensors are known of GGUF files, and those that weights are packed to. In ONNX files weights in int4 are in blocks as a rule, and those in int8 may be, which
 * counts where the user names the variant.
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
