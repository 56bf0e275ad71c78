/** The vocabulary of words of a CTC model, in the files of transformers' `Wav2Vec2ProcessorWithLM`. */
import { InferyardError } from "../../../../contract/errors.ts";
import type { Manifest } from "../../../../models/manifest.ts";
import { type Folder, type JsonObject, displayNameIn, readStatus } from "../../../../models/model-folder.ts";
import { listFolder, readBytes, readText } from "../../../../platform/node/files.ts";
import { join } from "../../../../platform/node/paths.ts";
import type { MediaModel } from "../../../definition/media-task.ts";
import type { CtcVocabulary } from "../ctc-vocabulary.ts";
import type { CtcAlphabet } from "./beam-search.ts";
import { type NgramModel, readArpa } from "./ngram-model.ts";
import { defaultWordWeights, WordScores, type WordWeights } from "./word-scores.ts";

/** What a search over words needs of a model's files. */
export interface WordVocabulary {
  readonly alphabet: CtcAlphabet;
  readonly scores: WordScores;
}

/** Largest files that are read into memory, in bytes. */
const limits = { words: 64 * 1024 * 1024, model: 1024 * 1024 * 1024 } as const;

const folderName = "language_model";

/** What KenLM's binary files begin with. */
const kenlmSignature = "mmap lm http://kheafield.com/code";

/** Vocabularies that were read, as long as the manifests of their models are in use. */
const known = new WeakMap<Manifest, Promise<WordVocabulary | undefined>>();

/**
 * Reads `alphabet.json` and the folder `language_model` (unigrams.txt, attrs.json, an ARPA file) of a model; undefined if there is no such folder. Throws
 * MODEL_UNSUPPORTED for KenLM's binary files and for alphabets of subwords, and MODEL_INVALID for files that are damaged.
 */
export function readWordVocabulary(model: MediaModel, vocabulary: CtcVocabulary): Promise<WordVocabulary | undefined> {
  const { manifest } = model;
  const reading = known.get(manifest) ?? read(model, vocabulary);
  known.set(manifest, reading);
  reading.catch(() => known.delete(manifest));
  return reading;
}

async function read(model: MediaModel, vocabulary: CtcVocabulary): Promise<WordVocabulary | undefined> {
  const { directory, reference } = model.manifest;
  const folder: Folder = {
    path: join(directory, folderName),
    displayName: displayNameIn({ path: directory, displayName: reference }, folderName),
  };
  const status = await readStatus(folder.path, folder.displayName);
  if (status?.isDirectory() !== true) return undefined;
  const names = (await listFolder(folder.path)).filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const words = names.includes("unigrams.txt") ? await readWords(folder) : [];
  const ngrams = await readNgrams(folder, names);
  if (ngrams === undefined && words.length === 0)
    throw new InferyardError(
      "MODEL_INVALID",
      `${folder.displayName} has neither words (unigrams.txt) nor an n-gram model (an .arpa file)`,
      {
        remedy: "put one of them into it, or remove the folder",
      },
    );
  const [attributes, alphabet] = await Promise.all([model.readJson(`${folderName}/attrs.json`), model.readJson("alphabet.json")]);
  return {
    alphabet: readAlphabet(alphabet, vocabulary, model.manifest.name),
    scores: new WordScores(words, ngrams, readWeights(attributes, folder)),
  };
}

async function requireSize(folder: Folder, name: string, max: number): Promise<string> {
  const path = join(folder.path, name);
  const size = (await readStatus(path, displayNameIn(folder, name)))?.size ?? 0;
  if (size > max)
    throw new InferyardError(
      "LIMIT_EXCEEDED",
      `${displayNameIn(folder, name)} has ${size} bytes, more than the limit of ${max}`,
      {
        remedy: "use a smaller model: prune its n-grams, or lower its order",
      },
    );
  return path;
}

async function readWords(folder: Folder): Promise<readonly string[]> {
  const text = await readText(await requireSize(folder, "unigrams.txt", limits.words));
  return text.split(/\r?\n/).filter((word) => word !== "");
}

async function readNgrams(folder: Folder, names: readonly string[]): Promise<NgramModel | undefined> {
  const others = names.filter((name) => name !== "unigrams.txt" && name !== "attrs.json" && !name.startsWith("."));
  const name = others.find((each) => each.endsWith(".arpa")) ?? others[0];
  if (name === undefined) return undefined;
  const displayName = displayNameIn(folder, name);
  const bytes = await readBytes(await requireSize(folder, name, limits.model));
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, kenlmSignature.length));
  const remedy = "put the ARPA file that it was made from in its place";
  if (start === kenlmSignature || /\.(bin|binary|klm)$/.test(name))
    throw new InferyardError("MODEL_UNSUPPORTED", `${displayName} is a binary file of KenLM, which is not read`, { remedy });
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    throw new InferyardError("MODEL_UNSUPPORTED", `${displayName} is compressed`, { remedy: `unpack it: gunzip ${displayName}` });
  return readArpa(bytes, displayName);
}

/** The weights of attrs.json; pyctcdecode's defaults where the file or a field is absent. */
function readWeights(attributes: JsonObject = {}, folder: Folder): WordWeights {
  const get = (name: string, kind: "number" | "boolean", byDefault: number | boolean): unknown => {
    const value = attributes[name] ?? byDefault;
    if (typeof value === kind) return value;
    throw new InferyardError(
      "MODEL_INVALID",
      `${displayNameIn(folder, "attrs.json")}: ${name} is ${JSON.stringify(value)}, and must be a ${kind}`,
    );
  };
  const { alpha, beta, unknownOffset, hasBoundaries } = defaultWordWeights;
  return {
    alpha: Number(get("alpha", "number", alpha)),
    beta: Number(get("beta", "number", beta)),
    unknownOffset: Number(get("unk_score_offset", "number", unknownOffset)),
    hasBoundaries: get("score_boundary", "boolean", hasBoundaries) === true,
  };
}

/** The alphabet of alphabet.json, or that of the vocabulary without one. */
function readAlphabet(
  stated: JsonObject | undefined,
  { tokens, blank, delimiter = -1 }: CtcVocabulary,
  name: string,
): CtcAlphabet {
  if (stated === undefined) {
    const labels = tokens.map((token, id) => (id === delimiter ? " " : id === blank ? "" : token));
    return { labels, blank, space: delimiter };
  }
  if (stated["is_bpe"] === true)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `alphabet.json of ${name} has subwords (is_bpe), and a search over words reads characters`,
      {
        remedy: "remove its folder language_model: the text is then that of the most probable tokens",
      },
    );
  const { labels } = stated;
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === "string") || !labels.includes(""))
    throw new InferyardError(
      "MODEL_INVALID",
      `alphabet.json of ${name} has no list "labels" of texts, one of them empty: the blank`,
    );
  return { labels, blank: labels.indexOf(""), space: labels.indexOf(" ") };
}
