/** The special tokens around a text: which ones the post-processor puts where, and their ids. */
import type { LibraryTokenizer } from "./library-tokenizer.ts";
import type { Step } from "./tokenizer-json.ts";
import type { Frame } from "./tokenizer.ts";

/** Stands for the text while the post-processor shows what it puts around it. */
const marker = "\0text\0";

/** Throws an Error when the post-processor does more than put tokens around one text. */
export function frameOf(library: LibraryTokenizer, postProcessor: Step | null): Frame {
  const tokens = library.post_processor?.post_process([marker], null, true).tokens ?? [marker];
  const at = tokens.indexOf(marker);
  if (at < 0 || tokens.lastIndexOf(marker) !== at) throw new Error("its post_processor does not keep the text exactly once");
  const stated = statedIds(postProcessor);
  const idsOf = (token: string): readonly number[] => {
    const ids = stated.get(token) ?? [library.token_to_id(token)];
    if (ids.every((id) => typeof id === "number")) return ids;
    throw new Error(`its post_processor puts ${JSON.stringify(token)} around each text, and the vocabulary has no such token`);
  };
  return { prefix: tokens.slice(0, at).flatMap(idsOf), suffix: tokens.slice(at + 1).flatMap(idsOf) };
}

/** The ids a post-processor states beside its tokens. Like the reference we take these; the library looks in the vocabulary. */
function statedIds(step: Step | null): Map<string, readonly number[]> {
  if (step === null) return new Map();
  switch (step.type) {
    case "Sequence":
      return new Map((step["processors"] as Step[]).map(statedIds).flatMap((ids) => Array.from(ids)));
    case "TemplateProcessing": {
      const tokens = Object.entries((step["special_tokens"] ?? {}) as Record<string, { ids: number[] }>);
      return new Map(tokens.map(([token, { ids }]) => [token, ids]));
    }
    case "BertProcessing":
    case "RobertaProcessing": {
      const tokens = [step["cls"], step["sep"]] as [string, number][];
      return new Map(tokens.map(([token, id]) => [token, [id]]));
    }
    default:
      return new Map();
  }
}
