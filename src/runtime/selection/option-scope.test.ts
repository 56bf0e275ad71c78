/**
 * Tests every load setting on every kind of model: whether the setting has an effect, and whether a setting without effect is refused when it is set
 * for the model itself.
 */
import { describe, expect, it } from "vitest";
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { loadSettingNames } from "../options/load-options.ts";
import { formatsOfKernels } from "./kernel-names.ts";
import type { LoadRequest } from "./load-request.ts";
import { type ScopedVariant, ineffectiveOption, refuseIneffective, settingsFor } from "./option-scope.ts";

/** Kinds of models: an example variant, and the kind it is loaded as. */
const kinds = {
  "ONNX, read": { name: "fp32", format: "onnx", precision: "fp32" },
  "ONNX in int8, read": { name: "int8", format: "onnx", precision: "int8" },
  "ONNX in int4, written": { name: "q4", format: "onnx", precision: "int4", kind: "language" },
  "safetensors, read": { name: "fp32", format: "safetensors", precision: "fp32" },
  "safetensors packed to int4, written": {
    name: "int4",
    format: "safetensors",
    precision: "fp32",
    packing: { to: "int4", from: "fp32", bytes: 1 },
    kind: "language",
  },
  "static embeddings": { name: "fp32", format: "safetensors", precision: "fp32" },
  "GGUF in F32, read": { name: "model", format: "gguf", precision: "fp32", tensorTypes: ["F32"] },
  "GGUF in Q4_K, read": { name: "model", format: "gguf", tensorTypes: ["F32", "Q4_K"] },
  "GGUF in Q4_K, written": { name: "model", format: "gguf", tensorTypes: ["F32", "Q4_K"], kind: "language" },
  "GGUF in I2_S, written": { name: "model", format: "gguf", tensorTypes: ["F32", "I2_S"], kind: "language" },
  "GGUF in TL1, written": { name: "model", format: "gguf", tensorTypes: ["F32", "TL1"], kind: "language" },
} satisfies Readonly<Record<string, ScopedVariant & Pick<LoadRequest, "kind">>>;
type Kind = keyof typeof kinds;
const all = Object.keys(kinds) as Kind[];
const written = all.filter((kind) => kind.endsWith("written"));

/** A value of each setting, and the kinds of models on which it has an effect; other kinds refuse it. A missing setting is a compile error. */
const table: {
  readonly [Name in keyof UserLoadSettings]-?: {
    readonly value: NonNullable<UserLoadSettings[Name]>;
    readonly obeyed: readonly Kind[];
  };
} = {
  threads: { value: 1, obeyed: all },
  graphOptimization: { value: "basic", obeyed: all },
  cpuNodes: { value: "allow", obeyed: all },
  memoryPattern: { value: false, obeyed: all },
  memoryArena: { value: false, obeyed: all },
  contextLength: { value: 5, obeyed: written },
  allowSmallerContext: { value: true, obeyed: written },
  cachePrecision: { value: "fp16", obeyed: written },
  i2sLayout: { value: "arm", obeyed: ["GGUF in I2_S, written"] },
  kernels: {
    value: ["Q4_K_Scalar", "INT4_B32_Scalar"],
    obeyed: ["ONNX in int4, written", "safetensors packed to int4, written", "GGUF in Q4_K, read", "GGUF in Q4_K, written"],
  },
  machineCode: { value: "off", obeyed: all },
  tlTiles: { value: ["256x32=32/32/32"], obeyed: ["GGUF in TL1, written"] },
  adapters: { value: [{ path: "a.gguf" }], obeyed: written },
};

const cases = loadSettingNames.flatMap((name) => all.map((kind) => [name, kind] as const));

describe("a load setting", () => {
  it.each(cases)("%s on %s", async (name, kind) => {
    const { value, obeyed } = table[name];
    const { kind: as, ...variant }: ScopedVariant & Pick<LoadRequest, "kind"> = kinds[kind];
    const formats = name === "kernels" ? { kernelFormats: await formatsOfKernels(value as readonly string[]) } : {};
    const ofRuntime: LoadRequest = { settings: { [name]: value }, kind: as, ...formats };
    const ofLoad: LoadRequest = { ...ofRuntime, own: [name] };
    const refusal = (request: LoadRequest): unknown => {
      try {
        return refuseIneffective(request, [variant], "m");
      } catch (error) {
        return error;
      }
    };
    const isObeyed = obeyed.includes(kind);
    expect(settingsFor(ofRuntime, variant)).toEqual(isObeyed ? { [name]: value } : {});
    expect([ineffectiveOption(ofRuntime, variant), refusal(ofRuntime)]).toEqual([undefined, undefined]);
    const reason: unknown = expect.stringContaining(`you set ${name}, which changes nothing of ${variant.name}: `);
    const error: unknown = expect.objectContaining({
      code: "INPUT_INVALID",
      message: expect.stringContaining(`${name} changes nothing of m: `),
    });
    expect([ineffectiveOption(ofLoad, variant), refusal(ofLoad)]).toEqual(isObeyed ? [undefined, undefined] : [reason, error]);
  });

  it("that concerns one variant of several chooses it, and is refused by the others alone", () => {
    const request: LoadRequest = { settings: { i2sLayout: "arm" }, own: ["i2sLayout"], kind: "language" };
    const variants: ScopedVariant[] = [kinds["safetensors, read"], kinds["GGUF in I2_S, written"]];
    expect(() => refuseIneffective(request, variants, "m")).not.toThrow();
    expect(variants.map((variant) => ineffectiveOption(request, variant) === undefined)).toEqual([false, true]);
  });
});
