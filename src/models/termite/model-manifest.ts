/** Folders of Termite (antflydb/termite): model_manifest.json, checked, and held against the files that are there. */
import { InferyardError } from "../../errors.ts";
import { digestOf } from "../digest.ts";
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import { manifestInvalid } from "../validation/manifest-errors.ts";
import { type Folder, type JsonObject, pathInside, readJsonObject, shownIn, statOf, omitNullish } from "../model-folder.ts";
import { type ReadOptions, type VariantFile, readClaimedVariants } from "../manifest/variants.ts";
import { formatOf } from "../manifest/weights.ts";
import { type TermiteFile, type TermiteJson, variantFiles } from "./termite-json.ts";
import { modelTypeOf, tasksOf } from "./model-types.ts";
import { variantClaims } from "./variant-claims.ts";

export interface TermiteManifest {
  readonly overrides: ManifestOverrides;
  /** Those of the stated variants that are there; empty when `only` is a file the manifest does not name. */
  readonly variants: readonly VariantFile[];
}

const fileName = "model_manifest.json";

/** Our backends for each of Termite's engines; `onnx` is ONNX Runtime, which both of ours are. */
const backendsOf: Readonly<Record<string, readonly string[]>> = {
  onnx: ["onnx", "wasm"],
  xla: ["xla"],
  coreml: ["onnx"],
  go: ["native"],
};

/**
 * Undefined where the folder has no model_manifest.json; MODEL_INVALID with every problem where it is not right or a file is not what it
 * states. Sizes are always checked, digests where `options.verify` asks. `only` is the one file of weights that is of interest.
 */
export async function readTermite(folder: Folder, options: ReadOptions, only?: string): Promise<TermiteManifest | undefined> {
  const value = await readJsonObject(folder, fileName);
  if (value === undefined) return undefined;
  const json = await checked(folder, value);
  const present = await presentFiles(folder, json, options);
  const variants = await termiteVariants(folder, json, present, only);
  return { overrides: overridesOf(json, present), variants };
}

async function checked(folder: Folder, value: JsonObject): Promise<TermiteJson> {
  const shown = shownIn(folder, fileName);
  if (modelTypeOf(String(value["type"])) === "predictor") {
    throw new InferyardError("MODEL_UNSUPPORTED", `${shown} describes a predictor of tables, which this version does not run`, {
      remedy: "export the predictor to ONNX and give the path of that file",
    });
  }
  // Imported where it is needed: the schema library takes longer to load than all the rest of this room.
  const { checkTermite } = await import("./check-termite.ts");
  const check = checkTermite(value);
  if (check.problems !== undefined) throw manifestInvalid(shown, check.problems, "correct it, or pull the model again");
  return check.json;
}

/**
 * The stated files that are there. Termite pulls the variants that were asked for and writes the whole manifest beside them, so graphs
 * and their data may be absent; the others may not.
 */
async function presentFiles(folder: Folder, json: TermiteJson, options: ReadOptions): Promise<Map<string, TermiteFile>> {
  const present = new Map<string, TermiteFile>();
  const problems: string[] = [];
  for (const file of [...json.files, ...Object.values(json.variants ?? {}).flatMap(variantFiles)]) {
    const shown = shownIn(folder, file.name);
    const path = pathInside(folder, file.name, shownIn(folder, fileName));
    const status = await statOf(path, shown);
    if (status?.isFile() === true) present.set(file.name, file);
    else if (!isGraph(file.name)) problems.push(`${shown} is missing`);
    if (status === undefined) continue;
    if (file.size !== undefined && file.size > 0 && status.size !== file.size)
      problems.push(`${shown} has ${status.size} bytes, and ${file.size} are stated`);
    else if (options.verify === true) problems.push(...(await digestProblems(path, shown, file, options)));
  }
  if (![...present.keys()].some((name) => formatOf(name) !== undefined))
    problems.push("none of the weights it names are in the folder");
  if (problems.length > 0) throw manifestInvalid(shownIn(folder, fileName), problems, "pull the model again");
  return present;
}

function isGraph(name: string): boolean {
  return formatOf(name) !== undefined || /\.onnx[._]data/.test(name);
}

async function digestProblems(path: string, shown: string, file: TermiteFile, options: ReadOptions): Promise<string[]> {
  const digest = await digestOf({ path }, options.digests);
  return digest === digestIn(file) ? [] : [`${shown} has the SHA-256 ${digest}, and ${digestIn(file)} is stated`];
}

function digestIn({ digest }: TermiteFile): string {
  return digest.slice("sha256:".length).toLowerCase();
}

/** Termite's variants first, since theirs is the better claim to a name; then the other graphs among the files. */
async function termiteVariants(
  folder: Folder,
  json: TermiteJson,
  present: ReadonlyMap<string, TermiteFile>,
  only: string | undefined,
): Promise<readonly VariantFile[]> {
  const claims = new Map<string, string | undefined>(present.has("model.onnx") ? [["model.onnx", "f32"]] : []);
  for (const [id, variant] of Object.entries(json.variants ?? {})) {
    const [graph, ...parts] = variantFiles(variant).filter(({ name }) => formatOf(name) !== undefined);
    // Several graphs are parts of one model (a text and an image tower): none of them is the variant.
    if (graph !== undefined && parts.length === 0 && present.has(graph.name)) claims.set(graph.name, id);
  }
  for (const name of present.keys()) if (formatOf(name) !== undefined && !claims.has(name)) claims.set(name, undefined);
  const wanted = [...claims].filter(([name]) => only === undefined || pathInside(folder, name, fileName) === only);
  const files = wanted.map(([file, id]) => {
    const stated = present.get(file);
    return {
      file,
      ...(id === undefined ? {} : { claim: variantClaims.get(id) }),
      ...(stated === undefined ? {} : { sha256: digestIn(stated) }),
    };
  });
  return await readClaimedVariants(folder, files, shownIn(folder, fileName));
}

function overridesOf(json: TermiteJson, present: ReadonlyMap<string, TermiteFile>): ManifestOverrides {
  const { name, source, owner, description, session_options, provenance } = json;
  const capabilities = json.capabilities ?? [];
  const named = json.backends ?? [];
  const backends = [...new Set(named.flatMap((backend) => backendsOf[backend] ?? []))];
  // A list has no place for a device, so a model for CoreML alone says it here.
  const preferred = named.length > 0 && named.every((backend) => backend === "coreml") ? { preferred: "onnx:coreml" } : {};
  const isSequenceToSequence = present.has("encoder.onnx") && present.has("decoder.onnx");
  return {
    source: "termite",
    name,
    tasks: tasksOf(modelTypeOf(json.type), capabilities, isSequenceToSequence),
    selection: { backends, ...preferred, fallbacks: [] },
    provenance: omitNullish({ source, owner, description, capabilities, session_options, provenance }),
    flat: true,
  };
}
