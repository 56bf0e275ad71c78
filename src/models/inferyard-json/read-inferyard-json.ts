/** Reads inferyard.json, the manifest of our own. What it does not state comes from the other files of the folder. */
import { omitUndefined } from "../../contract/checked.ts";
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import type { InferyardJson } from "./schema.ts";
import type { InferyardError } from "../../contract/errors.ts";
import { manifestInvalid } from "../validation/manifest-errors.ts";
import { type Folder, readJsonObject, displayNameIn } from "../model-folder.ts";
import { readProbe } from "./probe.ts";
import type { Manifest } from "../manifest.ts";
import type { DeclaredVariant } from "../manifest/variants.ts";

/** The content of a valid inferyard.json in the form that the readers of manifests use. */
export interface InferyardManifest {
  /** Fields that take precedence over the other files. */
  readonly overrides: ManifestOverrides;
  /** Declared variants. Absent: the weights that are found in the folder. */
  readonly variants?: readonly DeclaredVariant[];
}

/** Reads the inferyard.json of the folder. Returns undefined if the file does not exist. Throws MODEL_INVALID that lists every problem of an invalid one. */
export async function readInferyardJson(folder: Folder): Promise<InferyardManifest | undefined> {
  const value = await readJsonObject(folder, "inferyard.json");
  if (value === undefined) return undefined;
  const { isPlainInferyardJson } = await import("./schema-free-check.ts"); // on demand: few models that a page loads have an inferyard.json
  const problems = isPlainInferyardJson(value) ? [] : await getProblems(value);
  if (problems.length > 0) throw invalid(folder, problems);
  const json = value as InferyardJson;
  const probe = json.probe === undefined ? undefined : readProbe(json.probe, problems);
  const variants = json.variants === undefined ? undefined : readVariants(json.variants, problems);
  if (problems.length > 0) throw invalid(folder, problems);
  const { pooling, normalize, maxTokens, specialTokens, dropUnknown, prompts, defaultPrompt, tokenizer } = json;
  const { name, tasks, requirements, license, provenance, backends, preferred, fallbacks, vision } = json;
  const statesTargets = backends !== undefined || preferred !== undefined || fallbacks !== undefined;
  const overrides = {
    source: "inferyard.json",
    name,
    tasks,
    requirements,
    license,
    probe,
    provenance,
    vision,
    selection: statesTargets ? getSelection(json) : undefined,
    text: omitUndefined({ tokenizer, pooling, normalize, maxTokens, specialTokens, dropUnknown, prompts, defaultPrompt }),
  };
  return omitUndefined({ overrides: omitUndefined(overrides) as ManifestOverrides, variants });
}

/** Every way in which the value violates the schema. */
async function getProblems(value: object): Promise<string[]> {
  // Imported on demand: loading zod takes longer than loading all other modules of this folder.
  const [{ inferyardSchema }, { schemaProblems }] = await Promise.all([
    import("./schema.ts"),
    import("../validation/schema-problems.ts"),
  ]);
  return schemaProblems(inferyardSchema, value);
}

function readVariants(stated: NonNullable<InferyardJson["variants"]>, problems: string[]): DeclaredVariant[] {
  const names = new Set<string>();
  const variants: DeclaredVariant[] = Object.entries(stated).map(([name, variant]) => Object.assign({ name }, variant));
  if (variants.length === 0) problems.push("variants: name at least one, or leave it out");
  for (const { name, aliases = [] } of variants) {
    for (const word of [name, ...aliases]) {
      if (names.has(word)) problems.push(`variants.${name}: "${word}" is the name of another variant as well`);
      names.add(word);
    }
  }
  return variants;
}

function invalid(folder: Folder, problems: readonly string[]): InferyardError {
  const remedy = "correct it; schemas/inferyard.json in the package describes every field";
  return manifestInvalid(displayNameIn(folder, "inferyard.json"), problems, remedy);
}

/** Targets and backends are written in any case, as on the command line. */
function getSelection({ backends = [], preferred, fallbacks = [] }: InferyardJson): Manifest["selection"] {
  const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());
  return omitUndefined({ backends: lower(backends), preferred: preferred?.toLowerCase(), fallbacks: lower(fallbacks) });
}
