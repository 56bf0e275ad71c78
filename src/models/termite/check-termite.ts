/**
 * Validates model_manifest.json by its schema and by the rules of Termite for models of each type. The rules use names of files only, so that they also report
 * problems of a manifest that does not match the schema.
 */
import { type JsonObject, isJsonObject, escapesFolder, omitNullish } from "../model-folder.ts";
import { schemaProblems } from "../validation/schema-problems.ts";
import { termiteFilesSchema, termiteSchema } from "./schema.ts";
import { type TermiteJson, type TermiteVariant, variantFiles } from "./termite-json.ts";
import { getTermiteModelType } from "./model-types.ts";
import { variantClaims } from "./termite-json.ts";

/** Names of Termite's engines. */
const backendNames: readonly string[] = ["onnx", "xla", "coreml", "go"];

/** Types whose model is a single graph named model.onnx. Models of other types have several graphs or other names. */
const singleGraph: ReadonlySet<string> = new Set(["embedder", "chunker", "reranker", "classifier"]);

/** The result of `checkTermite`: the problems of an invalid manifest as sentences, or the content of a valid one. */
export type TermiteCheck = { readonly problems: readonly string[] } | { readonly problems?: never; readonly json: TermiteJson };

/**
 * Validates the content of model_manifest.json, the manifest of the program Termite. Null fields count as absent. Problems are
 * returned, not thrown.
 */
export function checkTermite(written: JsonObject): TermiteCheck {
  const value = omitNullish(written);
  const result = termiteSchema.safeParse(value);
  const problems = [...schemaProblems(termiteSchema, value), ...ruleProblems(value)];
  return result.success && problems.length === 0 ? { json: result.data } : { problems };
}

function ruleProblems(json: JsonObject): string[] {
  const names = fileNames(json["files"]);
  const type = typeof json["type"] === "string" ? getTermiteModelType(json["type"]) : "";
  const backends = strings(json["backends"]);
  return [
    ...graphProblems(type, new Set(names), strings(json["capabilities"]), backends),
    ...repeated(names).map((name) => `files: ${name} is named twice`),
    ...outside(names, "files"),
    ...backends
      .filter((backend) => !backendNames.includes(backend))
      .map((backend) => `backends: "${backend}" is not a backend of Termite (${backendNames.join(", ")})`),
    ...(isJsonObject(json["variants"]) ? variantProblems(json["variants"]) : []),
  ];
}

function graphProblems(
  type: string,
  names: ReadonlySet<string>,
  capabilities: readonly string[],
  backends: readonly string[],
): string[] {
  const towers = (kind: string, tower: string): string[] => [
    ...missing(names, [tower, "text_model.onnx"], `a model with the capability "${kind}"`),
    ...(backends.length === 0 || backends.includes("onnx")
      ? []
      : [`backends: a model with the capability "${kind}" runs on onnx only, and onnx is not among them`]),
  ];
  if (capabilities.includes("image")) return towers("image", "visual_model.onnx");
  if (type === "embedder" && capabilities.includes("audio")) return towers("audio", "audio_model.onnx");
  if (type === "rewriter") return missing(names, ["encoder.onnx", "decoder.onnx"], "a rewriter");
  if (singleGraph.has(type)) return missing(names, ["model.onnx"], `a model of type ${type}`);
  return [...names].some((name) => name.endsWith(".onnx")) ? [] : ["files: there is no .onnx file among them"];
}

function missing(names: ReadonlySet<string>, needed: readonly string[], who: string): string[] {
  const absent = needed.filter((name) => !names.has(name));
  return absent.length === 0 ? [] : [`files: ${who} needs ${needed.join(" and ")}, and ${absent.join(" and ")} is not named`];
}

function variantProblems(variants: JsonObject): string[] {
  return Object.entries(variants).flatMap(([id, variant]) => {
    const files: unknown = typeof variant === "object" && variant !== null ? variantFiles(variant as TermiteVariant) : [];
    return [
      ...(variantClaims.has(id)
        ? []
        : [`variants: "${id}" is not a variant of Termite (${[...variantClaims.keys()].join(", ")})`]),
      ...schemaProblems(termiteFilesSchema, files).map((problem) => `variants.${id}: ${problem}`),
      ...outside(fileNames(files), `variants.${id}`),
    ];
  });
}

function outside(names: readonly string[], field: string): string[] {
  return names.filter(escapesFolder).map((name) => `${field}: "${name}" lies outside the model's folder`);
}

function fileNames(files: unknown): string[] {
  return Array.isArray(files) ? files.flatMap((file: unknown) => (isJsonObject(file) ? strings([file["name"]]) : [])) : [];
}

function strings(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
