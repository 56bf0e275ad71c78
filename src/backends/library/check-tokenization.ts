/** Holds the tokenizer of this package against that of the library, on the same model. */
import { basename } from "node:path";
import { getMessage } from "../../contract/errors.ts";
import { readManifest } from "../../models/index.ts";
import { loadTokenizer } from "../../tokenizers/index.ts";

/** Words, numbers, spaces, line ends, other scripts, and characters outside of the basic plane. */
const texts: readonly string[] = [
  "Once upon a time, there was a little girl.",
  "  2 + 2 = 4;\n\tx = foo(bar)",
  "Grüße aus Köln, 東京 и Москва",
  "it's 1,000.5% 🦙 done",
];

/** Compares the ids of a few texts. Returns a sentence for the evidence: a difference is a warning, since tokens come from this package's tokenizer. */
export async function checkTokenization(
  path: string,
  tokenize: (text: string) => readonly number[] | undefined,
): Promise<string> {
  try {
    const { text: settings } = await readManifest(path);
    if (settings === undefined) return "tokenization not compared: the file has no tokenizer";
    const tokenizer = await loadTokenizer(settings);
    const different = texts.find(
      (text) => tokenizer.encode(text, { maxTokens: Number.POSITIVE_INFINITY }).ids.join() !== tokenize(text)?.join(),
    );
    return different === undefined
      ? `the library's tokenizer gives the same ids for ${texts.length} texts`
      : `warning: the library's tokenizer gives other ids for ${JSON.stringify(different)}`;
  } catch (error) {
    return `tokenization not compared: ${getMessage(error)} (${basename(path)})`;
  }
}
