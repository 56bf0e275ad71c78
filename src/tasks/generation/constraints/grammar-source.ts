/** Grammars before they are compiled, as data that can be sent to another thread. */
import { jsonText } from "../../../formats/json/exact-json.ts";
import { refusingDepth } from "./refusal.ts";

/** A grammar before it is compiled. */
export interface GrammarSource {
  /** Source of the grammar, as JSON. Equal texts are equal grammars. */
  readonly text: string;
  /** Special tokens that stay in the text. Default: none. */
  readonly kept?: ReadonlySet<string> | undefined;
}

/** A value as the text of a source. Throws INPUT_INVALID for one that is nested too deeply. */
export function sourceText(value: unknown): string {
  return refusingDepth(() => jsonText(value));
}
