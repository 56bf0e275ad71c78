/** The plain English text that `builtin` is fitted to: every source with its licence, in a fixed order. */
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export interface TextSource {
  readonly name: string;
  readonly license: string;
  readonly url: string;
  readonly sentences: readonly string[];
}

const require = createRequire(import.meta.url);

/** `evaluation` is shared/data/eval. No sentence of the STS benchmark is among them. */
export async function readSources(evaluation: string): Promise<TextSource[]> {
  const node = dirname(require.resolve("@types/node/package.json"));
  const typescript = dirname(require.resolve("typescript/package.json"));
  return [
    {
      name: "WikiANN English, dev and test",
      license: "CC-BY-SA-3.0 (text of Wikipedia; the repository states no licence of its own)",
      url: "https://github.com/davidsbatista/NER-datasets/tree/db7ff3ca4ba1df39907f8bdc036a556fed5ecde7/WikiANN/en",
      sentences: await columns(evaluation, ["wikiann-en/dev", "wikiann-en/test"]),
    },
    {
      name: "WNUT-17, train, dev and test",
      license: "CC-BY-4.0",
      url: "https://github.com/leondz/emerging_entities_17/tree/e52a2d2a71ac1a051ca2d532eef28653c5c02603",
      sentences: await columns(evaluation, [
        "wnut17/wnut17train.conll",
        "wnut17/emerging.dev.conll",
        "wnut17/emerging.test.annotated",
      ]),
    },
    {
      name: `doc comments of @types/node ${await versionOf(node)}`,
      license: "MIT",
      url: "https://www.npmjs.com/package/@types/node",
      sentences: await documentation(node, () => true),
    },
    {
      name: `doc comments of typescript ${await versionOf(typescript)}, the ECMAScript library`,
      license: "Apache-2.0",
      url: "https://www.npmjs.com/package/typescript",
      // The files of the DOM are left out: their comments come from elsewhere.
      sentences: await documentation(join(typescript, "lib"), (file) => /^lib\.(es|decorators)/.test(file)),
    },
  ];
}

async function versionOf(packageFolder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageFolder, "package.json"), "utf8")) as { version: string };
  return version;
}

/** Named-entity files: a word and its label a line, an empty line between sentences. Labels are dropped. */
async function columns(folder: string, files: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return texts
    .flatMap((text) => text.split(/\n\s*\n/))
    .map((sentence) => sentence.split("\n").map(firstColumn).filter(Boolean).join(" "))
    .filter(Boolean);
}

function firstColumn(line: string): string {
  const [word = ""] = line.split("\t");
  return word.replace(/^en:/, "").trim();
}

/** English sentences of the `/** ... *\/` comments under a folder, each once, in order of file name. */
async function documentation(folder: string, wanted: (file: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  const files = entries.filter((file) => file.endsWith(".d.ts") && wanted(file)).sort();
  const found = new Set<string>();
  for (const file of files) {
    const source = await readFile(join(folder, file), "utf8");
    for (const [, comment = ""] of source.matchAll(/\/\*\*([\s\S]*?)\*\//g)) {
      for (const sentence of sentencesOf(comment)) found.add(sentence);
    }
  }
  return [...found];
}

/** Prose of a comment: no code blocks, no tags, no links, no marks. */
function sentencesOf(comment: string): string[] {
  const prose = comment
    .replace(/^[ \t]*\* ?/gm, "")
    .replace(/```[\s\S]*?```/g, "\n\n")
    .replace(/\{@link(?:code|plain)? ([^}|]*?)(?:\|[^}]*)?\}/g, "$1")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "");
  return prose
    .split(/\n\s*\n|\n(?=[@\-#>])/)
    .map((paragraph) => paragraph.replace(/^@\w+\s*(\{[^}]*\})?\s*([\w.[\]]+ -? ?)?/, "").replace(/\s+/g, " "))
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?])\s+(?=[A-Z])/))
    .map((sentence) => sentence.replace(/^[-#> ]+/, "").trim())
    .filter(isProse);
}

/** 4 to 60 words, letters for the most part. */
function isProse(sentence: string): boolean {
  const words = sentence.split(" ").length;
  const letters = sentence.replace(/[^A-Za-z ]/g, "").length;
  return words >= 4 && words <= 60 && letters >= 0.85 * sentence.length;
}
