/** Reads model_manifest.json, the manifest of Termite (antflydb/termite), and compares it with the files of the folder. */
import { unsupportedModel } from "../../contract/errors.ts";
import { computeDigest } from "../digest.ts";
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import { manifestInvalid } from "../validation/manifest-errors.ts";
import {
  type Folder,
  type JsonObject,
  pathInside,
  readJsonObject,
  displayNameIn,
  readStatus,
  omitNullish,
} from "../model-folder.ts";
import { type ReadOptions, type FoundVariants, readClaimedVariants } from "../manifest/variants.ts";
import { getFormat } from "../manifest/weights.ts";
import { type TermiteFile, type TermiteJson, variantFiles } from "./termite-json.ts";
import { getTermiteModelType, getTermiteTasks } from "./model-types.ts";
import { variantClaims } from "./termite-json.ts";

/** Content of a valid model_manifest.json of Termite. */
export interface TermiteManifest {
  /** Fields that take precedence over the other files of the folder. */
  readonly overrides: ManifestOverrides;
  /** The stated variants whose files exist; without files if `only` is a file that the manifest does not name. */
  readonly variants: FoundVariants;
}

const fileName = "model_manifest.json";

/** Our backends for each engine of Termite. Its `onnx` is ONNX Runtime, on which two of our backends are based. */
const backendsOf: Readonly<Record<string, readonly string[]>> = {
  onnx: ["onnx", "wasm"],
  xla: ["xla"],
  coreml: ["onnx"],
  go: ["native"],
};

/**
 * Reads model_manifest.json, the manifest of the program Termite, or returns undefined if the folder has none. `only` restricts
 * the variants to the one with this absolute path. Throws MODEL_INVALID that lists every problem if the manifest is invalid or a
 * file differs from it; sizes are always compared, digests with `options.verify`.
 */
export async function readTermite(folder: Folder, options: ReadOptions, only?: string): Promise<TermiteManifest | undefined> {
  const value = await readJsonObject(folder, fileName);
  if (value === undefined) return undefined;
  const json = await checked(folder, value);
  const present = await presentFiles(folder, json, options);
  const variants = await termiteVariants(folder, json, present, only);
  return { overrides: getOverrides(json, present), variants };
}

async function checked(folder: Folder, value: JsonObject): Promise<TermiteJson> {
  const displayName = displayNameIn(folder, fileName);
  if (getTermiteModelType(String(value["type"])) === "predictor") {
    throw unsupportedModel(
      `${displayName} describes a predictor of tables, which this version does not run`,
      "export the predictor to ONNX and give the path of that file",
    );
  }
  // Imported on demand: loading zod takes longer than loading all other modules of this folder.
  const { checkTermite } = await import("./check-termite.ts");
  const check = checkTermite(value);
  if (check.problems !== undefined) throw manifestInvalid(displayName, check.problems, "correct it, or pull the model again");
  return check.json;
}

/**
 * The stated files that exist. Termite pulls selected variants but writes the complete manifest, so graphs and their data may be missing; other files may not.
 */
async function presentFiles(folder: Folder, json: TermiteJson, options: ReadOptions): Promise<Map<string, TermiteFile>> {
  const present = new Map<string, TermiteFile>();
  const problems: string[] = [];
  for (const file of [...json.files, ...Object.values(json.variants ?? {}).flatMap(variantFiles)]) {
    const displayName = displayNameIn(folder, file.name);
    const path = pathInside(folder, file.name, displayNameIn(folder, fileName));
    const status = await readStatus(path, displayName);
    if (status?.isFile() === true) present.set(file.name, file);
    else if (!isGraph(file.name)) problems.push(`${displayName} is missing`);
    if (status === undefined) continue;
    if (file.size !== undefined && file.size > 0 && status.size !== file.size)
      problems.push(`${displayName} has ${status.size} bytes, and ${file.size} are stated`);
    else if (options.verify === true) problems.push(...(await digestProblems(path, displayName, file, options)));
  }
  if (![...present.keys()].some((name) => getFormat(name) !== undefined))
    problems.push("none of the weights it names are in the folder");
  if (problems.length > 0) throw manifestInvalid(displayNameIn(folder, fileName), problems, "pull the model again");
  return present;
}

function isGraph(name: string): boolean {
  return getFormat(name) !== undefined || /\.onnx[._]data/.test(name);
}

async function digestProblems(path: string, displayName: string, file: TermiteFile, options: ReadOptions): Promise<string[]> {
  const digest = await computeDigest({ path }, options.digests);
  return digest === digestIn(file) ? [] : [`${displayName} has the SHA-256 ${digest}, and ${digestIn(file)} is stated`];
}

function digestIn({ digest }: TermiteFile): string {
  return digest.slice("sha256:".length).toLowerCase();
}

/** The variants that Termite names come first, so that they get their names; then the other graphs among the files. */
async function termiteVariants(
  folder: Folder,
  json: TermiteJson,
  present: ReadonlyMap<string, TermiteFile>,
  only: string | undefined,
): Promise<FoundVariants> {
  const claims = new Map<string, string | undefined>(present.has("model.onnx") ? [["model.onnx", "f32"]] : []);
  for (const [id, variant] of Object.entries(json.variants ?? {})) {
    const [graph, ...parts] = variantFiles(variant).filter(({ name }) => getFormat(name) !== undefined);
    // Several graphs are parts of one model (a text and an image tower), so none of them is the variant.
    if (graph !== undefined && parts.length === 0 && present.has(graph.name)) claims.set(graph.name, id);
  }
  for (const name of present.keys()) if (getFormat(name) !== undefined && !claims.has(name)) claims.set(name, undefined);
  const wanted = [...claims].filter(([name]) => only === undefined || pathInside(folder, name, fileName) === only);
  const files = wanted.map(([file, id]) => {
    const stated = present.get(file);
    return {
      file,
      ...(id === undefined ? {} : { claim: variantClaims.get(id) }),
      ...(stated === undefined ? {} : { sha256: digestIn(stated) }),
    };
  });
  return await readClaimedVariants(folder, files, displayNameIn(folder, fileName));
}

function getOverrides(json: TermiteJson, present: ReadonlyMap<string, TermiteFile>): ManifestOverrides {
  const { name, source, owner, description, session_options, provenance } = json;
  const capabilities = json.capabilities ?? [];
  const named = json.backends ?? [];
  const backends = [...new Set(named.flatMap((backend) => backendsOf[backend] ?? []))];
  // A list of backends cannot name a device, so a model for CoreML only gets a preferred target.
  const preferred = named.length > 0 && named.every((backend) => backend === "coreml") ? { preferred: "onnx:coreml" } : {};
  const isSequenceToSequence = present.has("encoder.onnx") && present.has("decoder.onnx");
  return {
    source: "termite",
    name,
    tasks: getTermiteTasks(getTermiteModelType(json.type), capabilities, isSequenceToSequence),
    selection: { backends, ...preferred, fallbacks: [] },
    provenance: omitNullish({ source, owner, description, capabilities, session_options, provenance }),
    flat: true,
  };
}
